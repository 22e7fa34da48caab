package io.prmalloc.plan.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SharedData;
import io.prmalloc.SubAllocator;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class ArenaPlannerTest {

  private static final ArenaOptions BY_FOUR = new ArenaOptions(false, false, 4, 64);

  private final SubAllocator source = SubAllocator.direct();

  @AfterEach
  void everyByteGoesBack() {
    assertEquals(0, source.bytesReserved());
  }

  /** A node of "inputs > outputs > temporaries". */
  private static Node node(String text) {
    String[] lists = text.split(">", -1);
    return new Node(list(lists[0]), list(lists[1]), list(lists[2]));
  }

  private static List<Integer> list(String text) {
    return text.isBlank()
        ? List.of()
        : Arrays.stream(text.strip().split(" ", -1)).map(Integer::valueOf).toList();
  }

  /** A graph whose tensor i has 3 (i + 1) bytes. */
  private static Graph graph(String inputs, String outputs, int tensors, String... nodes) {
    return new Graph(
        IntStream.range(0, tensors).mapToObj(i -> arena(3L * (i + 1))).toList(),
        Arrays.stream(nodes).map(ArenaPlannerTest::node).toList(),
        list(inputs),
        list(outputs),
        List.of());
  }

  private static Tensor arena(long bytes) {
    return new Tensor(bytes, TensorKind.ARENA);
  }

  private static Graph with(Graph graph, int tensor, Tensor replacement, Integer... variables) {
    List<Tensor> tensors = new ArrayList<>(graph.tensors());
    tensors.set(tensor, replacement);
    return new Graph(tensors, graph.nodes(), graph.inputs(), graph.outputs(), List.of(variables));
  }

  /** Every tensor's offset, "-" for none. */
  private static String offsets(ArenaPlanner planner) {
    return IntStream.range(0, planner.graph().tensors().size())
        .mapToObj(planner::offset)
        .map(offset -> offset.isPresent() ? Long.toString(offset.getAsLong()) : "-")
        .reduce((a, b) -> a + " " + b)
        .orElse("");
  }

  private static final Graph THREE_OPS =
      graph("0 1", "3", 6, "0 1 > 2 >", "2 0 > 4 > 5", "4 > 3 >");

  @TestFactory
  Stream<DynamicTest> shouldGiveTheReferencesOffsetsWhenTheGraphIsIts() throws IOException {
    JsonNode cases = new ObjectMapper().readTree(SharedData.path("expected/arena.json").toFile());
    assertTrue(cases.size() >= 5, "cases: " + cases.size());
    return Stream.iterate(0, i -> i + 1)
        .limit(cases.size())
        .map(cases::get)
        .map(
            example ->
                DynamicTest.dynamicTest(
                    example.get("name").asText(), () -> checkReference(example)));
  }

  private static void checkReference(JsonNode example) {
    ArenaOptions options =
        new ArenaOptions(
            example.get("preserveInputs").asBoolean(),
            example.get("preserveIntermediates").asBoolean(),
            example.get("alignment").asLong(),
            64);
    SubAllocator memory = SubAllocator.direct();
    try (ArenaPlanner planner = new ArenaPlanner(read(example.get("graph")), options, memory)) {
      if (example.get("execute").isNull()) {
        planner.executeAllocations();
      }
      for (JsonNode range : example.get("execute")) {
        planner.executeAllocations(range.get(0).asInt(), range.get(1).asInt());
      }
      assertEquals(example.get("highWaterMark").asLong(), planner.arenaBytes());
      assertEquals(planner.graph().tensors().size(), example.get("offsets").size());
      for (int i = 0; i < example.get("offsets").size(); i++) {
        JsonNode offset = example.get("offsets").get(Integer.toString(i));
        assertEquals(
            offset.isNull() ? OptionalLong.empty() : OptionalLong.of(offset.asLong()),
            planner.offset(i),
            "tensor " + i);
      }
    }
  }

  private static Graph read(JsonNode graph) {
    List<Tensor> tensors = new ArrayList<>();
    for (JsonNode tensor : graph.get("tensors")) {
      TensorKind kind = TensorKind.ofLabel(tensor.get("type").asText());
      tensors.add(new Tensor(tensor.get("bytes").asLong(), kind));
    }
    List<Node> nodes = new ArrayList<>();
    for (JsonNode node : graph.get("nodes")) {
      nodes.add(
          new Node(
              indices(node.get("inputs")),
              indices(node.get("outputs")),
              indices(node.get("temporaries"))));
    }
    return new Graph(
        tensors,
        nodes,
        indices(graph.get("inputs")),
        indices(graph.get("outputs")),
        indices(graph.get("variables")));
  }

  private static List<Integer> indices(JsonNode list) {
    List<Integer> indices = new ArrayList<>();
    list.forEach(index -> indices.add(index.asInt()));
    return indices;
  }

  private void assertOffsets(String offsets, long arenaBytes, Graph graph) {
    try (ArenaPlanner planner = new ArenaPlanner(graph, BY_FOUR, source)) {
      planner.executeAllocations();
      assertEquals(offsets, offsets(planner));
      assertEquals(arenaBytes, planner.arenaBytes());
      for (int i = 0; i < graph.tensors().size(); i++) {
        if (planner.buffer(i).isPresent()) {
          assertEquals(graph.tensors().get(i).bytes(), planner.buffer(i).get().capacity());
          assertEquals(0, planner.address(i).orElseThrow() % 4);
        }
      }
    }
  }

  @Test
  void shouldPlaceNothingWhenTheGraphIsEmpty() {
    assertOffsets("", 0, graph("", "", 0));
    assertOffsets("-", 0, graph("", "", 1));
  }

  @Test
  void shouldPlaceTheInputsWhenThereAreNoNodes() {
    assertOffsets("0 4 -", 10, graph("0 1", "2", 3));
  }

  @Test
  void shouldFillGapsWhenALargeTensorEnds() {
    // 1 has 40 bytes and ends early, so that 5, 4 and 3 fit where it was.
    Graph graph = graph("0 -1", "3", 6, "0 > 1 >", "1 > 2 >", "2 0 > 4 > 5", "4 -1 > 3 >");

    assertOffsets("52 0 40 0 20 0", 55, with(graph, 1, arena(40)));
  }

  @Test
  void shouldLeaveATensorAloneWhenItIsDynamicOrConstant() {
    Graph dynamic = with(THREE_OPS, 1, new Tensor(6, TensorKind.DYNAMIC));
    assertOffsets("48 - 36 0 20 0", 51, dynamic);
    Graph constant = with(THREE_OPS, 1, new Tensor(6, TensorKind.CONSTANT));
    assertOffsets("48 - 36 0 20 0", 51, constant);
  }

  @Test
  void shouldGiveOffsetZeroAndNoMemoryWhenATensorHasNoBytes() {
    try (ArenaPlanner planner = new ArenaPlanner(with(THREE_OPS, 4, arena(0)), BY_FOUR, source)) {
      planner.executeAllocations();

      assertEquals(OptionalLong.of(0), planner.offset(4));
      assertEquals(Optional.empty(), planner.buffer(4));
      assertEquals(OptionalLong.empty(), planner.address(4));
    }
  }

  @Test
  void shouldPlaceBesideTheKeptWhenLaterAllocationsWereReset() {
    try (ArenaPlanner planner = new ArenaPlanner(THREE_OPS, BY_FOUR, source)) {
      planner.executeAllocations();
      assertEquals("48 0 36 0 20 0", offsets(planner));

      planner.resetAllocationsAfter(0);
      assertEquals("48 0 36 - - -", offsets(planner));

      planner.executeAllocations(2, 2);
      assertEquals("48 0 36 0 - -", offsets(planner));
      planner.executeAllocations(1, 1);
      assertEquals("48 0 36 0 20 0", offsets(planner));
      planner.resetAllocationsAfter(2);
      assertEquals("48 0 36 0 20 0", offsets(planner));
    }
  }

  @Test
  void shouldKeepAddressAndContentOfPersistentTensorsWhateverHappens() {
    Graph graph = with(THREE_OPS, 5, new Tensor(18, TensorKind.PERSISTENT), 1);
    graph = with(graph, 1, new Tensor(6, TensorKind.PERSISTENT), 1);
    try (ArenaPlanner planner = new ArenaPlanner(graph, BY_FOUR, source)) {
      planner.executeAllocations(0, 0);
      assertEquals(6, planner.persistentBytes());
      long address = planner.address(1).orElseThrow();
      ByteBuffer variable = planner.buffer(1).orElseThrow();
      variable.put(5, (byte) 77);

      planner.executeAllocations(1, 2);
      assertEquals(26, planner.persistentBytes());
      assertEquals(OptionalLong.of(8), planner.offset(5));
      long late = planner.address(5).orElseThrow();
      planner.executeAllocations();
      planner.releaseNonPersistentMemory();
      planner.resetAllocationsAfter(-1);
      planner.executeAllocations();

      assertEquals("28 0 16 16 0 8", offsets(planner));
      assertEquals(OptionalLong.of(address), planner.address(1));
      assertEquals(OptionalLong.of(late), planner.address(5));
      assertEquals((byte) 77, planner.buffer(1).orElseThrow().get(5));
      assertEquals(26, planner.persistentBytes());
    }
  }

  @Test
  void shouldBeAsNewWhenTheGraphChanges() {
    try (ArenaPlanner planner = new ArenaPlanner(THREE_OPS, BY_FOUR, source)) {
      planner.executeAllocations();
      Graph pruned = graph("0 1", "3", 4, "0 1 > 3 >");

      planner.planAllocations(pruned);
      assertEquals("- - - -", offsets(planner));
      assertEquals(0, planner.arenaBytes());
      planner.executeAllocations();

      assertEquals("20 12 - 0", offsets(planner));
      assertEquals(23, planner.arenaBytes());
      assertEquals(51, source.bytesReserved(), "the memory of the larger graph is kept");
    }
  }

  @Test
  void shouldGiveMemoryBackAndTakeItAgainWhenReleasedAndAcquired() {
    try (ArenaPlanner planner = new ArenaPlanner(THREE_OPS, BY_FOUR, source)) {
      assertFalse(planner.hasNonPersistentMemory());
      planner.executeAllocations();
      assertTrue(planner.hasNonPersistentMemory());
      ByteBuffer before = planner.buffer(3).orElseThrow();
      before.put(0, (byte) 9);
      planner.acquireNonPersistentMemory();
      assertEquals((byte) 9, planner.buffer(3).orElseThrow().get(0), "nothing was to be taken");

      planner.releaseNonPersistentMemory();
      assertFalse(planner.hasNonPersistentMemory());
      assertEquals(0, source.bytesReserved());
      assertEquals("48 0 36 0 20 0", offsets(planner));
      assertThrows(IllegalStateException.class, () -> planner.buffer(3));
      assertThrows(IllegalStateException.class, () -> planner.address(3));

      planner.acquireNonPersistentMemory();
      assertTrue(planner.hasNonPersistentMemory());
      assertEquals(51, source.bytesReserved());
      assertEquals(12, planner.buffer(3).orElseThrow().capacity());
    }
  }

  @Test
  void shouldLeaveEveryPlaceWhenMemoryIsNotToBeHad() {
    SubAllocator little = SubAllocator.direct(60);
    Graph graph = graph("0 1", "4", 5, "0 1 > 2 >", "2 > 3 >", "3 2 > 4 >");
    try (ArenaPlanner planner = new ArenaPlanner(graph, BY_FOUR, little)) {
      planner.executeAllocations(0, 0);
      planner.buffer(2).orElseThrow().put(8, (byte) 3);
      String before = offsets(planner);
      assertEquals("20 12 0 - -", before);

      assertThrows(OutOfNativeMemoryException.class, () -> planner.executeAllocations(1, 2));
      assertEquals(before, offsets(planner));
      assertEquals(23, planner.arenaBytes());
      assertEquals(23, little.bytesReserved());
      assertEquals((byte) 3, planner.buffer(2).orElseThrow().get(8));

      // What comes next is placed as if nothing had been tried.
      planner.releaseNonPersistentMemory();
      planner.executeAllocations(1, 1);
      assertEquals("20 12 0 12 -", offsets(planner));
      assertEquals(24, planner.arenaBytes());
    }
    assertEquals(0, little.bytesReserved());
  }

  @Test
  void shouldRefuseWhenANodeIsOutOfBounds() {
    try (ArenaPlanner planner = ArenaPlanner.onPaper(THREE_OPS, BY_FOUR)) {
      assertRefused("first node -1 is not from 0 to 2", planner, -1, 0);
      assertRefused("first node 3 is not from 0 to 2", planner, 3, 3);
      assertRefused("last node 0 is not from 1 to 2", planner, 1, 0);
      assertRefused("last node 3 is not from 1 to 2", planner, 1, 3);
    }
  }

  private static void assertRefused(String message, ArenaPlanner planner, int first, int last) {
    assertEquals(
        message,
        assertThrows(IllegalArgumentException.class, () -> planner.executeAllocations(first, last))
            .getMessage());
    assertEquals("- - - - - -", offsets(planner));
  }

  @Test
  void shouldPlanAnySizeWhenOnPaper() {
    Graph huge = with(THREE_OPS, 4, arena(1L << 40));
    try (ArenaPlanner planner = ArenaPlanner.onPaper(huge, BY_FOUR)) {
      planner.executeAllocations();

      assertEquals((1L << 40) + 20 + 12 + 3, planner.arenaBytes());
      assertFalse(planner.hasNonPersistentMemory());
      assertThrows(IllegalStateException.class, () -> planner.buffer(4));
      assertThrows(IllegalStateException.class, planner::acquireNonPersistentMemory);
    }
    try (ArenaPlanner planner = new ArenaPlanner(huge, BY_FOUR, source)) {
      assertThrows(OutOfNativeMemoryException.class, planner::executeAllocations);
      assertEquals("- - - - - -", offsets(planner));
    }
  }

  @Test
  void shouldRefuseEverythingWhenClosed() {
    ArenaPlanner planner = new ArenaPlanner(THREE_OPS, BY_FOUR, source);
    planner.executeAllocations();
    planner.close();
    planner.close();

    assertEquals(0, source.bytesReserved());
    assertThrows(IllegalStateException.class, planner::executeAllocations);
    assertThrows(IllegalStateException.class, () -> planner.planAllocations(THREE_OPS));
    assertThrows(IllegalStateException.class, planner::resetAllocations);
    assertThrows(IllegalStateException.class, () -> planner.resetAllocationsAfter(0));
    assertThrows(IllegalStateException.class, planner::releaseNonPersistentMemory);
    assertThrows(IllegalStateException.class, planner::acquireNonPersistentMemory);
    assertThrows(IllegalStateException.class, () -> planner.offset(0));
    assertThrows(IllegalStateException.class, () -> planner.buffer(0));
  }

  @Test
  void shouldCheckAlignmentsWhenOptionsAreMade() {
    assertEquals(
        "tensorAlignment: alignment 3 is not a power of two from 1 to 1073741824",
        assertThrows(IllegalArgumentException.class, () -> new ArenaOptions(false, false, 3, 64))
            .getMessage());
    assertEquals(
        "arenaAlignment: alignment 0 is not a power of two from 1 to 1073741824",
        assertThrows(IllegalArgumentException.class, () -> new ArenaOptions(false, false, 4, 0))
            .getMessage());
    assertEquals(
        "tensorAlignment 128 exceeds arenaAlignment 64",
        assertThrows(IllegalArgumentException.class, () -> new ArenaOptions(false, false, 128, 64))
            .getMessage());
  }
}
