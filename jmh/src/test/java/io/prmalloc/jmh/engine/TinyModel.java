package io.prmalloc.jmh.engine;

import io.prmalloc.example.model.OnnxMessage;
import java.io.IOException;
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

  private TinyModel() {}

  static Path write(Path file) throws IOException {
    OnnxMessage graph =
        new OnnxMessage()
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
    return Files.write(file, OnnxMessage.model(graph));
  }

  private static OnnxMessage node(String operator, String output, String... inputs) {
    OnnxMessage node = new OnnxMessage();
    for (String input : inputs) {
      node.put(1, input);
    }
    return node.put(2, output).put(3, output).put(4, operator);
  }

  private static OnnxMessage value(String name) {
    OnnxMessage shape =
        new OnnxMessage()
            .put(1, new OnnxMessage().put(1, 1))
            .put(1, new OnnxMessage().put(2, "rows"))
            .put(1, new OnnxMessage().put(2, "columns"));
    OnnxMessage type = new OnnxMessage().put(1, new OnnxMessage().put(1, FLOAT).put(2, shape));
    return new OnnxMessage().put(1, name).put(2, type);
  }
}
