package io.prmalloc.example.model;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * A message of ONNX's schema, written field by field. Field numbers are those of {@code
 * onnx.proto3}.
 *
 * <p>Threading: one thread.
 */
public final class OnnxMessage {

  private static final int IR_VERSION = 8;
  private static final int OPERATORS_VERSION = 13;

  private interface Write {
    void to(CodedOutputStream out) throws IOException;
  }

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  /** The file of a model. */
  public static byte[] model(OnnxMessage graph) {
    return new OnnxMessage()
        .put(1, IR_VERSION)
        .put(2, "prmalloc-example")
        .put(7, graph)
        .put(8, new OnnxMessage().put(1, "").put(2, OPERATORS_VERSION))
        .toBytes();
  }

  public OnnxMessage put(int field, long value) {
    return write(out -> out.writeInt64(field, value));
  }

  public OnnxMessage put(int field, float value) {
    return write(out -> out.writeFloat(field, value));
  }

  public OnnxMessage put(int field, byte[] value) {
    return write(out -> out.writeByteArray(field, value));
  }

  public OnnxMessage put(int field, String value) {
    return put(field, value.getBytes(StandardCharsets.UTF_8));
  }

  public OnnxMessage put(int field, OnnxMessage value) {
    return put(field, value.toBytes());
  }

  public byte[] toBytes() {
    return bytes.toByteArray();
  }

  private OnnxMessage write(Write write) {
    try {
      CodedOutputStream out = CodedOutputStream.newInstance(bytes);
      write.to(out);
      out.flush();
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
