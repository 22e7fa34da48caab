package io.prmalloc.tensor.wire;

import java.nio.ByteBuffer;

/**
 * Content of elements that differ in length, as TensorFlow's {@code EncodeStringList} has it: the
 * lengths of all as varints, then the bytes of all.
 *
 * <p>Threading: one thread.
 */
final class LengthList {

  private final ByteBuffer content;
  private final ByteBuffer lengths;
  private int nextStart;

  /**
   * @param content what {@link #check} let pass
   */
  LengthList(ByteBuffer content, long elements) {
    this.content = content;
    this.nextStart = checkedStart(content, elements);
    this.lengths = content.duplicate();
  }

  /**
   * Takes no memory for what the lengths claim.
   *
   * @throws TensorFormatException if there are not so many lengths, or the bytes after them are
   *     more or fewer than they say
   */
  static void check(ByteBuffer content, long elements) {
    checkedStart(content, elements);
  }

  private static int checkedStart(ByteBuffer content, long elements) {
    ByteBuffer rest = content.duplicate();
    long bytes = 0;
    for (long i = 0; i < elements; i++) {
      long length = Varints.read(rest);
      // Also keeps the sum from growing too large for its type.
      if (length == Varints.NONE || length > Integer.MAX_VALUE) {
        throw new TensorFormatException(
            "tensor_content has "
                + content.remaining()
                + " bytes and not "
                + elements
                + " lengths");
      }
      bytes += length;
    }
    if (bytes != rest.remaining()) {
      throw new TensorFormatException(
          "tensor_content has "
              + rest.remaining()
              + " bytes after the lengths of its "
              + elements
              + " elements, which have "
              + bytes);
    }
    return rest.position();
  }

  /** The bytes of the next element. */
  ByteBuffer next() {
    int length = (int) Varints.read(lengths);
    ByteBuffer element = content.slice(nextStart, length);
    nextStart += length;
    return element;
  }
}
