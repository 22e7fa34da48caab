package io.prmalloc.tflite;

import com.google.flatbuffers.FlatBufferBuilder;
import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Writes models as TensorFlow Lite does, for tests: one subgraph after the other, in each first the
 * tensors, then the operators.
 *
 * <p>Threading: one thread at a time.
 */
public final class TfliteWriter {

  private final FlatBufferBuilder out = new FlatBufferBuilder(1024);
  private final List<Integer> buffers = new ArrayList<>();
  private final List<Integer> codes = new ArrayList<>();
  private final List<Integer> metadata = new ArrayList<>();
  private final List<Integer> subgraphs = new ArrayList<>();
  private final List<Integer> tensors = new ArrayList<>();
  private final List<Integer> operators = new ArrayList<>();

  /** Starts a model whose buffer 0 is empty, as convention has it. */
  public TfliteWriter() {
    // First here is last in the file, as in real ones: the kind of most operators, custom.
    code(BuiltinOperator.CUSTOM, "");
    buffer(new byte[0]);
  }

  /** A graph without temporaries as a model: bytes become bytes, dynamic tensors strings. */
  public static byte[] model(Graph graph) {
    TfliteWriter writer = new TfliteWriter();
    for (int i = 0; i < graph.tensors().size(); i++) {
      Tensor tensor = graph.tensors().get(i);
      int bytes = Math.toIntExact(tensor.bytes());
      switch (tensor.kind()) {
        case CONSTANT ->
            writer.tensor(tensor.name(), ElementType.UINT8, writer.buffer(new byte[bytes]), bytes);
        case DYNAMIC -> writer.tensor(tensor.name(), ElementType.STRING, 0, bytes);
        case PERSISTENT -> writer.variable(tensor.name(), ElementType.INT8, bytes);
        case ARENA -> writer.tensor(tensor.name(), ElementType.INT8, 0, bytes);
      }
    }
    for (Node node : graph.nodes()) {
      writer.operator(ints(node.inputs()), ints(node.outputs()));
    }
    writer.endSubgraph(ints(graph.inputs()), ints(graph.outputs()));
    return writer.finish();
  }

  /** A model of three graphs: an IF of a main one of 201 bytes, and its branches of 400 and 600. */
  public static byte[] branches() {
    return new TfliteWriter()
        .tensor("if", ElementType.BOOL, 0)
        .tensor("in", ElementType.INT8, 0, 100)
        .tensor("out", ElementType.INT8, 0, 100)
        .operator(BuiltinOperator.IF, new int[] {0, 1}, new int[] {2}, 1, 2)
        .endSubgraph("main", new int[] {0, 1}, new int[] {2})
        .tensor("in", ElementType.INT8, 0, 100)
        .tensor("out", ElementType.INT8, 0, 300)
        .operator(BuiltinOperator.RELU, new int[] {0}, new int[] {1})
        .endSubgraph("then", new int[] {0}, new int[] {1})
        .tensor("in", ElementType.INT8, 0, 100)
        .tensor("out", ElementType.INT8, 0, 500)
        .operator(BuiltinOperator.RELU, new int[] {0}, new int[] {1})
        .endSubgraph("else", new int[] {0}, new int[] {1})
        .finish();
  }

  /** An operator from 64 bytes to 32, with the offsets that an offline plan gave them. */
  public static byte[] offline(int first, int second) {
    return new TfliteWriter()
        .tensor("a", ElementType.INT8, 0, 64)
        .tensor("b", ElementType.INT8, 0, 32)
        .operator(new int[] {0}, new int[] {1})
        .endSubgraph(new int[] {0}, new int[] {1})
        .metadata("OfflineMemoryAllocation", 0, 1, 2, first, second)
        .finish();
  }

  /** A model of one operator whose input, {@code audio:0}, is of the shape -1x4, 16 bytes a row. */
  public static byte[] open() {
    return new TfliteWriter()
        .open("audio:0", ElementType.FLOAT32, -1, 4)
        .open("out", ElementType.FLOAT32, -1, 4)
        .operator(BuiltinOperator.RELU, new int[] {0}, new int[] {1})
        .endSubgraph(new int[] {0}, new int[] {1})
        .finish();
  }

  private static int[] ints(List<Integer> list) {
    return list.stream().mapToInt(Integer::intValue).toArray();
  }

