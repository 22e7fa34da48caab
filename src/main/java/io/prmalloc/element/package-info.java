/**
 * Memory of typed elements, as TensorFlow's {@code Allocator::Allocate<T>}.
 *
 * <p>{@link io.prmalloc.element.TypedAllocation} is memory of elements, each of an {@link
 * io.prmalloc.element.ElementType} that says how it begins and ends; {@link
 * io.prmalloc.element.ElementTypes} has those of TensorFlow.
 *
 * <p>Conventions: an element that holds memory of its own gives it back when the allocation is
 * closed.
 */
package io.prmalloc.element;
