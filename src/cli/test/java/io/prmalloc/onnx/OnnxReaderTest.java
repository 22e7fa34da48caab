package io.prmalloc.onnx;

import static io.prmalloc.onnx.OnnxWriter.body;
import static io.prmalloc.onnx.OnnxWriter.ints;
import static io.prmalloc.onnx.OnnxWriter.model;
import static io.prmalloc.onnx.OnnxWriter.one;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.model.GraphModel;
import io.prmalloc.model.ModelFormatException;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.arena.ArenaOptions;
import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import io.prmalloc.plan.arena.TensorKind;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OnnxReaderTest {

  @TempDir private Path directory;

  private static Optional<String> warning(GraphModel model) {
    return model.warnings().isEmpty()
        ? Optional.empty()
        : Optional.of(String.join("; ", model.warnings()));
  }

  private static GraphModel read(byte[] model, Map<String, List<Integer>> shapes) {
    return OnnxReader.read("m.onnx", new ByteArrayInputStream(model), shapes);
  }

  private static GraphModel read(Consumer<OnnxWriter> graph) {
    return read(model(13, graph), Map.of());
  }

  private static long bytes(Graph graph, String name) {
    Tensor tensor =
        graph.tensors().stream().filter(t -> t.name().equals(name)).findFirst().orElseThrow();
    assertEquals(TensorKind.ARENA, tensor.kind(), name);
    return tensor.bytes();
  }

  private static void assertWrong(String message, byte[] model) {
    ModelFormatException wrong =
        assertThrows(ModelFormatException.class, () -> read(model, Map.of()));
    assertEquals("m.onnx: " + message, wrong.getMessage());
    assertEquals("m.onnx", wrong.file());
  }

  private static void assertWrong(String message, Consumer<OnnxWriter> graph) {
    assertWrong(message, model(13, graph));
  }

  /** Convolution and pooling, then a shape computed as exporters do, then a matrix product. */
  private static void classifier(OnnxWriter graph) {
    graph
        .input("image", "batchx3x8x8")
        .weight("kernel", 4, 3, 3, 3)
        .weight("matrix", 64, 10)
        .list("first", 0)
        .list("rest", -1)
        .node("Conv", "image,kernel", "conv", ints("pads", 1, 1, 1, 1))
        .node("Relu", "conv", "relu")
        .node("MaxPool", "relu", "pool", ints("kernel_shape", 2, 2), ints("strides", 2, 2))
        .node("Shape", "pool", "shape")
        .node("Gather", "shape,first", "batch")
        .node("Concat", "batch,rest", "wanted", one("axis", 0))
        .node("Reshape", "pool,wanted", "flat")
        .node("MatMul", "flat,matrix", "scores")
        .output("scores");
  }

  @Test
  void shouldHaveEveryValueInOrderWhenAModelIsRead() {
    GraphModel read = read(model(13, OnnxReaderTest::classifier), Map.of("batch", List.of(2)));

    assertEquals(Optional.empty(), warning(read));
    Graph graph = read.whole();
    assertEquals(
        List.of(
            new Tensor(2 * 3 * 64 * 4, TensorKind.ARENA, "image"),
            new Tensor(4 * 27 * 4, TensorKind.CONSTANT, "kernel"),
            new Tensor(64 * 10 * 4, TensorKind.CONSTANT, "matrix"),
            new Tensor(8, TensorKind.CONSTANT, "first"),
            new Tensor(8, TensorKind.CONSTANT, "rest"),
            new Tensor(2 * 4 * 64 * 4, TensorKind.ARENA, "conv"),
            new Tensor(2 * 4 * 64 * 4, TensorKind.ARENA, "relu"),
            new Tensor(2 * 4 * 16 * 4, TensorKind.ARENA, "pool"),
            new Tensor(4 * 8, TensorKind.ARENA, "shape"),
            new Tensor(8, TensorKind.ARENA, "batch"),
            new Tensor(2 * 8, TensorKind.ARENA, "wanted"),
            new Tensor(2 * 64 * 4, TensorKind.ARENA, "flat"),
            new Tensor(2 * 10 * 4, TensorKind.ARENA, "scores")),
        graph.tensors());
    assertEquals(List.of(0), graph.inputs());
    assertEquals(List.of(12), graph.outputs());
    assertEquals(new Node(List.of(0, 1), List.of(5), List.of()), graph.nodes().get(0));
    assertEquals(8, graph.nodes().size());
  }

  @Test
  void shouldSetDimensionsByNameOrInputWhenTheyAreOpen() {
    byte[] model =
        model(
            13,
            graph ->
                graph.input("a", "nxwidth").input("b", "?x4").node("Relu", "a", "c").output("c"));

    Graph graph = read(model, Map.of("a", List.of(2, 3), "b", List.of(5, 4))).whole();
    assertEquals(2 * 3 * 4, bytes(graph, "c"));
    assertEquals(5 * 4 * 4, bytes(graph, "b"));
    assertEquals(
        6 * 7 * 4,
        bytes(
            read(model, Map.of("n", List.of(6), "width", List.of(7), "b", List.of(1, 4))).whole(),
            "c"));

    assertRefused(
        "the model leaves the shape of 2 inputs open: `a` is nxwidth, `b` is ?x4; set it with"
            + " --shape INPUT=AxB, or a named dimension with --shape NAME=N",
        model,
        Map.of());
    assertRefused(
        "the model leaves the shape of an input open: `b` is ?x4; set it with --shape INPUT=AxB, or"
            + " a named dimension with --shape NAME=N",
        model,
        Map.of("a", List.of(2, 3)));
    assertRefused(
        "--shape a=2: the input has 2 dimensions: nxwidth", model, Map.of("a", List.of(2)));
    assertRefused(
        "--shape q=2: there is no input and no dimension of that name; inputs: `a`, `b`; dimensions:"
            + " `n`, `width`",
        model,
        Map.of("q", List.of(2)));
    assertRefused(
        "--shape n=2x3: that is the name of a dimension, which has one size",
        model,
        Map.of("n", List.of(2, 3)));
    assertRefused(
        "--shape n=1: dimension `n` would be both 2 and 1",
        model,
        Map.of("a", List.of(2, 3), "n", List.of(1)));
  }

  private static void assertRefused(
      String message, byte[] model, Map<String, List<Integer>> shapes) {
    assertEquals(
        "m.onnx: " + message,
        assertThrows(IllegalArgumentException.class, () -> read(model, shapes)).getMessage());
  }

  /** What the model states then does not hold any more. */
  @Test
  void shouldFollowTheOperatorsWhenAFixedShapeIsSet() {
    byte[] model =
        model(
            13,
            graph ->
                graph
                    .input("a", "1x3")
                    .node("Relu", "a", "b")
                    .node("Unheard", "b", "c")
                    .declared(OnnxSchema.GRAPH_VALUE_INFO, "b", OnnxType.FLOAT, "1x3")
                    .declared(OnnxSchema.GRAPH_OUTPUT, "c", OnnxType.FLOAT, "1x3"));

    assertEquals(Optional.empty(), warning(read(model, Map.of())));
    GraphModel set = read(model, Map.of("a", List.of(4, 3)));

    assertEquals(4 * 3 * 4, bytes(set.whole(), "b"));
    assertTrue(
        warning(set)
            .orElseThrow()
            .startsWith(
                "1 of 3 values has no known size and is not planned: `c`; shapes end at"
                    + " graph.node[1] (Unheard); ONNX's shape inference"),
        warning(set).orElseThrow());
  }

  @Test
  void shouldTellWhatIsLeftOutWhenShapesAreUnknown() {
    GraphModel read =
        read(
            graph ->
                graph
                    .input("a", "4x5")
                    .node("NonZero", "a", "places")
                    .node("Cast", "places", "b", one("to", 1))
                    .node("Relu", "a", "c")
                    .output("b")
                    .output("c"));

    assertTrue(
        warning(read)
            .orElseThrow()
            .startsWith(
                "2 of 4 values have no known size and are not planned: `places`, `b`; shapes"
                    + " end at graph.node[0] (NonZero); "),
        warning(read).orElseThrow());
    assertEquals(new Tensor(0, TensorKind.DYNAMIC, "places"), read.whole().tensors().get(1));
    assertEquals(80, bytes(read.whole(), "c"));
  }

  @Test
  void shouldTakeWhatIsStatedWhenAnOperatorHasNoRule() {
    GraphModel read =
        read(
            graph ->
                graph
                    .input("a", "4x5")
                    .node("Unheard", "a", "b")
                    .node("Relu", "b", "c")
                    .declared(OnnxSchema.GRAPH_VALUE_INFO, "b", OnnxType.DOUBLE, "7x2")
                    .output("c"));

    assertEquals(Optional.empty(), warning(read));
    assertEquals(7 * 2 * 8, bytes(read.whole(), "c"));
  }

  @Test
  void shouldTellWhenAModelStatesAnotherShape() {
    GraphModel read =
        read(
            graph ->
                graph
                    .input("a", "4x5")
                    .node("Transpose", "a", "b")
                    .declared(OnnxSchema.GRAPH_OUTPUT, "b", OnnxType.FLOAT, "4x6"));

    assertEquals(
        Optional.of(
            "1 value has another shape or type than the model states, and is taken as follows"
                + " from its operators: `b` (stated 4x6 of FLOAT, follows 5x4 of FLOAT)"),
        warning(read));
    assertEquals(80, bytes(read.whole(), "b"));
  }

  /** TensorFlow Lite's rule, that what nobody reads is never freed, is not ONNX Runtime's. */
  @Test
  void shouldEndALifeAtOnceWhenNobodyReadsAValue() {
    Graph graph =
        read(g ->
                g.input("a", "10")
                    .node("Dropout", "a", "b,mask")
                    .node("Relu", "b", "c")
                    .node("Relu", "c", "d")
                    .output("d"))
            .whole();

    Map<Integer, TensorUsageRecord> lives = graph.usageRecords(ArenaOptions.DEFAULT);
    assertEquals(new TensorUsageRecord(10, 0, 0), lives.get(2));
    assertEquals(new TensorUsageRecord(40, 0, 1), lives.get(1));
  }

  @Test
  void shouldRunBothBranchesWhenThereIsAnIf() {
    Graph graph =
        read(g ->
                g.input("a", "10")
                    .declared(OnnxSchema.GRAPH_INPUT, "condition", OnnxType.BOOL, "")
                    .node("Relu", "a", "b")
                    .node(
                        "If",
                        "condition",
                        "c",
                        body("then_branch", t -> t.node("Neg", "b", "t").output("t")),
                        body(
                            "else_branch",
                            e -> e.node("Abs", "b", "e1").node("Neg", "e1", "e").output("e")))
                    .node("Relu", "c", "d")
                    .output("d"))
            .whole();

    List<String> names = graph.tensors().stream().map(Tensor::name).toList();
    assertEquals(List.of("a", "condition", "b", "t", "e1", "e", "c", "d"), names);
    assertEquals(40, bytes(graph, "c"));
    assertEquals(6, graph.nodes().size());
    // The last branch that reads it ends its life.
    assertEquals(new TensorUsageRecord(40, 0, 2), graph.usageRecords(ArenaOptions.DEFAULT).get(2));
    assertEquals(new Node(List.of(1, 3, 5), List.of(6), List.of()), graph.nodes().get(4));
  }

  @Test
  void shouldKeepWhatALoopReadsWhenItComesBack() {
    GraphModel read =
        read(
            g ->
                g.list("rounds", 3)
                    .input("start", "10")
                    .input("step", "10")
                    .node(
                        "Loop",
                        "rounds,,start",
                        "end,all",
                        body(
                            "body",
                            b ->
                                b.declared(OnnxSchema.GRAPH_INPUT, "i", OnnxType.INT64, "")
                                    .declared(OnnxSchema.GRAPH_INPUT, "go", OnnxType.BOOL, "")
                                    .input("sum", "10")
                                    .node("Add", "sum,step", "next")
                                    .node("Identity", "go", "on")
                                    .node("Neg", "next", "seen")
                                    .output("on")
                                    .output("next")
                                    .output("seen")))
                    .output("end")
                    .output("all"));

    Graph graph = read.whole();
    int step = graph.tensors().stream().map(Tensor::name).toList().indexOf("step");
    // The body's inputs, three operators, and the loop itself.
    assertEquals(5, graph.nodes().size());
    assertEquals(4, graph.usageRecords(ArenaOptions.DEFAULT).get(step).lastTask());
    assertEquals(40, bytes(graph, "end"));
    assertTrue(warning(read).orElseThrow().contains("not planned: `all`"));
  }

  @Test
  void shouldStackWhatAScanGives() {
    Graph graph =
        read(g ->
                g.input("state", "4")
                    .input("rows", "7x5")
                    .node(
                        "Scan",
                        "state,rows",
                        "last,stacked",
                        one("num_scan_inputs", 1),
                        body(
                            "body",
                            b ->
                                b.input("s", null)
                                    .input("row", null)
                                    .node("Identity", "s", "s2")
                                    .node("Relu", "row", "row2")
                                    .output("s2")
                                    .output("row2")))
                    .output("last")
                    .output("stacked"))
            .whole();

    assertEquals(16, bytes(graph, "last"));
    assertEquals(20, bytes(graph, "row"));
    assertEquals(7 * 5 * 4, bytes(graph, "stacked"));
  }

  @Test
  void shouldNeedNoMemoryForConstantsWhenOperatorsHoldThem() {
    Graph graph =
        read(g ->
                g.input("a", "6x4")
                    .node(
                        "Constant",
                        "",
                        "k",
                        a ->
                            a.text(OnnxSchema.ATTRIBUTE_NAME, "value")
                                .message(OnnxSchema.ATTRIBUTE_TENSOR, t -> t.numbers("", 2, -1)))
                    .node("Reshape", "a,k", "b")
                    .output("b"))
            .whole();

    assertEquals(new Tensor(16, TensorKind.CONSTANT, "k"), graph.tensors().get(1));
    assertEquals(new Node(List.of(), List.of(), List.of()), graph.nodes().get(0));
    assertEquals(96, bytes(graph, "b"));
  }

  /** A hole in the file stands for weights: who reads them gets 1 GiB of zeros. */
  @Test
  void shouldPassOverWeightsWhenTheyAreLarge() throws IOException {
    int weightBytes = 1 << 30;
    byte[] head = {0x08, 8};
    byte[] weight = new OnnxWriter().tensor("w", OnnxType.INT8, weightBytes).finish();
    byte[] rest = new OnnxWriter().input("a", "5").node("Relu", "a", "b").output("b").finish();
    byte[] opset = new OnnxWriter().message(8, set -> set.whole(2, 13)).finish();
    int tensorBytes = weight.length + 6 + weightBytes;
    int graphBytes = 6 + tensorBytes + rest.length;
    Path path = directory.resolve("large.onnx");
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.write(head);
      file.write(lengthAndTag(OnnxSchema.MODEL_GRAPH, graphBytes));
      file.write(lengthAndTag(OnnxSchema.GRAPH_INITIALIZER, tensorBytes));
      file.write(weight);
      file.write(lengthAndTag(OnnxSchema.TENSOR_RAW_DATA, weightBytes));
      file.seek(file.getFilePointer() + weightBytes);
      file.write(rest);
      file.write(opset);
    }

    GraphModel read = OnnxReader.read(path, Map.of());

    assertEquals(20, bytes(read.whole(), "b"));
    assertEquals(new Tensor(weightBytes, TensorKind.CONSTANT, "w"), read.whole().tensors().get(1));
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.setLength(1L << 31);
    }
    assertEquals(
        path
            + ": has 2147483648 bytes, but a model has at most 2147483647; larger weights lie in"
            + " other files",
        assertThrows(ModelFormatException.class, () -> OnnxReader.read(path, Map.of()))
            .getMessage());
    Files.delete(path);
  }

  /** A field's tag and a length in five bytes. */
  private static byte[] lengthAndTag(int field, int length) {
    byte[] bytes = new byte[6];
    bytes[0] = (byte) ((field << 3) | 2);
    for (int i = 0; i < 5; i++) {
      bytes[1 + i] = (byte) (((length >>> (7 * i)) & 0x7f) | (i < 4 ? 0x80 : 0));
    }
    return bytes;
  }

  @Test
  void shouldTellModelsByTheirBegin() {
    assertTrue(OnnxReader.isModel(model(13, OnnxReaderTest::classifier)));
    assertFalse(OnnxReader.isModel(new byte[] {8, 8}));
    // A SavedModel of TensorFlow.
    assertFalse(OnnxReader.isModel(new byte[] {8, 1, 0x12}));
    assertFalse(OnnxReader.isModel("id,lower".getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void shouldNameThePlaceWhenAModelIsWrong() {
    assertWrong("is no ONNX model: it has no graph", new byte[0]);
    assertWrong("is no ONNX model: it has no graph", new byte[] {8, 8});
    assertWrong(
        "is no ONNX model: its ir_version is 2",
        new OnnxWriter().whole(1, 2).message(7, g -> {}).finish());
    assertWrong(
        "is cut short: there is no opset_import",
        new OnnxWriter().whole(1, 8).message(7, g -> {}).finish());
    assertWrong(
        "graph.node[0].input[1]: nothing before it gives `c`; operators must be in topological"
            + " order",
        g -> g.input("a", "2").node("Add", "a,c", "b").node("Relu", "a", "c").output("b"));
    assertWrong(
        "graph.output[0]: nothing before it gives `z`; operators must be in topological order",
        g -> g.input("a", "2").output("z"));
    assertWrong(
        "graph.node[1].output[0]: the name `b` is taken",
        g -> g.input("a", "2").node("Relu", "a", "b").node("Relu", "a", "b").output("b"));
    assertWrong(
        "graph.node[0]: Add: 2 and 3 do not fit each other",
        g -> g.input("a", "2").input("c", "3").node("Add", "a,c", "b").output("b"));
    assertWrong("graph: node[0] has no op_type", g -> g.message(1, n -> n.text(1, "a")));
    assertWrong(
        "graph.input[0].type.tensor_type.shape.dim[1]: -7 is negative", g -> g.input("a", "2x-7"));
    assertWrong(
        "graph.input[0]: 1048576x1048576x2 of FLOAT is more than 1099511627776 bytes",
        g -> g.input("a", "1048576x1048576x2"));
    assertWrong(
        "graph: initializer[0]: 8 bytes of data are not those of 2 of INT64, 16",
        g ->
            g.message(
                OnnxSchema.GRAPH_INITIALIZER,
                t ->
                    t.tensor("w", OnnxType.INT64, 2).raw(OnnxSchema.TENSOR_RAW_DATA, new byte[8])));
    assertWrong(
        "graph: field 1 has wire type 0 instead of 2",
        new OnnxWriter().whole(1, 8).message(7, g -> g.whole(1, 3)).finish());
  }
}