  @SuppressWarnings("EnumOrdinal") // which is the number that files have
  private int code(BuiltinOperator kind, String custom) {
    int name = custom.isEmpty() ? 0 : out.createString(custom);
    out.startTable(4);
    out.addByte(TfliteSchema.CODE_OLD, (byte) Math.min(127, kind.ordinal()), (byte) 0);
    if (name != 0) {
      out.addOffset(TfliteSchema.CODE_CUSTOM_NAME, name, 0);
    }
    out.addInt(TfliteSchema.CODE_NUMBER, kind.ordinal(), 0);
    codes.add(out.endTable());
    return codes.size() - 1;
  }

  /** Adds a buffer of whole numbers and tells its index. */
  int ints(int... values) {
    ByteBuffer data = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    data.asIntBuffer().put(values);
    return buffer(data.array());
  }

  /** Adds metadata with a buffer of whole numbers. */
  TfliteWriter metadata(String name, int... values) {
    int nameString = out.createString(name);
    int buffer = ints(values);
    out.startTable(2);
    out.addOffset(TfliteSchema.METADATA_NAME, nameString, 0);
    out.addInt(TfliteSchema.METADATA_BUFFER, buffer, 0);
    metadata.add(out.endTable());
    return this;
  }

  /** Adds a constant of whole numbers. */
  TfliteWriter constant(String name, int... values) {
    return tensor(name, ElementType.INT32, ints(values), values.length);
  }

  /** Adds a tensor whose shape is open where the signature has -1, and 1 in the file. */
  TfliteWriter open(String name, ElementType type, int... signature) {
    int[] shape = IntStream.of(signature).map(d -> d == -1 ? 1 : d).toArray();
    return tensor(name, type.number(), 0, false, vector(signature), shape);
  }

  /** Adds a custom operator of a name. */
  TfliteWriter custom(String name, int[] inputs, int[] outputs) {
    return operator(code(BuiltinOperator.CUSTOM, name), 0, 0, inputs, outputs);
  }

  /** Adds an operator of a kind whose options are numbers: a field each. */
  TfliteWriter operator(BuiltinOperator kind, int[] inputs, int[] outputs, int... options) {
    out.startTable(options.length);
    for (int i = 0; i < options.length; i++) {
      out.addInt(i, options[i], Integer.MIN_VALUE);
    }
    int table = out.endTable();
    boolean later = kind == BuiltinOperator.STABLEHLO_COMPOSITE;
    return operator(code(kind, ""), later ? 0 : table, later ? table : 0, inputs, outputs);
  }

  /** Adds an operator of a kind whose option is a vector. */
  TfliteWriter vectorOperator(BuiltinOperator kind, int[] inputs, int[] outputs, int... option) {
    int values = vector(option);
    out.startTable(1);
    out.addOffset(0, values, 0);
    int table = out.endTable();
    return operator(code(kind, ""), table, 0, inputs, outputs);
  }

  /** Adds a buffer and tells its index. */
  public int buffer(byte[] data) {
    int vector = data.length == 0 ? 0 : out.createByteVector(data);
    out.startTable(3);
    if (vector != 0) {
      out.addOffset(TfliteSchema.BUFFER_DATA, vector, 0);
    }
    buffers.add(out.endTable());
    return buffers.size() - 1;
  }

  /** Adds a buffer whose data lies elsewhere in the file and tells its index. */
  int outsideBuffer(long offset, long size) {
    out.startTable(3);
    out.addLong(TfliteSchema.BUFFER_OFFSET, offset, 0);
    out.addLong(TfliteSchema.BUFFER_SIZE, size, 0);
    buffers.add(out.endTable());
    return buffers.size() - 1;
  }

  /** Adds a tensor with an index of a buffer. */
  TfliteWriter tensor(String name, ElementType type, int buffer, int... shape) {
    return tensor(name, type.number(), buffer, false, shape);
  }

  /** Adds a variable. */
  TfliteWriter variable(String name, ElementType type, int... shape) {
    return tensor(name, type.number(), 0, true, shape);
  }

  /** Adds a tensor of any type at all. */
  TfliteWriter tensor(String name, int type, int buffer, boolean variable, int... shape) {
    return tensor(name, type, buffer, variable, 0, shape);
  }

