package io.prmalloc.onnx;

import io.prmalloc.example.model.OnnxMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.Consumer;

/** Writes ONNX models with operators of any kind, node by node. */
public final class OnnxWriter {

  private final OnnxMessage message = new OnnxMessage();

  OnnxWriter whole(int field, long value) {
    message.put(field, value);
    return this;
  }

  OnnxWriter fraction(int field, float value) {
    message.put(field, value);
    return this;
  }

  OnnxWriter raw(int field, byte[] value) {
    message.put(field, value);
    return this;
  }

  OnnxWriter text(int field, String value) {
    message.put(field, value);
    return this;
  }

  OnnxWriter message(int field, Consumer<OnnxWriter> content) {
    OnnxWriter inner = new OnnxWriter();
    content.accept(inner);
    message.put(field, inner.message);
    return this;
  }

  byte[] finish() {
    return message.toBytes();
  }

  /** A model of the graph. */
  public static byte[] model(int opset, Consumer<OnnxWriter> graph) {
    return new OnnxWriter()
        .whole(OnnxSchema.MODEL_IR_VERSION, 8)
        .text(2, "a test")
        .message(OnnxSchema.MODEL_GRAPH, graph)
        .message(
            OnnxSchema.MODEL_OPSET_IMPORT, set -> set.whole(OnnxSchema.OPERATOR_SET_VERSION, opset))
        .finish();
  }

  /**
   * An input.
   *
   * @param shape numbers are sizes, words names of dimensions, {@code ?} says nothing
   */
  public OnnxWriter input(String name, String shape) {
    return declared(OnnxSchema.GRAPH_INPUT, name, OnnxType.FLOAT, shape);
  }

  /** An output without a type. */
  public OnnxWriter output(String name) {
    return message(OnnxSchema.GRAPH_OUTPUT, v -> v.text(OnnxSchema.VALUE_INFO_NAME, name));
  }

  OnnxWriter declared(int field, String name, OnnxType type, String shape) {
    return message(
        field,
        v ->
            v.text(OnnxSchema.VALUE_INFO_NAME, name)
                .message(
                    OnnxSchema.VALUE_INFO_TYPE,
                    t ->
                        t.message(
                            OnnxSchema.TYPE_TENSOR,
                            tensor -> {
                              tensor.whole(OnnxSchema.TENSOR_TYPE_ELEMENT, type.number());
                              if (shape != null) {
                                tensor.message(OnnxSchema.TENSOR_TYPE_SHAPE, s -> s.dims(shape));
                              }
                            })));
  }

  private void dims(String shape) {
    for (String dim : shape.isEmpty() ? new String[0] : shape.split("x", -1)) {
      message(
          OnnxSchema.SHAPE_DIM,
          d -> {
            if (dim.matches("-?[0-9]+")) {
              d.whole(OnnxSchema.DIM_VALUE, Long.parseLong(dim));
            } else if (!dim.equals("?")) {
              d.text(OnnxSchema.DIM_PARAM, dim);
            }
          });
    }
  }

  /** A weight whose numbers are outside. */
  public OnnxWriter weight(String name, long... dims) {
    return message(
        OnnxSchema.GRAPH_INITIALIZER,
        t -> {
          t.tensor(name, OnnxType.FLOAT, dims);
          t.whole(OnnxSchema.TENSOR_DATA_LOCATION, OnnxSchema.EXTERNAL);
        });
  }

  /** A list of whole numbers. */
  OnnxWriter list(String name, long... numbers) {
    return message(OnnxSchema.GRAPH_INITIALIZER, t -> t.numbers(name, numbers));
  }

  OnnxWriter tensor(String name, OnnxType type, long... dims) {
    for (long dim : dims) {
      whole(OnnxSchema.TENSOR_DIMS, dim);
    }
    return whole(OnnxSchema.TENSOR_DATA_TYPE, type.number()).text(OnnxSchema.TENSOR_NAME, name);
  }

  OnnxWriter numbers(String name, long... numbers) {
    ByteBuffer data = ByteBuffer.allocate(8 * numbers.length).order(ByteOrder.LITTLE_ENDIAN);
    for (long number : numbers) {
      data.putLong(number);
    }
    return tensor(name, OnnxType.INT64, numbers.length)
        .raw(OnnxSchema.TENSOR_RAW_DATA, data.array());
  }

  /** An operator; names are separated by commas. */
  @SafeVarargs
  public final OnnxWriter node(
      String operator, String inputs, String outputs, Consumer<OnnxWriter>... attributes) {
    return message(
        OnnxSchema.GRAPH_NODE,
        n -> {
          names(inputs).forEach(name -> n.text(OnnxSchema.NODE_INPUT, name));
          names(outputs).forEach(name -> n.text(OnnxSchema.NODE_OUTPUT, name));
          n.text(OnnxSchema.NODE_OP_TYPE, operator);
          for (Consumer<OnnxWriter> attribute : attributes) {
            n.message(OnnxSchema.NODE_ATTRIBUTE, attribute);
          }
        });
  }

  private static List<String> names(String list) {
    return list.isEmpty() ? List.of() : List.of(list.split(",", -1));
  }

  static Consumer<OnnxWriter> ints(String name, long... numbers) {
    return a -> {
      a.text(OnnxSchema.ATTRIBUTE_NAME, name);
      for (long number : numbers) {
        a.whole(OnnxSchema.ATTRIBUTE_INTS, number);
      }
    };
  }

  static Consumer<OnnxWriter> one(String name, long number) {
    return a -> a.text(OnnxSchema.ATTRIBUTE_NAME, name).whole(OnnxSchema.ATTRIBUTE_INT, number);
  }

  static Consumer<OnnxWriter> word(String name, String text) {
    return a -> a.text(OnnxSchema.ATTRIBUTE_NAME, name).text(OnnxSchema.ATTRIBUTE_STRING, text);
  }

  static Consumer<OnnxWriter> body(String name, Consumer<OnnxWriter> graph) {
    return a -> a.text(OnnxSchema.ATTRIBUTE_NAME, name).message(OnnxSchema.ATTRIBUTE_GRAPH, graph);
  }
}
