package io.prmalloc.onnx;

import io.prmalloc.model.FileInput;
import io.prmalloc.model.GraphModel;
import io.prmalloc.model.ModelFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Reads an ONNX model as a graph.
 *
 * <p>Each value of the model is a tensor: a weight, or what a Constant holds, is constant; an input
 * and what an operator gives is in the arena with the bytes of its shape. A shape is what the rules
 * of the operators make of the inputs' shapes, and where they have none, what the model states. A
 * value whose size is not known then is dynamic, and is told. Operators run in the model's order,
 * none is fused or folded, and none writes into its input.
 *
 * <p>The body of an If, Loop or Scan runs before the operator, once, both branches of an If one
 * after the other: the nodes of the body are nodes of the graph, and what a loop reads lives until
 * it ends. The inputs that a loop gives its body come from a node of their own.
 *
 * <p>Threading: any thread.
 */
public final class OnnxReader {

  /** What protobuf can hold in a message. */
  private static final long MAX_FILE_BYTES = Integer.MAX_VALUE;

  private static final int IR_VERSION_TAG = 0x08;
  private static final int LEAST_IR_VERSION = 3;

  private OnnxReader() {}

  /**
   * Whether bytes are the begin of a model. The format has no mark; but every model begins with its
   * {@code ir_version}, from 3 on, and then with a field that a model has.
   *
   * <p>Threading: any thread.
   *
   * @param start the first bytes of a file, any number; three are looked at
   */
  public static boolean isModel(byte[] start) {
    if (start.length < 3 || start[0] != IR_VERSION_TAG || start[1] < LEAST_IR_VERSION) {
      return false;
    }
    // Producer's name and version, domain, version, text, graph, operator sets.
    return switch (start[2]) {
      case 0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42 -> true;
      default -> false;
    };
  }

  /**
   * Reads a file. Weights are passed over, and other files, where weights may lie, are not opened.
   * Values of unknown size are of kind {@link io.prmalloc.plan.arena.TensorKind#DYNAMIC} with 0
   * bytes, and told by a warning of the model.
   *
   * <p>Threading: any thread.
   *
   * @param shapes by the name of an input its shape, or by the name of a dimension its size, as a
   *     shape of one; a name of both is the input's
   * @throws ModelFormatException if the file is no model, is cut short, or what it describes is no
   *     graph; the message names the file and the place
   * @throws IllegalArgumentException if an input has an open dimension that {@code shapes} does not
   *     set, or {@code shapes} does not fit the model
   * @throws UncheckedIOException if the file is not there or cannot be read
   */
  public static GraphModel read(Path path, Map<String, List<Integer>> shapes) {
    try (InputStream in = FileInput.open(path)) {
      if (Files.size(path) > MAX_FILE_BYTES) {
        throw new ModelFormatException(
            path.toString(),
            "",
            "has "
                + Files.size(path)
                + " bytes, but a model has at most "
                + MAX_FILE_BYTES
                + "; larger weights lie in other files");
      }
      return read(path.toString(), in, shapes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The same of the bytes of a model, read to their end.
   *
   * <p>Threading: any thread.
   *
   * @param name what errors call the file
   * @throws ModelFormatException as above
   * @throws IllegalArgumentException as above
   * @throws UncheckedIOException if it cannot be read
   */
  public static GraphModel read(String name, InputStream in, Map<String, List<Integer>> shapes) {
    OnnxModel model = OnnxParser.parse(name, in);
    return new GraphBuilder(name, model, Dimensions.of(name, model, shapes)).build();
  }
}
