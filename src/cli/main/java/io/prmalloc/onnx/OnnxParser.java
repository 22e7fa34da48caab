package io.prmalloc.onnx;

import io.prmalloc.model.ModelFormatException;
import io.prmalloc.onnx.OnnxModel.Attribute;
import io.prmalloc.onnx.OnnxModel.Body;
import io.prmalloc.onnx.OnnxModel.Constant;
import io.prmalloc.onnx.OnnxModel.Declared;
import io.prmalloc.onnx.OnnxModel.Dim;
import io.prmalloc.onnx.OnnxModel.Operation;
import io.prmalloc.onnx.OnnxModel.Stated;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Reads the messages of a model. Data of constants is passed over, but for the few numbers that
 * tell shapes.
 *
 * <p>Threading: one thread.
 */
final class OnnxParser {

  /** The first version of the format that models of today are written in: ONNX 1.0. */
  private static final int LEAST_IR_VERSION = 3;

  private static final int MAX_CONTENT_BYTES = 8 * Value.MAX_CONTENT;

  private final WireReader in;
  private long irVersion;
  private Body graph;
  private boolean importsOperators;
  private long opset = Long.MAX_VALUE;
  private final Set<String> functions = new HashSet<>();

  private OnnxParser(WireReader in) {
    this.in = in;
  }

  /** The model in a stream, which is left open. */
  static OnnxModel parse(String file, InputStream stream) {
    OnnxParser parser = new OnnxParser(new WireReader(file, stream));
    parser.in.file(parser::modelField);
    return parser.model();
  }

  private OnnxModel model() {
    if (irVersion < LEAST_IR_VERSION || graph == null) {
      throw in.error(
          "is no ONNX model: "
              + (graph == null ? "it has no graph" : "its ir_version is " + irVersion));
    }
    if (!importsOperators) {
      throw in.error("is cut short: there is no opset_import");
    }
    return new OnnxModel(opset, graph, functions);
  }

  private void modelField(int field) throws IOException {
    switch (field) {
      case OnnxSchema.MODEL_IR_VERSION -> irVersion = in.whole();
      case OnnxSchema.MODEL_GRAPH -> {
        if (graph != null) {
          throw in.error("there is a second graph");
        }
        graph = body("graph");
      }
      case OnnxSchema.MODEL_OPSET_IMPORT -> operatorSet();
      case OnnxSchema.MODEL_FUNCTIONS -> function();
      default -> in.skip();
    }
  }

  private void operatorSet() throws IOException {
    String[] domain = {""};
    long[] version = {0};
    in.message(
        "opset_import",
        field -> {
          switch (field) {
            case OnnxSchema.OPERATOR_SET_DOMAIN -> domain[0] = in.text();
            case OnnxSchema.OPERATOR_SET_VERSION -> version[0] = in.whole();
            default -> in.skip();
          }
        });
    importsOperators = true;
    if (OnnxModel.isStandard(domain[0])) {
      opset = version[0];
    }
  }

  private void function() throws IOException {
    String[] name = {"", ""};
    in.message(
        "functions[" + functions.size() + "]",
        field -> {
          switch (field) {
            case OnnxSchema.FUNCTION_NAME -> name[0] = in.text();
            case OnnxSchema.FUNCTION_DOMAIN -> name[1] = in.text();
            default -> in.skip();
          }
        });
    functions.add(name[1] + "." + name[0]);
  }

  private Body body(String name) throws IOException {
    List<Operation> operations = new ArrayList<>();
    List<Declared> inputs = new ArrayList<>();
    List<Declared> outputs = new ArrayList<>();
    List<Declared> stated = new ArrayList<>();
    Map<String, Constant> constants = new LinkedHashMap<>();
    String place =
        in.message(
            name,
            field -> {
              switch (field) {
                case OnnxSchema.GRAPH_NODE ->
                    operations.add(operation("node[" + operations.size() + "]"));
                case OnnxSchema.GRAPH_INPUT -> inputs.add(declared("input[" + inputs.size() + "]"));
                case OnnxSchema.GRAPH_OUTPUT ->
                    outputs.add(declared("output[" + outputs.size() + "]"));
                case OnnxSchema.GRAPH_VALUE_INFO ->
                    stated.add(declared("value_info[" + stated.size() + "]"));
                case OnnxSchema.GRAPH_INITIALIZER, OnnxSchema.GRAPH_SPARSE_INITIALIZER -> {
                  String[] tensorName = {""};
                  String entry = "initializer[" + constants.size() + "]";
                  Constant constant =
                      field == OnnxSchema.GRAPH_INITIALIZER
                          ? constant(entry, tensorName)
                          : sparse("sparse_" + entry, tensorName);
                  if (tensorName[0].isEmpty() || constants.put(tensorName[0], constant) != null) {
                    throw in.error(
                        entry
                            + (tensorName[0].isEmpty()
                                ? " has no name"
                                : ": the name "
                                    + ModelFormatException.quote(tensorName[0])
                                    + " is taken"));
                  }
                }
                default -> in.skip();
              }
            });
    return new Body(place, operations, inputs, outputs, stated, constants);
  }

