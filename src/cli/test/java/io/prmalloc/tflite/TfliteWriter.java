package io.prmalloc.tflite;

import com.google.flatbuffers.FlatBufferBuilder;
import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes models as TensorFlow Lite does, for tests: subgraph by subgraph, and in each first the
 * tensors, then the operators.
 *
 * <p>Threading: one thread at a time.
 */
public final class TfliteWriter {

  private final FlatBufferBuilder out = new FlatBufferBuilder(1024);
  private final List<Integer> buffers = new ArrayList<>();
  private final int code;
  private final List<Integer> subgraphs = new ArrayList<>();
  private final List<Integer> tensors = new ArrayList<>();
  private final List<Integer> operators = new ArrayList<>();

  /** Starts a model whose buffer 0 is empty, as convention has it. */
  public TfliteWriter() {
    // First here is last in the file, as in real ones: the kind of all operators, custom.
    out.startTable(4);
    out.addByte(0, (byte) 32, (byte) 0);
    code = out.endTable();
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

  private static int[] ints(List<Integer> list) {
    return list.stream().mapToInt(Integer::intValue).toArray();
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
    int shapeVector = vector(shape);
    int nameString = out.createString(name);
    // With the quantization's slot, as real models have it.
    out.startTable(10);
    out.addOffset(TfliteSchema.TENSOR_SHAPE, shapeVector, 0);
    out.addByte(TfliteSchema.TENSOR_TYPE, (byte) type, 0);
    out.addInt(TfliteSchema.TENSOR_BUFFER, buffer, 0);
    out.addOffset(TfliteSchema.TENSOR_NAME, nameString, 0);
    out.addBoolean(TfliteSchema.TENSOR_IS_VARIABLE, variable, false);
    tensors.add(out.endTable());
    return this;
  }

  /** Adds an operator. */
  TfliteWriter operator(int[] inputs, int[] outputs) {
    int inputVector = vector(inputs);
    int outputVector = vector(outputs);
    out.startTable(9);
    out.addInt(0, 0, 0);
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
    int inputVector = vector(inputs);
    int outputVector = vector(outputs);
    int tensorVector = tables(tensors);
    int operatorVector = tables(operators);
    int name = out.createString("subgraph");
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
    int codeVector = out.createVectorOfTables(new int[] {code});
    out.startTable(8);
    out.addInt(TfliteSchema.MODEL_VERSION, version, 0);
    out.addOffset(TfliteSchema.MODEL_OPERATOR_CODES, codeVector, 0);
    out.addOffset(TfliteSchema.MODEL_SUBGRAPHS, subgraphVector, 0);
    out.addOffset(3, description, 0);
    out.addOffset(TfliteSchema.MODEL_BUFFERS, bufferVector, 0);
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
