package io.prmalloc.tflite;

import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import io.prmalloc.plan.arena.InvalidGraphException;
import io.prmalloc.plan.arena.TensorKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads a model of TensorFlow Lite as a graph.
 *
 * <p>Tensors become what TensorFlow Lite's interpreter makes of them: one whose buffer has data is
 * {@link TensorKind#CONSTANT}, a variable {@link TensorKind#PERSISTENT}, a string or a handle
 * {@link TensorKind#DYNAMIC} with 0 bytes, every other {@link TensorKind#ARENA} with the bytes of
 * its shape, in which an unknown dimension counts 1. A tensor of no bytes that nothing produces is
 * a constant too. Scratch memory of operators is not in such files.
 *
 * <p>Threading: any thread.
 */
public final class TfliteReader {

  // FlatBuffers' runtime trusts what it reads, so it is asked only for where fields lie, inside
  // tables that FlatTable has checked.

  private static final String SUBGRAPHS = "subgraphs";
  private static final String BUFFERS = "buffers";

  private final FlatFile file;
  private final FlatTable model;
  private final FlatTable subgraph;
  private final FlatTable.Vector buffers;
  private final long fileBytes;
  private final List<Tensor> tensors = new ArrayList<>();
  private final List<Integer> variables = new ArrayList<>();

  private TfliteReader(FlatFile file, long fileBytes, int subgraph) {
    this.file = file;
    this.fileBytes = fileBytes;
    checkHeader();
    this.model = FlatTable.root(file);
    long version = model.unsignedInt(TfliteSchema.MODEL_VERSION, "version");
    if (version != TfliteSchema.VERSION) {
      throw file.error(
          "version", version + " is not the one that is known, " + TfliteSchema.VERSION);
    }
    FlatTable.Vector subgraphs = model.tables(TfliteSchema.MODEL_SUBGRAPHS, SUBGRAPHS);
    if (subgraph >= subgraphs.count()) {
      throw file.error(
          SUBGRAPHS,
          "there is no subgraph " + subgraph + "; there are " + subgraphs.count() + ", from 0");
    }
    this.subgraph = model.element(subgraphs, subgraph, SUBGRAPHS);
    this.buffers = model.tables(TfliteSchema.MODEL_BUFFERS, BUFFERS);
    checkTables(TfliteSchema.MODEL_OPERATOR_CODES, "operatorCodes");
    checkTables(TfliteSchema.MODEL_METADATA, "metadata");
    for (int i = 0; i < buffers.count(); i++) {
      dataBytes(model.element(buffers, i, BUFFERS));
    }
  }

  /** Nothing of these tables is needed, but a file that is cut short often lacks them. */
  private void checkTables(int field, String name) {
    FlatTable.Vector tables = model.tables(field, name);
    for (int i = 0; i < tables.count(); i++) {
      model.element(tables, i, name);
    }
  }

  /**
   * Whether bytes are the begin of a model, by the mark that every model has.
   *
   * <p>Threading: any thread.
   *
   * @param start the first bytes of a file, any number
   */
  public static boolean isModel(byte[] start) {
    byte[] mark = TfliteSchema.IDENTIFIER.getBytes(StandardCharsets.US_ASCII);
    int from = TfliteSchema.IDENTIFIER_OFFSET;
    return start.length >= TfliteSchema.HEADER_LENGTH
        && Arrays.equals(start, from, from + mark.length, mark, 0, mark.length);
  }

  /**
   * Reads a file. It is mapped, not loaded: constants cost nothing. Of a file over 2 GiB only the
   * first 2 GiB are looked at, where everything but constants lies.
   *
   * <p>Threading: any thread.
   *
   * @param subgraph which of the model's graphs, from 0; 0 is the main one
   * @throws TfliteFormatException if the file is no model, is cut short, points outside itself,
   *     holds a shape that overflows, or what it describes is no graph; the message names the file
   *     and the place
   * @throws IllegalArgumentException if {@code subgraph} is negative
   * @throws UncheckedIOException if the file is not there or cannot be read
   */
  public static Graph read(Path path, int subgraph) {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      long size = channel.size();
      ByteBuffer bytes =
          channel.map(FileChannel.MapMode.READ_ONLY, 0, Math.min(size, Integer.MAX_VALUE));
      return read(path.toString(), bytes, size, subgraph);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads the bytes of a model.
   *
   * <p>Threading: any thread.
   *
   * @param name what errors call the file
   * @param bytes the file, or its first 2 GiB
   * @param fileBytes how many bytes the file has
   * @throws TfliteFormatException as {@link #read(Path, int)} does
   * @throws IllegalArgumentException if {@code subgraph} is negative
   */
  public static Graph read(String name, ByteBuffer bytes, long fileBytes, int subgraph) {
    if (subgraph < 0) {
      throw new IllegalArgumentException("subgraph " + subgraph + " is negative; the least is 0");
    }
    return new TfliteReader(new FlatFile(name, bytes), fileBytes, subgraph).graph();
  }

  private void checkHeader() {
    ByteBuffer bytes = file.bytes();
    byte[] start = new byte[Math.min(bytes.limit(), TfliteSchema.HEADER_LENGTH)];
    bytes.get(0, start);
    if (start.length < TfliteSchema.HEADER_LENGTH) {
      throw file.error("", "is cut short: it has " + start.length + " bytes");
    }
    if (!isModel(start)) {
      throw file.error("", "is no model of TensorFlow Lite: it does not have the mark TFL3");
    }
  }

  private Graph graph() {
    FlatTable.Vector tables = subgraph.tables(TfliteSchema.SUBGRAPH_TENSORS, "tensors");
    for (int i = 0; i < tables.count(); i++) {
      readTensor(subgraph.element(tables, i, "tensors"), i);
    }
    List<Node> nodes = new ArrayList<>();
    FlatTable.Vector operators = subgraph.tables(TfliteSchema.SUBGRAPH_OPERATORS, "operators");
    for (int i = 0; i < operators.count(); i++) {
      FlatTable operator = subgraph.element(operators, i, "operators");
      nodes.add(
          new Node(
              indices(operator, TfliteSchema.OPERATOR_INPUTS, "inputs"),
              indices(operator, TfliteSchema.OPERATOR_OUTPUTS, "outputs"),
              List.of()));
    }
    List<Integer> inputs = indices(subgraph, TfliteSchema.SUBGRAPH_INPUTS, "inputs");
    List<Integer> outputs = indices(subgraph, TfliteSchema.SUBGRAPH_OUTPUTS, "outputs");
    makeConstants(inputs, nodes);
    try {
      return new Graph(tensors, nodes, inputs, outputs, variables);
    } catch (InvalidGraphException invalid) {
      String place = invalid.place().replaceFirst("^nodes", "operators");
      throw file.error(subgraph.place(place), invalid.what());
    }
  }

  private static List<Integer> indices(FlatTable table, int field, String name) {
    return Arrays.stream(table.ints(field, name)).boxed().toList();
  }

  private void readTensor(FlatTable tensor, int index) {
    int number = tensor.byteValue(TfliteSchema.TENSOR_TYPE, "type");
    ElementType type = ElementType.ofNumber(number);
    if (type == null) {
      throw file.error(tensor.place("type"), number + " is no type that is known");
    }
    String name = tensor.string(TfliteSchema.TENSOR_NAME, "name");
    boolean variable = tensor.byteValue(TfliteSchema.TENSOR_IS_VARIABLE, "isVariable") != 0;
    long shapeBytes = shapeBytes(tensor, type);
    long dataBytes = constantBytes(tensor);
    if (variable && (dataBytes > 0 || !type.hasSize())) {
      throw file.error(
          tensor.place("isVariable"),
          dataBytes > 0 ? "a variable cannot have data" : "a variable cannot be of type " + type);
    }
    if (variable) {
      variables.add(index);
    }
    if (dataBytes > 0) {
      tensors.add(new Tensor(dataBytes, TensorKind.CONSTANT, name));
    } else if (!type.hasSize()) {
      tensors.add(new Tensor(0, TensorKind.DYNAMIC, name));
    } else {
      TensorKind kind = variable ? TensorKind.PERSISTENT : TensorKind.ARENA;
      tensors.add(new Tensor(shapeBytes, kind, name));
    }
  }

  private long shapeBytes(FlatTable tensor, ElementType type) {
    int[] shape = tensor.ints(TfliteSchema.TENSOR_SHAPE, "shape");
    boolean empty = false;
    for (int i = 0; i < shape.length; i++) {
      if (shape[i] < 0) {
        throw file.error(tensor.place("shape") + "[" + i + "]", shape[i] + " is negative");
      }
      empty |= shape[i] == 0;
    }
    if (empty || !type.hasSize()) {
      return 0;
    }
    long elements = 1;
    for (int dimension : shape) {
      // The smallest element has half a byte.
      boolean overflows = elements > 2 * Graph.MAX_TENSOR_BYTES / dimension;
      elements *= dimension;
      if (overflows || type.bytes(elements) > Graph.MAX_TENSOR_BYTES) {
        throw file.error(
            tensor.place("shape"),
            describe(shape) + " of " + type + " is more than " + Graph.MAX_TENSOR_BYTES + " bytes");
      }
    }
    return type.bytes(elements);
  }

  private static String describe(int[] shape) {
    return shape.length <= 8
        ? Arrays.toString(shape)
        : Arrays.toString(Arrays.copyOf(shape, 8)).replace("]", ", …]");
  }

  /** Bytes of the data in a tensor's buffer, 0 if it has none. */
  private long constantBytes(FlatTable tensor) {
    long index = tensor.unsignedInt(TfliteSchema.TENSOR_BUFFER, "buffer");
    if (index >= buffers.count()) {
      // Old writers leave the list out where nothing is constant.
      if (index == 0) {
        return 0;
      }
      throw file.error(
          tensor.place("buffer"), "there is no buffer " + index + " of " + buffers.count());
    }
    return dataBytes(model.element(buffers, (int) index, BUFFERS));
  }

  private long dataBytes(FlatTable buffer) {
    int inside = buffer.unreadVector(TfliteSchema.BUFFER_DATA, 1, "data").count();
    if (inside > 0) {
      return inside;
    }
    long offset = buffer.longValue(TfliteSchema.BUFFER_OFFSET, "offset");
    long size = buffer.longValue(TfliteSchema.BUFFER_SIZE, "size");
    if (offset == 0 || offset == 1) {
      return 0;
    }
    if (offset < 0 || size < 0 || offset > fileBytes || size > fileBytes - offset) {
      throw file.error(
          buffer.place("offset"),
          Long.toUnsignedString(size)
              + " bytes at "
              + Long.toUnsignedString(offset)
              + " are not inside the file, which has "
              + fileBytes
              + " bytes");
    }
    return size;
  }

  /** Tensors of no bytes that nothing produces: constants whose data is empty. */
  private void makeConstants(List<Integer> inputs, List<Node> nodes) {
    boolean[] produced = new boolean[tensors.size()];
    note(inputs, produced);
    note(variables, produced);
    for (Node node : nodes) {
      note(node.outputs(), produced);
    }
    for (int i = 0; i < produced.length; i++) {
      Tensor tensor = tensors.get(i);
      if (!produced[i] && tensor.bytes() == 0 && tensor.kind() == TensorKind.ARENA) {
        tensors.set(i, new Tensor(0, TensorKind.CONSTANT, tensor.name()));
      }
    }
  }

  private static void note(List<Integer> indices, boolean[] noted) {
    for (int index : indices) {
      if (index >= 0 && index < noted.length) {
        noted[index] = true;
      }
    }
  }
}
