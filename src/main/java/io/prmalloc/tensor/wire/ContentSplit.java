package io.prmalloc.tensor.wire;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.prmalloc.tensor.wire.proto.TensorProto;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A message in two parts: its content, as a view, and the few bytes around it.
 *
 * <p>Threading: one thread.
 */
final class ContentSplit {

  // Protobuf's parser reads Java arrays. A message that is anywhere else, in a direct buffer above
  // all, it copies to the heap as a whole, which is what off-heap memory is there to avoid. So the
  // content, nearly all of such a message, is found by hand: the fields of the outermost message
  // are walked, those of other numbers copied, and that of the content remembered; the last one
  // counts if there are several, as in protobuf.
  //
  // A field on the wire is a tag, a varint of number and kind, and then by kind:
  //
  //   0 a varint | 1 eight bytes | 2 a length as a varint, so many bytes | 5 four bytes
  //
  // Whatever else turns up, the truncated and the obsolete, is left to protobuf to refuse.

  private static final int VARINT = 0;
  private static final int FIXED_64 = 1;
  private static final int LENGTH_DELIMITED = 2;
  private static final int FIXED_32 = 5;

  /** What stands in front of content: number and kind of the field. */
  static final int CONTENT_TAG = (TensorProto.TENSOR_CONTENT_FIELD_NUMBER << 3) | LENGTH_DELIMITED;

  private final ByteBuffer message;
  private final ByteArrayOutputStream rest = new ByteArrayOutputStream();
  private ByteBuffer content;

  private ContentSplit(ByteBuffer message) {
    this.message = message.slice();
  }

  /**
   * Splits a message.
   *
   * @param message from position to limit, which stay
   * @return empty if there is no content, or the message is not plain enough to say
   */
  static Optional<ContentSplit> of(ByteBuffer message) {
    ContentSplit split = new ContentSplit(message);
    while (split.message.hasRemaining()) {
      if (!split.nextField()) {
        return Optional.empty();
      }
    }
    return split.content == null ? Optional.empty() : Optional.of(split);
  }

  /** All fields but the content. */
  ByteString rest() {
    return UnsafeByteOperations.unsafeWrap(rest.toByteArray());
  }

  /** The content, which is the message's own memory. */
  ByteBuffer content() {
    return content;
  }

  /** Goes past a field; false if there is no whole one. */
  private boolean nextField() {
    int start = message.position();
    long tag = Varints.read(message);
    long bytes =
        switch ((int) tag & 7) {
          case VARINT -> Varints.read(message) == Varints.NONE ? Varints.NONE : 0;
          case FIXED_64 -> Long.BYTES;
          case LENGTH_DELIMITED -> Varints.read(message);
          case FIXED_32 -> Integer.BYTES;
          default -> Varints.NONE;
        };
    if (tag == Varints.NONE || bytes < 0 || bytes > message.remaining()) {
      return false;
    }
    int end = message.position() + (int) bytes;
    if (tag == CONTENT_TAG) {
      content = message.slice(message.position(), (int) bytes);
    } else {
      byte[] field = new byte[end - start];
      message.get(start, field);
      rest.writeBytes(field);
    }
    message.position(end);
    return true;
  }
}
