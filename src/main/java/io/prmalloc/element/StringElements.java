package io.prmalloc.element;

import io.prmalloc.OutOfNativeMemoryException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * Elements of {@link ElementTypes#STRING} as text, or as bytes that go from buffer to buffer.
 *
 * <p>Threading: as {@link TypedAllocation}.
 */
public final class StringElements {

  private final TypedAllocation<?> elements;
  private final StringType type;

  private StringElements(TypedAllocation<?> elements, StringType type) {
    this.elements = elements;
    this.type = type;
  }

  /**
   * Another view of the same elements; closing them ends it too.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if the elements are of another type
   */
  public static StringElements of(TypedAllocation<?> elements) {
    if (elements.type() instanceof StringType type) {
      return new StringElements(elements, type);
    }
    throw new IllegalArgumentException(elements + " are no elements of STRING");
  }

  /**
   * An element's bytes as UTF-8; those that are not UTF-8 become U+FFFD.
   *
   * <p>Threading: as {@link TypedAllocation}.
   *
   * @throws IndexOutOfBoundsException if there is no such element
   * @throws IllegalStateException if the elements are closed
   */
  public String get(long index) {
    return new String(type.read(elements.memory(), elements.offset(index)), StandardCharsets.UTF_8);
  }

  /**
   * Gives an element the UTF-8 bytes of a text.
   *
   * <p>Threading: as {@link TypedAllocation}.
   *
   * @throws IndexOutOfBoundsException if there is no such element
   * @throws OutOfNativeMemoryException if the bytes are not available; nothing changes then
   * @throws IllegalStateException if the elements are closed, or this JVM cannot tell addresses
   */
  public void set(long index, String text) {
    set(index, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
  }

  /**
   * Gives an element all bytes that remain in a buffer, whose position stays.
   *
   * <p>Threading: as {@link TypedAllocation}.
   *
   * @throws IndexOutOfBoundsException if there is no such element
   * @throws OutOfNativeMemoryException if the bytes are not available; nothing changes then
   * @throws IllegalStateException if the elements are closed, or this JVM cannot tell addresses
   */
  public void set(long index, ByteBuffer bytes) {
    type.write(elements.allocator(), elements.memory(), elements.offset(index), bytes);
  }

  /**
   * How many bytes an element has.
   *
   * <p>Threading: as {@link TypedAllocation}.
   *
   * @throws IndexOutOfBoundsException if there is no such element
   * @throws IllegalStateException if the elements are closed
   */
  public int lengthBytes(long index) {
    return type.length(elements.memory(), elements.offset(index));
  }

  /**
   * Puts an element's bytes into a buffer at its position, which moves on.
   *
   * <p>Threading: as {@link TypedAllocation}.
   *
   * @throws IndexOutOfBoundsException if there is no such element
   * @throws IllegalArgumentException if the buffer has no room for {@link #lengthBytes} bytes;
   *     nothing changes then
   * @throws IllegalStateException if the elements are closed
   */
  public void copyTo(long index, ByteBuffer target) {
    Objects.requireNonNull(target, "target");
    int length = lengthBytes(index);
    if (target.remaining() < length) {
      throw new IllegalArgumentException(
          "target has room for "
              + target.remaining()
              + " bytes, element "
              + index
              + " has "
              + length);
    }
    type.copyTo(elements.memory(), elements.offset(index), target);
  }
}
