/**
 * Memory of typed elements, as TensorFlow's {@code Allocator::Allocate<T>}.
 *
 * <p>A {@link io.prmalloc.element.TypedAllocation} holds elements of one {@link
 * io.prmalloc.element.ElementType}, which says how an element begins and ends. {@link
 * io.prmalloc.element.ElementTypes} has the types of TensorFlow.
 *
 * <p>Conventions: an element that holds memory of its own gives it back when the allocation is
 * closed.
 */
package io.prmalloc.element;