  private Operation operation(String entry) throws IOException {
    List<String> inputs = new ArrayList<>();
    List<String> outputs = new ArrayList<>();
    Map<String, Attribute> attributes = new LinkedHashMap<>();
    String[] name = {""};
    String[] operator = {""};
    String[] domain = {""};
    String place =
        in.message(
            entry,
            field -> {
              switch (field) {
                case OnnxSchema.NODE_INPUT -> inputs.add(in.text());
                case OnnxSchema.NODE_OUTPUT -> outputs.add(in.text());
                case OnnxSchema.NODE_NAME -> name[0] = in.text();
                case OnnxSchema.NODE_OP_TYPE -> operator[0] = in.text();
                case OnnxSchema.NODE_DOMAIN -> domain[0] = in.text();
                case OnnxSchema.NODE_ATTRIBUTE -> attribute(attributes);
                default -> in.skip();
              }
            });
    if (operator[0].isEmpty()) {
      throw in.error(entry + " has no op_type");
    }
    return new Operation(place, name[0], operator[0], domain[0], inputs, outputs, attributes);
  }

  private void attribute(Map<String, Attribute> to) throws IOException {
    String[] name = {""};
    long[] whole = {0};
    String[] text = {""};
    List<Long> wholes = new ArrayList<>(0);
    List<Float> floats = new ArrayList<>(0);
    List<Body> bodies = new ArrayList<>(0);
    Constant[] constant = {null};
    String entry = "attribute[" + to.size() + "]";
    in.message(
        entry,
        field -> {
          switch (field) {
            case OnnxSchema.ATTRIBUTE_NAME -> name[0] = in.text();
            case OnnxSchema.ATTRIBUTE_FLOAT -> floats.add(in.fraction());
            case OnnxSchema.ATTRIBUTE_INT -> whole[0] = in.whole();
            case OnnxSchema.ATTRIBUTE_STRING -> text[0] = in.text();
            case OnnxSchema.ATTRIBUTE_TENSOR -> constant[0] = constant("t", new String[1]);
            case OnnxSchema.ATTRIBUTE_SPARSE_TENSOR ->
                constant[0] = sparse("sparse_tensor", new String[1]);
            case OnnxSchema.ATTRIBUTE_GRAPH -> bodies.add(body("g"));
            case OnnxSchema.ATTRIBUTE_GRAPHS -> bodies.add(body("graphs[" + bodies.size() + "]"));
            case OnnxSchema.ATTRIBUTE_FLOATS -> in.fractions(floats);
            case OnnxSchema.ATTRIBUTE_INTS -> in.wholes(wholes);
            default -> in.skip();
          }
        });
    if (name[0].isEmpty()
        || to.put(name[0], new Attribute(whole[0], text[0], wholes, floats, constant[0], bodies))
            != null) {
      throw in.error(
          entry
              + (name[0].isEmpty()
                  ? " has no name"
                  : ": there is a second " + ModelFormatException.quote(name[0])));
    }
  }

  private Constant constant(String entry, String[] name) throws IOException {
    List<Long> dims = new ArrayList<>(4);
    long[] type = {0};
    long[] location = {0};
    List<Long> wholes = new ArrayList<>(0);
    List<Float> floats = new ArrayList<>(0);
    byte[][] raw = {null};
    long[] rawLength = {-1};
    String place =
        in.message(
            entry,
            field -> {
              switch (field) {
                case OnnxSchema.TENSOR_DIMS -> in.wholes(dims);
                case OnnxSchema.TENSOR_DATA_TYPE -> type[0] = in.whole();
                case OnnxSchema.TENSOR_NAME -> name[0] = in.text();
                case OnnxSchema.TENSOR_INT32_DATA, OnnxSchema.TENSOR_INT64_DATA ->
                    in.wholes(wholes);
                case OnnxSchema.TENSOR_FLOAT_DATA -> in.fractions(floats);
                case OnnxSchema.TENSOR_RAW_DATA -> raw[0] = in.bytes(MAX_CONTENT_BYTES, rawLength);
                case OnnxSchema.TENSOR_DATA_LOCATION -> location[0] = in.whole();
                default -> in.skip();
              }
            });
    OnnxType element = type(type[0], entry);
    double[] content = null;
    if (location[0] != OnnxSchema.EXTERNAL) {
      content =
          raw[0] != null
              ? decode(element, raw[0])
              : Stream.concat(wholes.stream(), floats.stream())
                  .mapToDouble(Number::doubleValue)
                  .toArray();
    }
    Value value = value(element, dims, content, entry);
    if (element.hasSize()
        && rawLength[0] >= 0
        && location[0] != OnnxSchema.EXTERNAL
        && rawLength[0] != value.bytes()) {
      throw in.error(
          entry
              + ": "
              + rawLength[0]
              + " bytes of data are not those of "
              + Value.describe(value.dims())
              + " of "
              + element
              + ", "
              + value.bytes());
    }
    return new Constant(place, value);
  }

