package io.prmalloc.tflite;

import io.prmalloc.model.GraphModel;
import io.prmalloc.model.GraphModel.NodeNote;
import io.prmalloc.model.GraphModel.Origin;
import io.prmalloc.model.GraphModel.TensorNote;
import io.prmalloc.model.ModelFormatException;
import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import io.prmalloc.plan.arena.InvalidGraphException;
import io.prmalloc.plan.arena.TensorKind;
import io.prmalloc.tflite.TfliteSubgraph.TfliteOperator;
import io.prmalloc.tflite.TfliteSubgraph.TfliteTensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Reads a model of TensorFlow Lite as graphs.
 *
 * <p>What each tensor becomes is what TensorFlow Lite's interpreter makes of it: one whose buffer
 * has data is {@link TensorKind#CONSTANT}, a variable {@link TensorKind#PERSISTENT}, a string or a
 * handle {@link TensorKind#DYNAMIC} with 0 bytes, every other {@link TensorKind#ARENA} with the
 * bytes of its shape. A tensor of no bytes that nothing produces is a constant too. What {@code
 * DEQUANTIZE} and {@code DENSIFY} make of constants is {@link TensorKind#PERSISTENT}: their kernels
 * write it once, when the model is prepared. A tensor that a custom operator reads and nothing
 * produces is that operator's scratch memory, as accelerators have it. Offsets of an offline plan
 * are fixed. Scratch memory that operators ask for when they are prepared is not in such files.
 *
 * <p>Threading: any thread.
 */
public final class TfliteReader {

  // FlatBuffers' runtime trusts what it reads, so it is asked only for where fields lie, inside
  // tables that FlatTable has checked.

  private static final String SUBGRAPHS = "subgraphs";
  private static final String BUFFERS = "buffers";
  private static final int MAX_CALL_DEPTH = 64;

  /** TensorFlow Lite's own. */
  private static final long ALIGNMENT = 64;

  private final FlatFile file;
  private final FlatTable model;
  private final FlatTable.Vector buffers;
  private final long fileBytes;
  private final List<FlatTable> codes;
  private final List<TfliteSubgraph> subgraphs = new ArrayList<>();

  /**
   * Reads the tables of a file.
   *
   * @param fileBytes how many bytes the file has
   */
  TfliteReader(FlatFile file, long fileBytes) {
    this.file = file;
    this.fileBytes = fileBytes;
    checkHeader();
    this.model = FlatTable.root(file);
    long version = model.unsignedInt(TfliteSchema.MODEL_VERSION, "version");
    if (version != TfliteSchema.VERSION) {
      throw file.error(
          "version", version + " is not the one that is known, " + TfliteSchema.VERSION);
    }
    this.buffers = model.tables(TfliteSchema.MODEL_BUFFERS, BUFFERS);
    this.codes = tables(TfliteSchema.MODEL_OPERATOR_CODES, "operatorCodes");
    for (int i = 0; i < buffers.count(); i++) {
      data(model.element(buffers, i, BUFFERS));
    }
    for (FlatTable table : tables(TfliteSchema.MODEL_SUBGRAPHS, SUBGRAPHS)) {
      subgraphs.add(readSubgraph(table, subgraphs.size()));
    }
  }

  private List<FlatTable> tables(int field, String name) {
    FlatTable.Vector vector = model.tables(field, name);
    List<FlatTable> tables = new ArrayList<>();
    for (int i = 0; i < vector.count(); i++) {
      tables.add(model.element(vector, i, name));
    }
    return tables;
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
   * Reads one graph of a file, in which an open dimension has the size that the file assumes.
   *
   * <p>Threading: any thread.
   *
   * @param subgraph which of the model's graphs, from 0; 0 is the main one
   * @throws ModelFormatException as {@link #readModel(Path, int, Map)} does
   * @throws IllegalArgumentException if {@code subgraph} is negative
   * @throws UncheckedIOException if the file is not there or cannot be read
   */
  public static Graph read(Path path, int subgraph) {
    return readModel(path, subgraph, Map.of()).parts().get(subgraph).graph();
  }

  /**
   * Reads all graphs of a file. It is mapped, not loaded: constants cost nothing. Of a file over 2
   * GiB only the first 2 GiB are looked at, where everything but constants lies.
   *
   * <p>Threading: any thread.
   *
   * @param subgraph whose inputs the shapes are of, from 0; 0 is the main one
   * @param shapes of inputs by name, or by index; they are carried through the graph and those it
   *     calls; dimensions from 0 on
   * @return all subgraphs, in the file's order, and what is assumed of them
   * @throws ModelFormatException if the file is no model, is cut short, points outside itself,
   *     holds a shape that overflows, calls in a circle or more than 64 deep, what it describes is
   *     no graph, or an operator stops the shapes; the message names the file and the place
   * @throws IllegalArgumentException if {@code subgraph} is negative, or a shape is of no input or
   *     does not fit it
   * @throws UncheckedIOException if the file is not there or cannot be read
   */
  public static GraphModel readModel(Path path, int subgraph, Map<String, List<Integer>> shapes) {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      long size = channel.size();
      ByteBuffer bytes =
          channel.map(FileChannel.MapMode.READ_ONLY, 0, Math.min(size, Integer.MAX_VALUE));
      return readModel(path.toString(), bytes, size, subgraph, shapes);
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
   * @throws ModelFormatException as {@link #readModel(Path, int, Map)} does
   * @throws IllegalArgumentException as {@link #readModel(Path, int, Map)} does
   */
  public static GraphModel readModel(
      String name,
      ByteBuffer bytes,
      long fileBytes,
      int subgraph,
      Map<String, List<Integer>> shapes) {
    if (subgraph < 0) {
      throw new IllegalArgumentException("subgraph " + subgraph + " is negative; the least is 0");
    }
    return new TfliteReader(new FlatFile(name, bytes), fileBytes).model(subgraph, shapes);
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

  // ---- the file

  /** The subgraphs as the file has them. */
  List<TfliteSubgraph> subgraphs() {
    return subgraphs;
  }

  private TfliteSubgraph readSubgraph(FlatTable table, int index) {
    FlatTable.Vector vector = table.tables(TfliteSchema.SUBGRAPH_TENSORS, "tensors");
    List<TfliteTensor> tensors = new ArrayList<>();
    for (int i = 0; i < vector.count(); i++) {
      tensors.add(readTensor(table.element(vector, i, "tensors")));
    }
    vector = table.tables(TfliteSchema.SUBGRAPH_OPERATORS, "operators");
    List<TfliteOperator> operators = new ArrayList<>();
    for (int i = 0; i < vector.count(); i++) {
      operators.add(readOperator(table.element(vector, i, "operators")));
    }
    return new TfliteSubgraph(
        SUBGRAPHS + "[" + index + "]",
        table.string(TfliteSchema.SUBGRAPH_NAME, "name"),
        tensors,
        operators,
        indices(table, TfliteSchema.SUBGRAPH_INPUTS, "inputs"),
        indices(table, TfliteSchema.SUBGRAPH_OUTPUTS, "outputs"));
  }

  private static List<Integer> indices(FlatTable table, int field, String name) {
    return Arrays.stream(table.ints(field, name)).boxed().toList();
  }

  private TfliteTensor readTensor(FlatTable tensor) {
    int number = tensor.byteValue(TfliteSchema.TENSOR_TYPE, "type");
    ElementType type = ElementType.ofNumber(number);
    if (type == null) {
      throw file.error(tensor.place("type"), number + " is no type that is known");
    }
    String name = tensor.string(TfliteSchema.TENSOR_NAME, "name");
    boolean variable = tensor.byteValue(TfliteSchema.TENSOR_IS_VARIABLE, "isVariable") != 0;
    List<Integer> shape = indices(tensor, TfliteSchema.TENSOR_SHAPE, "shape");
    for (int i = 0; i < shape.size(); i++) {
      if (shape.get(i) < 0) {
        throw file.error(tensor.place("shape") + "[" + i + "]", shape.get(i) + " is negative");
      }
    }
    List<Integer> signature =
        indices(tensor, TfliteSchema.TENSOR_SHAPE_SIGNATURE, "shapeSignature");
    Data data = constant(tensor);
    if (variable && (data.bytes > 0 || !type.hasSize())) {
      throw file.error(
          tensor.place("isVariable"),
          data.bytes > 0 ? "a variable cannot have data" : "a variable cannot be of type " + type);
    }
    boolean open = signature.size() == shape.size() && signature.contains(-1);
    return new TfliteTensor(
        tensor.place(),
        name,
        type,
        shape,
        open,
        open ? signature : shape,
        variable,
        data.bytes,
        data.at);
  }

  /** Data in the file; {@code at} is 0 where it lies outside of what is mapped. */
  private record Data(long bytes, long at) {}

  private static final Data NO_DATA = new Data(0, 0);

  private Data constant(FlatTable tensor) {
    long index = tensor.unsignedInt(TfliteSchema.TENSOR_BUFFER, "buffer");
    if (index >= buffers.count()) {
      // Old writers leave the list out where nothing is constant.
      if (index == 0) {
        return NO_DATA;
      }
      throw file.error(
          tensor.place("buffer"), "there is no buffer " + index + " of " + buffers.count());
    }
    return data(model.element(buffers, (int) index, BUFFERS));
  }

  private Data data(FlatTable buffer) {
    FlatTable.Vector inside = buffer.unreadVector(TfliteSchema.BUFFER_DATA, 1, "data");
    if (inside.count() > 0) {
      return new Data(inside.count(), inside.start());
    }
    long offset = buffer.longValue(TfliteSchema.BUFFER_OFFSET, "offset");
    long size = buffer.longValue(TfliteSchema.BUFFER_SIZE, "size");
    if (offset == 0 || offset == 1) {
      return NO_DATA;
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
    return new Data(size, offset + size <= file.bytes().limit() ? offset : 0);
  }

  private TfliteOperator readOperator(FlatTable operator) {
    String place = operator.place();
    long index = operator.unsignedInt(TfliteSchema.OPERATOR_CODE, "opcodeIndex");
    if (index >= codes.size()) {
      throw file.error(
          operator.place("opcodeIndex"),
          "there is no operator code " + index + " of " + codes.size());
    }
    FlatTable code = codes.get((int) index);
    int number =
        Math.max(
            code.byteValue(TfliteSchema.CODE_OLD, "deprecatedBuiltinCode"),
            code.intValue(TfliteSchema.CODE_NUMBER, 0, "builtinCode"));
    BuiltinOperator kind = BuiltinOperator.ofNumber(number);
    String name = kind == null ? "operator " + number : kind.name();
    if (kind == BuiltinOperator.CUSTOM) {
      String custom = code.string(TfliteSchema.CODE_CUSTOM_NAME, "customCode");
      name = custom.isEmpty() ? name : custom;
    }
    FlatTable options = operator.table(TfliteSchema.OPERATOR_OPTIONS, "builtinOptions");
    return new TfliteOperator(
        place,
        kind,
        name,
        indices(operator, TfliteSchema.OPERATOR_INPUTS, "inputs"),
        indices(operator, TfliteSchema.OPERATOR_OUTPUTS, "outputs"),
        options,
        calls(kind, options, operator));
  }

  private static List<Integer> calls(BuiltinOperator kind, FlatTable options, FlatTable operator) {
    if (kind == null) {
      return List.of();
    }
    return switch (kind) {
      case IF, WHILE ->
          options == null
              ? List.of(0, 0)
              : List.of(options.intValue(0, 0, "first"), options.intValue(1, 0, "second"));
      case CALL, CALL_ONCE -> List.of(options == null ? 0 : options.intValue(0, 0, "subgraph"));
      case STABLEHLO_COMPOSITE -> {
        FlatTable later = operator.table(TfliteSchema.OPERATOR_OPTIONS_2, "builtinOptions2");
        yield List.of(later == null ? 0 : later.intValue(1, 0, "decompositionSubgraphIndex"));
      }
      case STABLEHLO_WHILE -> {
        FlatTable later = operator.table(TfliteSchema.OPERATOR_OPTIONS_2, "builtinOptions2");
        yield later == null
            ? List.of(0, 0)
            : List.of(later.intValue(0, 0, "first"), later.intValue(1, 0, "second"));
      }
      default -> List.of();
    };
  }

  /**
   * The offsets of an offline plan, one for each tensor of all subgraphs; null if there is none.
   */
  private int[] offlineOffsets() {
    int[] offsets = null;
    for (FlatTable metadata : tables(TfliteSchema.MODEL_METADATA, "metadata")) {
      if (metadata.string(TfliteSchema.METADATA_NAME, "name").equals(TfliteSchema.OFFLINE_PLAN)) {
        offsets = offlineOffsets(metadata);
      }
    }
    return offsets;
  }

  private int[] offlineOffsets(FlatTable metadata) {
    String place = metadata.place("buffer");
    long index = metadata.unsignedInt(TfliteSchema.METADATA_BUFFER, "buffer");
    if (index >= buffers.count()) {
      throw file.error(place, "there is no buffer " + index + " of " + buffers.count());
    }
    Data data = data(model.element(buffers, (int) index, BUFFERS));
    int at = (int) data.at;
    long tensors = subgraphs.stream().mapToLong(subgraph -> subgraph.tensors().size()).sum();
    if (at == 0 || data.bytes < 12) {
      throw file.error(place, "an offline plan of " + data.bytes + " bytes; the least is 12");
    }
    int count = file.bytes().getInt(at + 8);
    if (count != tensors || data.bytes < 12 + 4 * tensors) {
      throw file.error(
          place,
          "an offline plan for "
              + count
              + " tensors in "
              + data.bytes
              + " bytes; the model has "
              + tensors
              + " tensors");
    }
    int[] offsets = new int[count];
    for (int i = 0; i < count; i++) {
      offsets[i] = file.bytes().getInt(at + 12 + 4 * i);
      if (offsets[i] < -1) {
        throw file.error(place, "offset " + offsets[i] + " of tensor " + i + "; the least is -1");
      }
    }
    return offsets;
  }

  // ---- graphs

  private GraphModel model(int chosen, Map<String, List<Integer>> shapes) {
    if (chosen >= subgraphs.size() || subgraphs.isEmpty()) {
      throw file.error(
          SUBGRAPHS,
          "there is no subgraph " + chosen + "; there are " + subgraphs.size() + ", from 0");
    }
    int[] offsets = offlineOffsets();
    checkCalls();
    ShapeInference inference = new ShapeInference(file, subgraphs);
    List<GraphModel.Part> parts = parts(inference, offsets);
    if (!shapes.isEmpty()) {
      // The graphs are sound now, so that every index has its tensor.
      inference.run(chosen, byTensor(subgraphs.get(chosen), shapes));
      parts = parts(inference, offsets);
    }
    return new GraphModel(parts, ALIGNMENT, warnings(inference, chosen));
  }

  private List<GraphModel.Part> parts(ShapeInference inference, int[] offsets) {
    List<GraphModel.Part> parts = new ArrayList<>();
    int before = 0;
    for (int i = 0; i < subgraphs.size(); i++) {
      int tensors = subgraphs.get(i).tensors().size();
      int[] own = offsets == null ? null : Arrays.copyOfRange(offsets, before, before + tensors);
      parts.add(part(i, inference, own));
      before += tensors;
    }
    return parts;
  }

  private GraphModel.Part part(int index, ShapeInference inference, int[] offsets) {
    TfliteSubgraph subgraph = subgraphs.get(index);
    List<TfliteTensor> from = subgraph.tensors();
    Origin[] origins = origins(subgraph);
    boolean[] produced = produced(subgraph);
    List<Tensor> tensors = new ArrayList<>();
    List<TensorNote> notes = new ArrayList<>();
    List<Integer> variables = new ArrayList<>();
    for (int i = 0; i < from.size(); i++) {
      TfliteTensor tensor = from.get(i);
      List<Integer> shape = inference.shape(index, i);
      long bytes = tensor.isConstant() ? tensor.dataBytes() : bytes(tensor, shape);
      TensorKind kind = TensorKind.ARENA;
      if (tensor.isConstant() || (bytes == 0 && tensor.type().hasSize() && !produced[i])) {
        kind = TensorKind.CONSTANT;
      } else if (!tensor.type().hasSize()) {
        kind = TensorKind.DYNAMIC;
      } else if (tensor.isVariable() || origins[i] == Origin.PREPARED) {
        kind = TensorKind.PERSISTENT;
      }
      if (tensor.isVariable()) {
        variables.add(i);
      }
      long offset =
          offsets == null || kind != TensorKind.ARENA ? Graph.ANYWHERE : (long) offsets[i];
      tensors.add(new Tensor(bytes, kind, tensor.name(), offset));
      notes.add(
          new TensorNote(
              tensor.type().name(),
              shape.stream().map(String::valueOf).collect(Collectors.joining("x")),
              origins[i]));
    }
    List<Node> nodes = new ArrayList<>();
    List<NodeNote> nodeNotes = new ArrayList<>();
    for (TfliteOperator operator : subgraph.operators()) {
      nodes.add(new Node(operator.inputs(), operator.outputs(), List.of()));
      nodeNotes.add(new NodeNote(operator.name(), operator.calls()));
    }
    try {
      Graph graph =
          new Graph(
              tensors,
              withScratch(nodes, origins),
              subgraph.inputs(),
              subgraph.outputs(),
              variables);
      return new GraphModel.Part(subgraph.name(), graph, nodeNotes, notes);
    } catch (InvalidGraphException invalid) {
      String place = invalid.place().replaceFirst("^nodes", "operators");
      throw file.error(subgraph.place() + "." + place, invalid.what());
    }
  }

  /** What something fills: inputs, variables, outputs of operators. */
  private static boolean[] produced(TfliteSubgraph subgraph) {
    boolean[] produced = new boolean[subgraph.tensors().size()];
    note(subgraph.inputs(), produced);
    for (TfliteOperator operator : subgraph.operators()) {
      note(operator.outputs(), produced);
    }
    for (int i = 0; i < produced.length; i++) {
      produced[i] |= subgraph.tensors().get(i).isVariable();
    }
    return produced;
  }

  private static void note(List<Integer> indices, boolean[] noted) {
    for (int index : indices) {
      if (index >= 0 && index < noted.length) {
        noted[index] = true;
      }
    }
  }

  private static Origin[] origins(TfliteSubgraph subgraph) {
    List<TfliteTensor> tensors = subgraph.tensors();
    Origin[] origins = new Origin[tensors.size()];
    Arrays.fill(origins, Origin.GRAPH);
    boolean[] produced = produced(subgraph);
    for (TfliteOperator operator : subgraph.operators()) {
      if (operator.kind() == BuiltinOperator.CUSTOM) {
        for (int input : operator.inputs()) {
          if (input >= 0
              && input < origins.length
              && !produced[input]
              && !tensors.get(input).isConstant()
              && !tensors.get(input).shape().contains(0)
              && tensors.get(input).type().hasSize()) {
            origins[input] = Origin.SCRATCH;
          }
        }
      } else if (isPrepared(operator, tensors, origins)) {
        origins[operator.outputs().get(0)] = Origin.PREPARED;
      }
    }
    return origins;
  }

  /** Whether a kernel writes its output once, when the model is prepared. */
  private static boolean isPrepared(
      TfliteOperator operator, List<TfliteTensor> tensors, Origin[] origins) {
    if ((operator.kind() != BuiltinOperator.DEQUANTIZE
            && operator.kind() != BuiltinOperator.DENSIFY)
        || operator.inputs().size() != 1
        || operator.outputs().size() != 1) {
      return false;
    }
    int input = operator.inputs().get(0);
    int output = operator.outputs().get(0);
    return input >= 0
        && input < origins.length
        && output >= 0
        && output < origins.length
        && tensors.get(output).type().hasSize()
        && !tensors.get(output).isVariable()
        && !tensors.get(output).isConstant()
        && (tensors.get(input).isConstant() || origins[input] == Origin.PREPARED);
  }

  /**
   * Scratch memory is a temporary of the one node that reads it; of several it is born at the first
   * of them and dies at the last.
   */
  private static List<Node> withScratch(List<Node> nodes, Origin[] origins) {
    if (Arrays.stream(origins).noneMatch(origin -> origin == Origin.SCRATCH)) {
      return nodes;
    }
    int[] first = new int[origins.length];
    int[] last = new int[origins.length];
    Arrays.fill(first, -1);
    for (int i = 0; i < nodes.size(); i++) {
      for (int input : nodes.get(i).inputs()) {
        if (isScratch(input, origins)) {
          first[input] = first[input] < 0 ? i : first[input];
          last[input] = i;
        }
      }
    }
    List<Node> changed = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      List<Integer> inputs = new ArrayList<>();
      Set<Integer> born = new LinkedHashSet<>();
      Set<Integer> temporaries = new LinkedHashSet<>();
      for (int input : nodes.get(i).inputs()) {
        if (!isScratch(input, origins) || first[input] != i) {
          inputs.add(input);
        } else {
          (last[input] == i ? temporaries : born).add(input);
        }
      }
      List<Integer> outputs = new ArrayList<>(nodes.get(i).outputs());
      outputs.addAll(born);
      changed.add(new Node(inputs, outputs, List.copyOf(temporaries)));
    }
    return changed;
  }

  private static boolean isScratch(int tensor, Origin[] origins) {
    return tensor >= 0 && tensor < origins.length && origins[tensor] == Origin.SCRATCH;
  }

  private long bytes(TfliteTensor tensor, List<Integer> shape) {
    ElementType type = tensor.type();
    if (shape.contains(0) || !type.hasSize()) {
      return 0;
    }
    long elements = 1;
    for (int dimension : shape) {
      // The smallest element has half a byte.
      boolean overflows = elements > 2 * Graph.MAX_TENSOR_BYTES / dimension;
      elements *= dimension;
      if (overflows || type.bytes(elements) > Graph.MAX_TENSOR_BYTES) {
        throw file.error(
            tensor.place() + ".shape",
            describe(shape) + " of " + type + " is more than " + Graph.MAX_TENSOR_BYTES + " bytes");
      }
    }
    return type.bytes(elements);
  }

  /** A shape for people, cut if it is long. */
  static String describe(List<Integer> shape) {
    return shape.size() <= 8
        ? shape.toString()
        : shape.subList(0, 8).toString().replace("]", ", …]");
  }

  // ---- calls

  private void checkCalls() {
    int[] depths = new int[subgraphs.size()];
    for (int i = 0; i < depths.length; i++) {
      for (TfliteOperator operator : subgraphs.get(i).operators()) {
        for (int callee : operator.calls()) {
          if (callee < 0 || callee >= depths.length) {
            throw file.error(
                operator.place(),
                operator.name() + " calls subgraph " + callee + " of " + depths.length);
          }
        }
      }
    }
    for (int i = 0; i < depths.length; i++) {
      depth(i, depths, 1);
    }
  }

  /** How deep calls go from a subgraph on, 1 if it calls none; 0 in the list is not known yet. */
  private int depth(int subgraph, int[] depths, int above) {
    if (depths[subgraph] == 0) {
      int deepest = 0;
      for (TfliteOperator operator : subgraphs.get(subgraph).operators()) {
        for (int callee : operator.calls()) {
          if (above + depths[callee] >= MAX_CALL_DEPTH) {
            throw file.error(
                operator.place(),
                operator.name() + " calls more than " + MAX_CALL_DEPTH + " deep, or in a circle");
          }
          deepest = Math.max(deepest, depth(callee, depths, above + 1));
        }
      }
      depths[subgraph] = deepest + 1;
    }
    return depths[subgraph];
  }

  // ---- shapes that a user sets

  private Map<Integer, List<Integer>> byTensor(
      TfliteSubgraph subgraph, Map<String, List<Integer>> shapes) {
    Map<Integer, List<Integer>> byTensor = new HashMap<>();
    shapes.forEach(
        (name, shape) -> {
          int input = input(subgraph, name);
          checkFits(subgraph.tensors().get(input), name, shape);
          if (byTensor.put(input, shape) != null) {
            throw new IllegalArgumentException(
                "--shape " + name + ": input " + input + " has a shape already");
          }
        });
    return byTensor;
  }

  private static int input(TfliteSubgraph subgraph, String name) {
    List<TfliteTensor> tensors = subgraph.tensors();
    List<Integer> inputs = subgraph.inputs().stream().filter(input -> input >= 0).toList();
    // Converters put `:0` behind names.
    for (String spelled : List.of(name, name + ":0")) {
      for (int input : inputs) {
        if (tensors.get(input).name().equals(spelled)) {
          return input;
        }
      }
    }
    for (int input : inputs) {
      if (Integer.toString(input).equals(name)) {
        return input;
      }
    }
    throw new IllegalArgumentException(
        "--shape "
            + name
            + " is of no input; there are "
            + inputs.stream()
                .limit(8)
                .map(input -> input + " (" + tensors.get(input).name() + ")")
                .collect(Collectors.joining(", ")));
  }

  private static void checkFits(TfliteTensor tensor, String name, List<Integer> shape) {
    boolean fits = !tensor.isOpen() || shape.size() == tensor.signature().size();
    for (int i = 0; fits && tensor.isOpen() && i < shape.size(); i++) {
      fits = tensor.signature().get(i) == -1 || tensor.signature().get(i).equals(shape.get(i));
    }
    if (!fits) {
      throw new IllegalArgumentException(
          "--shape "
              + name
              + ": "
              + describe(shape)
              + " does not fit the model's "
              + describe(tensor.signature())
              + ", where -1 is open");
    }
  }

  private List<String> warnings(ShapeInference inference, int chosen) {
    List<String> warnings = new ArrayList<>();
    for (int s = 0; s < subgraphs.size(); s++) {
      TfliteSubgraph subgraph = subgraphs.get(s);
      int index = s;
      List<Integer> open =
          IntStream.range(0, subgraph.tensors().size())
              .filter(tensor -> inference.isAssumed(index, tensor))
              .boxed()
              .toList();
      Set<Integer> given = new HashSet<>(subgraph.inputs());
      List<Integer> inputs = open.stream().filter(given::contains).toList();
      String where = subgraphs.size() == 1 ? "" : subgraph.place() + ": ";
      for (int input : inputs.subList(0, Math.min(3, inputs.size()))) {
        warnings.add(where + assumed("input", subgraph, input, s == chosen));
      }
      if (inputs.isEmpty() && !open.isEmpty()) {
        warnings.add(
            where
                + open.size()
                + (open.size() == 1 ? " shape is" : " shapes are")
                + " known only as the model runs: "
                + assumed("tensor", subgraph, open.get(0), false));
      }
    }
    return warnings;
  }

  private static String assumed(String what, TfliteSubgraph subgraph, int index, boolean canBeSet) {
    TfliteTensor tensor = subgraph.tensors().get(index);
    return what
        + " "
        + index
        + " ("
        + (tensor.name().length() > 80 ? tensor.name().substring(0, 80) + "…" : tensor.name())
        + ") has the open shape "
        + describe(tensor.signature())
        + ", which counts as "
        + describe(tensor.shape())
        + (canBeSet ? "; --shape sets it" : "");
  }
}
