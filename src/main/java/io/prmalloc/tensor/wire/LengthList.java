package io.prmalloc.tensor.wire;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import java.io.IOException;

/**
 * Content of elements that differ in length, as TensorFlow's {@code EncodeStringList} has it: the
 * lengths of all as varints, then the bytes of all.
 *
 * <p>Threading: one thread.
 */
final class LengthList {

  private final ByteString content;
  private final CodedInputStream lengths;
  private int nextStart;

  /**
   * @param content what {@link #check} let pass
   */
  LengthList(ByteString content, long elements) {
    this.content = content;
    this.nextStart = checkedStart(content, elements);
    this.lengths = content.newCodedInput();
  }

  /**
   * Takes no memory for what the lengths claim.
   *
   * @throws TensorFormatException if there are not so many lengths, or the bytes after them are
   *     more or fewer than they say
   */
  static void check(ByteString content, long elements) {
    checkedStart(content, elements);
  }

  private static int checkedStart(ByteString content, long elements) {
    CodedInputStream input = content.newCodedInput();
    long bytes = 0;
    try {
      for (long i = 0; i < elements; i++) {
        bytes += Integer.toUnsignedLong(input.readRawVarint32());
      }
    } catch (IOException truncated) {
      throw new TensorFormatException(
          "tensor_content has " + content.size() + " bytes and not " + elements + " lengths",
          truncated);
    }
    int start = input.getTotalBytesRead();
    if (bytes != content.size() - start) {
      throw new TensorFormatException(
          "tensor_content has "
              + (content.size() - start)
              + " bytes after the lengths of its "
              + elements
              + " elements, which have "
              + bytes);
    }
    return start;
  }

  /** The bytes of the next element. */
  ByteString next() {
    try {
      int start = nextStart;
      nextStart += lengths.readRawVarint32();
      return content.substring(start, nextStart);
    } catch (IOException e) {
      throw new IllegalStateException("lengths were read before", e);
    }
  }
}
