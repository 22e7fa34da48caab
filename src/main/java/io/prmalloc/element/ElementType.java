package io.prmalloc.element;

import io.prmalloc.Allocator;
import java.nio.ByteBuffer;
import java.util.OptionalInt;

/**
 * The type of an element of typed memory: how many bytes it has, how it begins and ends, how its
 * value is read and written. The types of TensorFlow are in {@link ElementTypes}; users may define
 * more.
 *
 * <p>A <em>trivial</em> type has nothing to begin or end: its elements hold at first what the
 * memory held. Every other type is told of the beginning and of the end of each element, as C++
 * runs constructors and destructors.
 *
 * <p>An element lies at an offset of a buffer in native byte order, which is a multiple of {@link
 * #slotBytes}; byte 0 of the buffer is aligned to {@link Allocator#DEFAULT_ALIGNMENT}. Use absolute
 * access and leave the buffer's position, limit and order alone.
 *
 * <p>Modelled on TensorFlow's {@code TypedAllocator}, {@code RunCtor} and {@code RunDtor}.
 *
 * <p>Threading: every method may be called by any thread, for different elements at the same time.
 *
 * @param <T> the value of an element
 */
public interface ElementType<T> {

  /** How people call it, such as {@code FLOAT}. Threading: any thread. */
  String name();

  /** The class of its values. Threading: any thread. */
  Class<T> valueClass();

  /** Bytes of one element, from 1; always the same number. Threading: any thread. */
  int slotBytes();

  /**
   * The number of TensorFlow's {@code DataType} that this is, empty if it is none of them.
   *
   * <p>Threading: any thread.
   */
  default OptionalInt dataType() {
    return OptionalInt.empty();
  }

  /**
   * Whether {@link #construct} and {@link #destroy} have nothing to do, and are not called.
   *
   * <p>Threading: any thread.
   */
  boolean isTrivial();

  /**
   * Makes an element of memory that holds anything. If this throws, the element does not exist, and
   * what was taken for it must have been given back.
   *
   * <p>Threading: as the type says.
   *
   * @param allocator where to take what the element owns
   * @param memory where it lies
   * @param offset of its first byte
   */
  default void construct(Allocator allocator, ByteBuffer memory, int offset) {}

  /**
   * Ends an element. What it owns is given back, also if this throws.
   *
   * <p>Threading: as the type says.
   *
   * @param allocator as in {@link #construct}
   * @param memory where it lies
   * @param offset of its first byte
   */
  default void destroy(Allocator allocator, ByteBuffer memory, int offset) {}

  /**
   * The value of an element.
   *
   * <p>Threading: as the type says.
   *
   * @param memory where it lies
   * @param offset of its first byte
   */
  T read(ByteBuffer memory, int offset);

  /**
   * Gives an element a value; the old one ends. If this throws, the element keeps the old one.
   *
   * <p>Threading: as the type says.
   *
   * @param allocator as in {@link #construct}
   * @param memory where it lies
   * @param offset of its first byte
   * @param value the new one
   * @throws IllegalArgumentException if the type cannot hold the value
   */
  void write(Allocator allocator, ByteBuffer memory, int offset, T value);
}
