package io.prmalloc.tensor;

import io.prmalloc.Allocator;
import io.prmalloc.element.ElementType;
import io.prmalloc.element.TypedAllocation;
import java.nio.ByteBuffer;

/**
 * Elements of one type and a shape, row-major in memory of an allocator, from an address that is a
 * multiple of {@link Allocator#DEFAULT_ALIGNMENT}. Close it once; afterwards every method but those
 * that tell what it was throws.
 *
 * <p>Threading: may be passed on and closed by any thread. Elements may be read and written by any
 * thread, and by several at a time if no two use the same one. It must not be closed while it is
 * used.
 *
 * @param <T> the value of an element
 */
public final class Tensor<T> implements AutoCloseable {

  private final Shape shape;
  private final TypedAllocation<T> elements;

  private Tensor(Shape shape, TypedAllocation<T> elements) {
    this.shape = shape;
    this.elements = elements;
  }

  /**
   * Takes memory for a tensor. Elements of a trivial type hold anything at first, all others what
   * their type begins with.
   *
   * <p>Threading: any thread.
   *
   * @param allocator where the memory comes from and goes back
   * @param type what the elements are
   * @param shape how many; together at most 2 GiB − 1 bytes, and none is allowed
   * @throws IllegalArgumentException if the elements are more than 2 GiB − 1 bytes
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available
   * @throws IllegalStateException if the allocator is closed
   */
  public static <T> Tensor<T> allocate(Allocator allocator, ElementType<T> type, Shape shape) {
    return new Tensor<>(shape, allocator.allocate(type, shape.elementCount()));
  }

  /** What the elements are. Threading: any thread, also after {@link #close}. */
  public ElementType<T> type() {
    return elements.type();
  }

  /** How the elements are counted. Threading: any thread, also after {@link #close}. */
  public Shape shape() {
    return shape;
  }

  /**
   * Bytes of all elements, without what they own elsewhere. Threading: any thread, also after
   * {@link #close}.
   */
  public long sizeBytes() {
    return elements.sizeBytes();
  }

  /**
   * This tensor, with its type known to the compiler.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if the elements are of another type
   */
  @SuppressWarnings("unchecked") // The type is this tensor's own.
  public <U> Tensor<U> as(ElementType<U> expected) {
    if (expected != type()) {
      throw new IllegalArgumentException(this + " has no elements of " + expected.name());
    }
    return (Tensor<U>) this;
  }

  /**
   * The value of an element.
   *
   * <p>Threading: as the class says.
   *
   * @param indices one for each dimension, from 0, outermost first
   * @throws IllegalArgumentException if there are more or fewer of them
   * @throws IndexOutOfBoundsException if one is outside its dimension
   * @throws IllegalStateException if this is closed
   */
  public T get(long... indices) {
    return elements.get(shape.elementAt(indices));
  }

  /**
   * Gives an element a value. If this throws, the element keeps the old one.
   *
   * <p>Threading: as the class says.
   *
   * @param value what the type can hold
   * @param indices one for each dimension, from 0, outermost first
   * @throws IllegalArgumentException if there are more or fewer of them, or the type cannot hold
   *     the value
   * @throws IndexOutOfBoundsException if one is outside its dimension
   * @throws io.prmalloc.OutOfNativeMemoryException if memory that the element needs is not
   *     available
   * @throws IllegalStateException if this is closed
   */
  public void set(T value, long... indices) {
    elements.set(shape.elementAt(indices), value);
  }

  /**
   * The elements one after the other, row-major. They are this tensor's: closing them closes it.
   *
   * <p>Threading: as the class says.
   */
  public TypedAllocation<T> elements() {
    return elements;
  }

  /**
   * The elements' memory in native byte order; see {@link TypedAllocation#byteBuffer}.
   *
   * <p>Threading: any thread; must not be used after {@link #close}; this is not checked.
   *
   * @throws IllegalStateException if this is closed
   */
  public ByteBuffer byteBuffer() {
    return elements.byteBuffer();
  }

  /**
   * Address of the first element.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if this is closed, or if this JVM cannot tell addresses (the
   *     message then holds the flag that helps)
   */
  public long address() {
    return elements.address();
  }

  /**
   * Ends the elements and gives the memory back; see {@link TypedAllocation#close}.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if this was closed before; nothing changes then
   */
  @Override
  public void close() {
    elements.close();
  }

  @Override
  public String toString() {
    return "Tensor[" + type().name() + " " + shape + "]";
  }
}