  private Constant sparse(String entry, String[] name) throws IOException {
    List<Long> dims = new ArrayList<>(4);
    Constant[] values = {null};
    String place =
        in.message(
            entry,
            field -> {
              switch (field) {
                case OnnxSchema.SPARSE_VALUES -> values[0] = constant("values", name);
                case OnnxSchema.SPARSE_DIMS -> in.wholes(dims);
                default -> in.skip();
              }
            });
    if (values[0] == null) {
      throw in.error(entry + " has no values");
    }
    return new Constant(place, value(values[0].value().type(), dims, null, entry));
  }

  private OnnxType type(long number, String entry) {
    OnnxType type = OnnxType.ofNumber(number);
    if (type == null) {
      throw in.error(entry + ": " + number + " is no type of elements that is known");
    }
    return type;
  }

  private Value value(OnnxType type, List<Long> dims, double[] content, String entry) {
    for (long dim : dims) {
      if (dim < 0) {
        throw in.error(entry + ": dimension " + dim + " is negative");
      }
    }
    try {
      return new Value(type, dims.stream().mapToLong(Long::longValue).toArray(), content);
    } catch (IllegalArgumentException wrong) {
      throw in.error(entry + ": " + wrong.getMessage());
    }
  }

  private static double[] decode(OnnxType type, byte[] raw) {
    ByteBuffer bytes = ByteBuffer.wrap(raw).order(ByteOrder.LITTLE_ENDIAN);
    double[] content;
    switch (type) {
      case INT64 -> {
        content = new double[raw.length / 8];
        for (int i = 0; i < content.length; i++) {
          content[i] = bytes.getLong(8 * i);
        }
      }
      case INT32 -> {
        content = new double[raw.length / 4];
        for (int i = 0; i < content.length; i++) {
          content[i] = bytes.getInt(4 * i);
        }
      }
      case FLOAT -> {
        content = new double[raw.length / 4];
        for (int i = 0; i < content.length; i++) {
          content[i] = bytes.getFloat(4 * i);
        }
      }
      case BOOL -> {
        content = new double[raw.length];
        for (int i = 0; i < content.length; i++) {
          content[i] = raw[i];
        }
      }
      default -> content = null;
    }
    return content;
  }

  private Declared declared(String entry) throws IOException {
    String[] name = {""};
    Stated[] type = {null};
    String place =
        in.message(
            entry,
            field -> {
              switch (field) {
                case OnnxSchema.VALUE_INFO_NAME -> name[0] = in.text();
                case OnnxSchema.VALUE_INFO_TYPE -> type[0] = stated();
                default -> in.skip();
              }
            });
    if (name[0].isEmpty()) {
      throw in.error(entry + " has no name");
    }
    return new Declared(place, name[0], type[0]);
  }

  private Stated stated() throws IOException {
    Stated[] stated = {new Stated(null, null)};
    in.message(
        "type",
        field -> {
          if (field == OnnxSchema.TYPE_TENSOR) {
            stated[0] = tensorType();
          } else {
            in.skip();
          }
        });
    return stated[0];
  }

  private Stated tensorType() throws IOException {
    long[] type = {0};
    List<List<Dim>> shape = new ArrayList<>(1);
    in.message(
        "tensor_type",
        field -> {
          switch (field) {
            case OnnxSchema.TENSOR_TYPE_ELEMENT -> type[0] = in.whole();
            case OnnxSchema.TENSOR_TYPE_SHAPE -> {
              shape.clear();
              shape.add(shape());
            }
            default -> in.skip();
          }
        });
    // 0 says that it is not known.
    return new Stated(
        type[0] == 0 ? null : type(type[0], "elem_type"), shape.isEmpty() ? null : shape.get(0));
  }

  private List<Dim> shape() throws IOException {
    List<Dim> dims = new ArrayList<>(4);
    in.message(
        "shape",
        field -> {
          if (field == OnnxSchema.SHAPE_DIM) {
            dims.add(dim("dim[" + dims.size() + "]"));
          } else {
            in.skip();
          }
        });
    return dims;
  }

  private Dim dim(String entry) throws IOException {
    long[] size = {Value.OPEN};
    String[] parameter = {""};
    in.message(
        entry,
        field -> {
          switch (field) {
            case OnnxSchema.DIM_VALUE -> {
              size[0] = in.whole();
              // Writers of old wrote -1 where they knew nothing.
              if (size[0] < Value.OPEN) {
                throw in.error(size[0] + " is negative");
              }
            }
            case OnnxSchema.DIM_PARAM -> parameter[0] = in.text();
            default -> in.skip();
          }
        });
    return new Dim(size[0], parameter[0]);
  }
}
