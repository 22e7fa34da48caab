package io.prmalloc.tensor.wire;

import com.google.protobuf.CodedOutputStream;
import io.prmalloc.tensor.wire.proto.TensorProto;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/**
 * A message on its way out: what protobuf writes, and content that is written from where it lies.
 * Must not outlive the call, for the content may be a tensor's memory.
 *
 * <p>Threading: one thread.
 *
 * @param fields all but content
 * @param content from position to limit; none if empty
 */
record OutgoingMessage(TensorProto fields, ByteBuffer content) {

  // Protobuf's own string of bytes is a Java array, so it would copy content to the heap first.
  // Content comes last among the fields that are written with it, as in protobuf's own order.

  private static final int CHUNK_BYTES = 16 << 10;

  int sizeBytes() {
    int fieldBytes = fields.getSerializedSize();
    int length = content.remaining();
    return length == 0
        ? fieldBytes
        : fieldBytes + 1 + CodedOutputStream.computeUInt32SizeNoTag(length) + length;
  }

  /** Writes all bytes, by chunks. */
  void writeTo(OutputStream out) throws IOException {
    CodedOutputStream coded = CodedOutputStream.newInstance(out);
    writeHead(coded);
    ByteBuffer rest = content.duplicate();
    byte[] chunk = new byte[Math.min(CHUNK_BYTES, rest.remaining())];
    while (rest.hasRemaining()) {
      int bytes = Math.min(chunk.length, rest.remaining());
      rest.get(chunk, 0, bytes);
      out.write(chunk, 0, bytes);
    }
  }

  /** Writes all bytes at a buffer's position, which moves on; they have room there. */
  void writeTo(ByteBuffer target) {
    int headBytes = sizeBytes() - content.remaining();
    try {
      writeHead(CodedOutputStream.newInstance(target.slice(target.position(), headBytes)));
    } catch (IOException e) {
      throw new IllegalStateException("a buffer does not throw this", e);
    }
    target.position(target.position() + headBytes).put(content.duplicate());
  }

  private void writeHead(CodedOutputStream out) throws IOException {
    fields.writeTo(out);
    if (content.hasRemaining()) {
      out.writeUInt32NoTag(ContentSplit.CONTENT_TAG);
      out.writeUInt32NoTag(content.remaining());
    }
    out.flush();
  }
}
