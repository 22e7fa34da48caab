package io.prmalloc.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.model.GraphModel;
import io.prmalloc.model.ModelFormatException;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.arena.ArenaOptions;
import io.prmalloc.plan.arena.ArenaPlanner;
import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import io.prmalloc.plan.arena.TensorKind;
import io.prmalloc.trace.MobileNetGraphs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TfliteReaderTest {

  private static final int[] NONE = {};

  @TempDir private Path directory;

  private static int[] of(int... indices) {
    return indices;
  }

  private static Graph read(byte[] model) {
    return model(model, Map.of()).parts().get(0).graph();
  }

  private static GraphModel model(byte[] model, Map<String, List<Integer>> shapes) {
    return TfliteReader.readModel("m.tflite", ByteBuffer.wrap(model), model.length, 0, shapes);
  }

  private static void assertWrong(String message, byte[] model) {
    ModelFormatException wrong = assertThrows(ModelFormatException.class, () -> read(model));
    assertEquals("m.tflite: " + message, wrong.getMessage());
    assertEquals("m.tflite", wrong.file());
  }

  /** A subgraph of one tensor, which is its input. */
  private static byte[] oneTensor(ElementType type, int... shape) {
    return new TfliteWriter().tensor("t", type, 0, shape).endSubgraph(of(0), NONE).finish();
  }

  @Test
  void shouldReadTheGraphWhenAModelHasEverything() {
    TfliteWriter writer = new TfliteWriter();
    int weights = writer.buffer(new byte[36]);
    int outside = writer.outsideBuffer(20, 30);
    byte[] model =
        writer
            .tensor("image", ElementType.FLOAT32, 0, 1, 8, 8, 3)
            .tensor("weights", ElementType.FLOAT32, weights, 3, 3)
            .variable("state", ElementType.INT16, 5)
            .tensor("text", ElementType.STRING, 0, 7)
            .tensor("axes", ElementType.INT32, 0, 0)
            .tensor("out", ElementType.INT8, 0, 2, 5)
            .tensor("elsewhere", ElementType.INT8, outside, 30)
            .tensor("scalar", ElementType.FLOAT64, 0)
            .operator(of(0, 1, 2, -1, 4, 6), of(3, 7, -1))
            .operator(of(7, 3), of(5))
            .endSubgraph(of(0), of(5))
            .finish();

    assertEquals(
        new Graph(
            List.of(
                new Tensor(768, TensorKind.ARENA, "image"),
                new Tensor(36, TensorKind.CONSTANT, "weights"),
                new Tensor(10, TensorKind.PERSISTENT, "state"),
                new Tensor(0, TensorKind.DYNAMIC, "text"),
                new Tensor(0, TensorKind.CONSTANT, "axes"),
                new Tensor(10, TensorKind.ARENA, "out"),
                new Tensor(30, TensorKind.CONSTANT, "elsewhere"),
                new Tensor(8, TensorKind.ARENA, "scalar")),
            List.of(
                new Node(List.of(0, 1, 2, -1, 4, 6), List.of(3, 7, -1), List.of()),
                new Node(List.of(7, 3), List.of(5), List.of())),
            List.of(0),
            List.of(5),
            List.of(2)),
        read(model));
  }

  @Test
  void shouldReadTheSubgraphWhenItIsChosen() throws IOException {
    byte[] model =
        new TfliteWriter()
            .tensor("main", ElementType.INT8, 0, 10)
            .endSubgraph(of(0), NONE)
            .tensor("body", ElementType.INT8, 0, 20)
            .endSubgraph(of(0), NONE)
            .finish();
    Path file = Files.write(directory.resolve("two.tflite"), model);

    assertEquals("main", TfliteReader.read(file, 0).tensors().get(0).name());
    assertEquals("body", TfliteReader.read(file, 1).tensors().get(0).name());
    assertEquals(
        file + ": subgraphs: there is no subgraph 2; there are 2, from 0",
        assertThrows(ModelFormatException.class, () -> TfliteReader.read(file, 2)).getMessage());
    assertEquals(
        "subgraph -1 is negative; the least is 0",
        assertThrows(IllegalArgumentException.class, () -> TfliteReader.read(file, -1))
            .getMessage());
    Path absent = directory.resolve("absent.tflite");
    assertThrows(UncheckedIOException.class, () -> TfliteReader.read(absent, 0));
  }

  @Test
  void shouldKnowTheSizeWhenAnElementTypeHasOne() {
    long[] bytes = {28, 14, 28, 7, 56, 0, 7, 14, 56, 7, 56, 112, 56, 0, 0, 28, 14, 4, 14};
    assertEquals(ElementType.values().length, bytes.length);
    for (ElementType type : ElementType.values()) {
      Tensor tensor = read(oneTensor(type, 7)).tensors().get(0);
      assertEquals(bytes[type.number()], tensor.bytes(), type.name());
      assertEquals(
          type.hasSize() ? TensorKind.ARENA : TensorKind.DYNAMIC, tensor.kind(), type.name());
    }
  }

  @Test
  void shouldRefuseAShapeWhenItOverflowsOrIsNegative() {
    int most = Integer.MAX_VALUE;
    assertWrong(
        "subgraphs[0].tensors[0].shape: [2147483647, 2147483647, 2147483647] of INT8 is more than"
            + " 1099511627776 bytes",
        oneTensor(ElementType.INT8, most, most, most));
    assertWrong(
        "subgraphs[0].tensors[0].shape: [65536, 65536, 65536, 65536] of INT4 is more than"
            + " 1099511627776 bytes",
        oneTensor(ElementType.INT4, 65536, 65536, 65536, 65536));
    assertWrong(
        "subgraphs[0].tensors[0].shape: [1048576, 1048577] of UINT8 is more than 1099511627776"
            + " bytes",
        oneTensor(ElementType.UINT8, 1 << 20, (1 << 20) + 1));
    assertWrong(
        "subgraphs[0].tensors[0].shape[1]: -1 is negative", oneTensor(ElementType.INT8, 4, -1));
    assertEquals(
        1L << 40, read(oneTensor(ElementType.UINT8, 1 << 20, 1 << 20)).tensors().get(0).bytes());
    assertEquals(
        0, read(oneTensor(ElementType.INT64, most, most, most, 0)).tensors().get(0).bytes());
  }

  @Test
  void shouldRefuseWhenTheFileIsNoModel() {
    assertWrong("is cut short: it has 0 bytes", new byte[0]);
    assertWrong("is cut short: it has 7 bytes", new byte[7]);
    assertWrong(
        "is no model of TensorFlow Lite: it does not have the mark TFL3",
        "{\"inputs\": []}".getBytes(StandardCharsets.UTF_8));
    TfliteWriter other = new TfliteWriter().endSubgraph(NONE, NONE);
    assertWrong("version: 4 is not the one that is known, 3", other.finish(4, "TFL3"));
    assertWrong(
        "subgraphs: there is no subgraph 0; there are 0, from 0", new TfliteWriter().finish());
  }

  @Test
  void shouldRefuseWhenATensorIsImpossible() {
    assertWrong(
        "subgraphs[0].tensors[0].type: 19 is no type that is known",
        new TfliteWriter().tensor("t", 19, 0, false, 1).endSubgraph(NONE, NONE).finish());
    assertWrong(
        "subgraphs[0].tensors[0].type: -1 is no type that is known",
        new TfliteWriter().tensor("t", -1, 0, false, 1).endSubgraph(NONE, NONE).finish());
    assertWrong(
        "subgraphs[0].tensors[0].buffer: there is no buffer 1 of 1",
        new TfliteWriter().tensor("t", ElementType.INT8, 1, 1).endSubgraph(NONE, NONE).finish());
    assertWrong(
        "subgraphs[0].tensors[0].isVariable: a variable cannot be of type STRING",
        new TfliteWriter().variable("t", ElementType.STRING).endSubgraph(NONE, NONE).finish());
    TfliteWriter writer = new TfliteWriter();
    int data = writer.buffer(new byte[1]);
    assertWrong(
        "subgraphs[0].tensors[0].isVariable: a variable cannot have data",
        writer
            .tensor("t", ElementType.INT8.number(), data, true, 1)
            .endSubgraph(NONE, NONE)
            .finish());
    writer = new TfliteWriter();
    int outside = writer.outsideBuffer(100, 5000);
    byte[] model =
        writer.tensor("t", ElementType.INT8, outside, 1).endSubgraph(NONE, NONE).finish();
    assertWrong(
        "buffers[1].offset: 5000 bytes at 100 are not inside the file, which has "
            + model.length
            + " bytes",
        model);
  }

  @Test
  void shouldNameThePlaceWhenWhatItDescribesIsNoGraph() {
    assertWrong(
        "subgraphs[0].operators[0].inputs[1]: tensor 7 does not exist; the graph has 2 tensors",
        twoTensors().operator(of(0, 7), of(1)).endSubgraph(of(0), of(1)).finish());
    assertWrong(
        "subgraphs[0].operators[1].outputs[0]: tensor 1 is produced a second time; it is an output"
            + " of node 0 already",
        twoTensors().operator(of(0), of(1)).sameOperator().endSubgraph(of(0), of(1)).finish());
    assertWrong(
        "subgraphs[0].operators[0].inputs[0]: tensor 0 is read but never produced",
        twoTensors().operator(BuiltinOperator.ADD, of(0), of(1)).endSubgraph(NONE, of(1)).finish());
    assertWrong(
        "subgraphs[0].inputs[0]: tensor -5 is below -1, which is an absent tensor",
        twoTensors().endSubgraph(of(-5), NONE).finish());
  }

  private static TfliteWriter twoTensors() {
    return new TfliteWriter()
        .tensor("a", ElementType.INT8, 0, 4)
        .tensor("b", ElementType.INT8, 0, 4);
  }

  @Test
  void shouldCountAsPersistentWhenKernelsMakeItOfConstants() {
    TfliteWriter writer = new TfliteWriter();
    int half = writer.buffer(new byte[20]);
    byte[] model =
        writer
            .tensor("sparse", ElementType.FLOAT16, half, 2, 10)
            .tensor("dense", ElementType.FLOAT16, 0, 2, 10)
            .tensor("wide", ElementType.FLOAT32, 0, 2, 10)
            .tensor("bias", ElementType.FLOAT16, half, 10)
            .tensor("wide bias", ElementType.FLOAT32, 0, 10)
            .tensor("in", ElementType.FLOAT16, 0, 10)
            .tensor("wide in", ElementType.FLOAT32, 0, 10)
            .operator(BuiltinOperator.DENSIFY, of(0), of(1))
            .operator(BuiltinOperator.DEQUANTIZE, of(1), of(2))
            .operator(BuiltinOperator.DEQUANTIZE, of(3), of(4))
            .operator(BuiltinOperator.DEQUANTIZE, of(5), of(6))
            .endSubgraph(of(5), of(6))
            .finish();

    GraphModel read = model(model, Map.of());

    GraphModel.Part part = read.parts().get(0);
    assertEquals(
        List.of("CONSTANT", "PERSISTENT", "PERSISTENT", "CONSTANT", "PERSISTENT", "ARENA", "ARENA"),
        part.graph().tensors().stream().map(tensor -> tensor.kind().name()).toList());
    assertEquals(
        List.of("GRAPH", "PREPARED", "PREPARED", "GRAPH", "PREPARED", "GRAPH", "GRAPH"),
        part.tensors().stream().map(note -> note.origin().name()).toList());
    try (ArenaPlanner planner = ArenaPlanner.onPaper(part.graph(), ArenaOptions.DEFAULT)) {
      planner.executeAllocations();
      // 40, 80 and 40 bytes; each begins at a multiple of 64.
      assertEquals(128 + 64 + 40, planner.persistentBytes());
    }
  }

  @Test
  void shouldLiveAtItsReadersWhenACustomOperatorReadsWhatNothingWrites() {
    byte[] model =
        new TfliteWriter()
            .tensor("in", ElementType.INT8, 0, 8)
            .tensor("scratch", ElementType.UINT8, 0, 100)
            .tensor("shared", ElementType.UINT8, 0, 60)
            .tensor("mid", ElementType.INT8, 0, 8)
            .tensor("out", ElementType.INT8, 0, 8)
            .tensor("late", ElementType.INT8, 0, 8)
            .custom("ethos-u", of(0, 1, 2, -1), of(3))
            .operator(BuiltinOperator.RELU, of(3), of(4))
            .custom("ethos-u", of(4, 2), of(5))
            .endSubgraph(of(0), of(5))
            .finish();

    GraphModel.Part part = model(model, Map.of()).parts().get(0);

    assertEquals(new Node(List.of(0, -1), List.of(3, 2), List.of(1)), part.graph().nodes().get(0));
    assertEquals(new Node(List.of(4, 2), List.of(5), List.of()), part.graph().nodes().get(2));
    assertEquals("ethos-u", part.nodes().get(2).operator());
    var lives = part.graph().usageRecords(ArenaOptions.DEFAULT);
    assertEquals(new TensorUsageRecord(100, 0, 0), lives.get(1));
    assertEquals(new TensorUsageRecord(60, 0, 2), lives.get(2));
  }

  @Test
  void shouldKeepOffsetsWhenTheModelHasAnOfflinePlan() {
    byte[] model =
        twoTensors()
            .operator(of(0), of(1))
            .endSubgraph(of(0), of(1))
            .tensor("other", ElementType.INT8, 0, 4)
            .endSubgraph(of(0), NONE)
            .metadata("OfflineMemoryAllocation", 0, 1, 3, 64, -1, 7)
            .finish();

    GraphModel read = model(model, Map.of());

    assertEquals(
        List.of(64L, -1L),
        read.parts().get(0).graph().tensors().stream().map(Tensor::fixedOffset).toList());
    assertEquals(7, read.parts().get(1).graph().tensors().get(0).fixedOffset());
    assertWrong(
        "metadata[0].buffer: an offline plan for 2 tensors in 20 bytes; the model has 3 tensors",
        twoTensors()
            .tensor("c", ElementType.INT8, 0, 4)
            .endSubgraph(of(0), NONE)
            .metadata("OfflineMemoryAllocation", 0, 1, 2, 0, 0)
            .finish());
    assertWrong(
        "metadata[0].buffer: an offline plan for 2 tensors in 16 bytes; the model has 2 tensors",
        twoTensors()
            .endSubgraph(of(0), NONE)
            .metadata("OfflineMemoryAllocation", 0, 1, 2, 0)
            .finish());
    assertWrong(
        "metadata[0].buffer: an offline plan of 8 bytes; the least is 12",
        twoTensors().endSubgraph(of(0), NONE).metadata("OfflineMemoryAllocation", 0, 1).finish());
    assertWrong(
        "metadata[0].buffer: offset -2 of tensor 1; the least is -1",
        twoTensors()
            .endSubgraph(of(0), NONE)
            .metadata("OfflineMemoryAllocation", 0, 1, 2, 0, -2)
            .finish());
  }

  @Test
  void shouldKnowWhatIsCalledWhenAModelHasControlFlow() {
    byte[] model =
        twoTensors()
            .operator(BuiltinOperator.IF, of(0, 0), of(1), 1, 2)
            .operator(BuiltinOperator.CALL_ONCE, NONE, NONE, 2)
            .operator(BuiltinOperator.STABLEHLO_COMPOSITE, of(0), NONE, 0, 1)
            .endSubgraph(of(0), of(1))
            .tensor("a", ElementType.INT8, 0, 4)
            .endSubgraph(of(0), of(0))
            .tensor("b", ElementType.INT8, 0, 4)
            .endSubgraph(of(0), of(0))
            .finish();

    assertEquals(
        List.of(
            new GraphModel.NodeNote("IF", List.of(1, 2)),
            new GraphModel.NodeNote("CALL_ONCE", List.of(2)),
            new GraphModel.NodeNote("STABLEHLO_COMPOSITE", List.of(1))),
        model(model, Map.of()).parts().get(0).nodes());
    assertWrong(
        "subgraphs[0].operators[0]: WHILE calls subgraph 7 of 1",
        twoTensors()
            .operator(BuiltinOperator.WHILE, of(0), of(1), 0, 7)
            .endSubgraph(of(0), of(1))
            .finish());
    assertWrong(
        "subgraphs[0].operators[0]: CALL calls more than 64 deep, or in a circle",
        twoTensors()
            .operator(BuiltinOperator.CALL, of(0), of(1), 0)
            .endSubgraph(of(0), of(1))
            .finish());
    TfliteWriter chain = new TfliteWriter();
    for (int i = 1; i < 66; i++) {
      chain.operator(BuiltinOperator.CALL, NONE, NONE, i).endSubgraph(NONE, NONE);
    }
    ModelFormatException deep =
        assertThrows(
            ModelFormatException.class, () -> read(chain.endSubgraph(NONE, NONE).finish()));
    assertTrue(deep.getMessage().endsWith("calls more than 64 deep, or in a circle"));
  }

  @Test
  void shouldRefuseWhenSharedPlacesMakeAModelLargerThanItsFile() {
    // 1,000 operators that are all the same one, with 1,000 inputs: a million indices in 8 KB.
    TfliteWriter writer = twoTensors().operator(new int[1000], NONE);
    for (int i = 1; i < 1000; i++) {
      writer.sameOperator();
    }
    byte[] model = writer.endSubgraph(of(0), NONE).finish();
    assertTrue(model.length < 10_000, "bytes: " + model.length);

    ModelFormatException wrong = assertThrows(ModelFormatException.class, () -> read(model));

    assertTrue(
        wrong
            .getMessage()
            .endsWith(
                ".inputs: the vectors up to here share places and sum to more than the file can"
                    + " hold"),
        wrong.getMessage());
  }

  @Test
  void shouldKnowAModelWhenItHasTheMark() {
    assertTrue(TfliteReader.isModel(oneTensor(ElementType.INT8, 1)));
    assertFalse(TfliteReader.isModel(new byte[100]));
    assertFalse(TfliteReader.isModel("1234TFL".getBytes(StandardCharsets.US_ASCII)));
    assertFalse(TfliteReader.isModel(new byte[0]));
  }

  @Test
  void shouldNeedThePublishedBytesWhenTheModelIsMobileNet() throws IOException {
    assertArena(1_204_224, MobileNetGraphs.v1());
    assertArena(1_505_280, MobileNetGraphs.v2());
  }

  private void assertArena(long bytes, Graph graph) throws IOException {
    Path file = Files.write(directory.resolve("net.tflite"), TfliteWriter.model(graph));
    Graph read = TfliteReader.read(file, 0);
    assertEquals(graph, read);
    try (ArenaPlanner planner = ArenaPlanner.onPaper(read, ArenaOptions.DEFAULT)) {
      planner.executeAllocations();
      assertEquals(bytes, planner.arenaBytes());
    }
  }
}
