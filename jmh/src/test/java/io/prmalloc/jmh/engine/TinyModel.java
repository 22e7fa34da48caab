package io.prmalloc.jmh.engine;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A model without weights, whose outputs are as large as its inputs: field numbers are those of
 * {@code onnx.proto3}.
 *
 * <p>Inputs {@code left} and {@code right}, FLOAT [1, rows, columns], and output {@code sum}.
 */
final class TinyModel {

  private static final int FLOAT = 1;
  private static final int IR_VERSION = 8;
  private static final int OPERATORS_VERSION = 13;

  private interface Write {
    void to(CodedOutputStream out) throws IOException;
  }

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  private TinyModel() {}

  static Path write(Path file) throws IOException {
    TinyModel graph =
        new TinyModel()
            .put(1, node("Sigmoid", "left_sigmoid", "left"))
            .put(1, node("Sin", "right_sin", "right"))
            .put(1, node("Mul", "product", "left_sigmoid", "right_sin"))
            .put(1, node("Tanh", "tangent", "product"))
            .put(1, node("Sqrt", "root", "left_sigmoid"))
            .put(1, node("Add", "sum", "tangent", "root"))
            .put(2, "tiny")
            .put(11, value("left"))
            .put(11, value("right"))
            .put(12, value("sum"));
    TinyModel model =
        new TinyModel()
            .put(1, IR_VERSION)
            .put(7, graph)
            .put(8, new TinyModel().put(1, "").put(2, OPERATORS_VERSION));
    return Files.write(file, model.bytes.toByteArray());
  }

  private static TinyModel node(String operator, String output, String... inputs) {
    TinyModel node = new TinyModel();
    for (String input : inputs) {
      node.put(1, input);
    }
    return node.put(2, output).put(3, output).put(4, operator);
  }

  private static TinyModel value(String name) {
    TinyModel shape =
        new TinyModel()
            .put(1, new TinyModel().put(1, 1))
            .put(1, new TinyModel().put(2, "rows"))
            .put(1, new TinyModel().put(2, "columns"));
    TinyModel type = new TinyModel().put(1, new TinyModel().put(1, FLOAT).put(2, shape));
    return new TinyModel().put(1, name).put(2, type);
  }

  private TinyModel put(int field, long value) {
    return write(out -> out.writeInt64(field, value));
  }

  private TinyModel put(int field, String value) {
    return write(out -> out.writeByteArray(field, value.getBytes(StandardCharsets.UTF_8)));
  }

  private TinyModel put(int field, TinyModel value) {
    return write(out -> out.writeByteArray(field, value.bytes.toByteArray()));
  }

  private TinyModel write(Write write) {
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