  private TfliteWriter tensor(
      String name, int type, int buffer, boolean variable, int signature, int[] shape) {
    int shapeVector = vector(shape);
    int nameString = out.createString(name);
    // With the quantization's slot, as real models have it.
    out.startTable(10);
    out.addOffset(TfliteSchema.TENSOR_SHAPE, shapeVector, 0);
    out.addByte(TfliteSchema.TENSOR_TYPE, (byte) type, 0);
    out.addInt(TfliteSchema.TENSOR_BUFFER, buffer, 0);
    out.addOffset(TfliteSchema.TENSOR_NAME, nameString, 0);
    out.addBoolean(TfliteSchema.TENSOR_IS_VARIABLE, variable, false);
    out.addOffset(TfliteSchema.TENSOR_SHAPE_SIGNATURE, signature, 0);
    tensors.add(out.endTable());
    return this;
  }

  /** Adds an operator. */
  TfliteWriter operator(int[] inputs, int[] outputs) {
    return operator(0, 0, 0, inputs, outputs);
  }

  private TfliteWriter operator(
      int code, int options, int laterOptions, int[] inputs, int[] outputs) {
    int inputVector = vector(inputs);
    int outputVector = vector(outputs);
    out.startTable(13);
    out.addInt(TfliteSchema.OPERATOR_CODE, code, 0);
    out.addOffset(TfliteSchema.OPERATOR_OPTIONS, options, 0);
    out.addOffset(TfliteSchema.OPERATOR_OPTIONS_2, laterOptions, 0);
    out.addOffset(TfliteSchema.OPERATOR_INPUTS, inputVector, 0);
    out.addOffset(TfliteSchema.OPERATOR_OUTPUTS, outputVector, 0);
    operators.add(out.endTable());
    return this;
  }

  /** Adds the operator added last once more: the same table, not a copy. */
  TfliteWriter sameOperator() {
    operators.add(operators.get(operators.size() - 1));
    return this;
  }

  /** Makes a subgraph of what was added since the last one. */
  TfliteWriter endSubgraph(int[] inputs, int[] outputs) {
    return endSubgraph("subgraph", inputs, outputs);
  }

  private TfliteWriter endSubgraph(String subgraph, int[] inputs, int[] outputs) {
    int inputVector = vector(inputs);
    int outputVector = vector(outputs);
    int tensorVector = tables(tensors);
    int operatorVector = tables(operators);
    int name = out.createString(subgraph);
    out.startTable(5);
    out.addOffset(TfliteSchema.SUBGRAPH_TENSORS, tensorVector, 0);
    out.addOffset(TfliteSchema.SUBGRAPH_INPUTS, inputVector, 0);
    out.addOffset(TfliteSchema.SUBGRAPH_OUTPUTS, outputVector, 0);
    out.addOffset(TfliteSchema.SUBGRAPH_OPERATORS, operatorVector, 0);
    out.addOffset(4, name, 0);
    subgraphs.add(out.endTable());
    tensors.clear();
    operators.clear();
    return this;
  }

  /** Ends the model. */
  public byte[] finish() {
    return finish(TfliteSchema.VERSION, TfliteSchema.IDENTIFIER);
  }

  /** Ends the model with another version or mark. */
  byte[] finish(int version, String identifier) {
    int subgraphVector = tables(subgraphs);
    int bufferVector = tables(buffers);
    int description = out.createString("written by a test");
    int codeVector = tables(codes);
    int metadataVector = metadata.isEmpty() ? 0 : tables(metadata);
    out.startTable(8);
    out.addInt(TfliteSchema.MODEL_VERSION, version, 0);
    out.addOffset(TfliteSchema.MODEL_OPERATOR_CODES, codeVector, 0);
    out.addOffset(TfliteSchema.MODEL_SUBGRAPHS, subgraphVector, 0);
    out.addOffset(3, description, 0);
    out.addOffset(TfliteSchema.MODEL_BUFFERS, bufferVector, 0);
    out.addOffset(TfliteSchema.MODEL_METADATA, metadataVector, 0);
    out.finish(out.endTable(), identifier);
    return out.sizedByteArray();
  }

  private int vector(int[] values) {
    out.startVector(4, values.length, 4);
    for (int i = values.length - 1; i >= 0; i--) {
      out.addInt(values[i]);
    }
    return out.endVector();
  }

  private int tables(List<Integer> offsets) {
    return out.createVectorOfTables(ints(offsets));
  }
}
