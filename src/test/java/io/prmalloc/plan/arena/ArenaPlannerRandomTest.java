package io.prmalloc.plan.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.SubAllocator;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.arena.Graph.Node;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Random graphs, compared with a second planner that is simple and slow, and executed as an engine
 * would.
 */
class ArenaPlannerRandomTest {

  private static final int GRAPHS = 3000;

  private static ArenaOptions someOptions(Random random) {
    long arenaAlignment = 1L << random.nextInt(8);
    long tensorAlignment = Math.min(arenaAlignment, 1L << random.nextInt(5));
    return new ArenaOptions(
        random.nextInt(3) == 0, random.nextInt(4) == 0, tensorAlignment, arenaAlignment);
  }

  private static int lastNode(Graph graph) {
    return Math.max(0, graph.nodes().size() - 1);
  }

  @Test
  void shouldAgreeWithTheNaivePlannerWhenNodesAreExecutedInAnyOrder() {
    int replaced = 0;
    for (long seed = 0; seed < GRAPHS; seed++) {
      Random random = new Random(seed);
      Graph graph = seed % 3 == 0 ? RandomGraphs.withFixedOffsets(seed) : RandomGraphs.of(seed);
      ArenaOptions options = someOptions(random);
      NaivePlanner naive = new NaivePlanner(graph, options);
      try (ArenaPlanner planner = ArenaPlanner.onPaper(graph, options)) {
        int last = -1;
        for (int call = 0; call < 8; call++) {
          if (random.nextInt(5) == 0) {
            int node = random.nextInt(lastNode(graph) + 2) - 1;
            planner.resetAllocationsAfter(node);
            naive.resetAfter(node);
          } else {
            int from = random.nextInt(lastNode(graph) + 1);
            int to = from + random.nextInt(lastNode(graph) - from + 1);
            planner.executeAllocations(from, to);
            naive.execute(from, to);
            replaced += from <= last ? 1 : 0;
            last = Math.max(last, to);
          }
          assertAgree("seed " + seed + ", call " + call, planner, naive);
        }
      }
    }
    assertTrue(replaced > GRAPHS, "too few calls went back: " + replaced);
  }

  @Test
  void shouldAgreeWithTheNaivePlannerWhenTheGraphIsLarge() {
    for (int seed = 0; seed < 6; seed++) {
      Random random = new Random(seed);
      int nodeCount = 900;
      boolean isEqual = seed % 2 == 0;
      List<Graph.Tensor> tensors = new ArrayList<>();
      List<Node> nodes = new ArrayList<>();
      int reach = seed < 2 ? 1 : seed < 4 ? 50 : nodeCount;
      for (int tensor = 0; tensor <= nodeCount; tensor++) {
        boolean isPersistent = random.nextInt(40) == 0;
        tensors.add(
            new Graph.Tensor(
                isEqual ? 100 : 1 + random.nextInt(100_000),
                isPersistent ? TensorKind.PERSISTENT : TensorKind.ARENA,
                ""));
      }
      for (int node = 0; node < nodeCount; node++) {
        int other = Math.max(0, node - random.nextInt(reach));
        nodes.add(new Node(List.of(node, other), List.of(node + 1), List.of()));
      }
      Graph graph = new Graph(tensors, nodes, List.of(0), List.of(nodeCount), List.of());
      ArenaOptions options = new ArenaOptions(false, seed == 5, seed < 3 ? 64 : 4, 64);
      NaivePlanner naive = new NaivePlanner(graph, options);
      try (ArenaPlanner planner = ArenaPlanner.onPaper(graph, options)) {
        planner.executeAllocations(0, 20);
        naive.execute(0, 20);
        planner.executeAllocations(15, nodeCount - 1);
        naive.execute(15, nodeCount - 1);
        assertAgree("seed " + seed, planner, naive);
      }
    }
  }

  private static void assertAgree(String where, ArenaPlanner planner, NaivePlanner naive) {
    for (int tensor = 0; tensor < planner.graph().tensors().size(); tensor++) {
      NaivePlanner.Place place = naive.place(tensor);
      assertEquals(
          place == null ? OptionalLong.empty() : OptionalLong.of(place.begin()),
          planner.offset(tensor),
          where + ", tensor " + tensor);
    }
    assertEquals(naive.arenaBytes(), planner.arenaBytes(), where);
    assertEquals(naive.persistentBytes(), planner.persistentBytes(), where);
  }

  @Test
  void shouldPlaceOthersAroundThemWhenTensorsHaveFixedOffsets() {
    int around = 0;
    for (long seed = 0; seed < GRAPHS; seed++) {
      Graph graph = RandomGraphs.withFixedOffsets(seed);
      ArenaOptions options = someOptions(new Random(seed));
      Map<Integer, TensorUsageRecord> usage = graph.usageRecords(options);
      try (ArenaPlanner planner = ArenaPlanner.onPaper(graph, options)) {
        for (int node = 0; node <= lastNode(graph); node++) {
          planner.executeAllocations(node, node);
        }
        for (int tensor : usage.keySet()) {
          Graph.Tensor placed = graph.tensors().get(tensor);
          long offset = planner.offset(tensor).orElseThrow();
          assertTrue(offset + placed.bytes() <= planner.arenaBytes(), "seed " + seed);
          if (placed.fixedOffset() != Graph.ANYWHERE) {
            assertEquals(placed.bytes() == 0 ? 0 : placed.fixedOffset(), offset, "seed " + seed);
            continue;
          }
          assertEquals(0, offset % options.tensorAlignment(), "seed " + seed);
          for (int other : usage.keySet()) {
            long bytes = graph.tensors().get(other).bytes();
            long begin = planner.offset(other).orElseThrow();
            if (other != tensor
                && bytes > 0
                && placed.bytes() > 0
                && usage.get(other).firstTask() <= usage.get(tensor).lastTask()
                && usage.get(tensor).firstTask() <= usage.get(other).lastTask()) {
              assertTrue(
                  offset + placed.bytes() <= begin || begin + bytes <= offset,
                  "seed " + seed + ": tensors " + tensor + " and " + other);
              around += graph.tensors().get(other).fixedOffset() != Graph.ANYWHERE ? 1 : 0;
            }
          }
        }
      }
    }
    assertTrue(around > GRAPHS, "too few pairs: " + around);
  }

  @Test
  void shouldGiveAValidPlanWhenAllNodesAreExecutedAtOnce() {
    for (long seed = 0; seed < GRAPHS; seed++) {
      Graph graph = RandomGraphs.of(seed);
      ArenaOptions options = someOptions(new Random(seed));
      try (ArenaPlanner planner = ArenaPlanner.onPaper(graph, options)) {
        planner.executeAllocations();
        String where = "seed " + seed;

        Map<Integer, TensorUsageRecord> usage = graph.usageRecords(options);
        List<TensorUsageRecord> records = new ArrayList<>(usage.values());
        long[] offsets =
            usage.keySet().stream()
                .mapToLong(tensor -> planner.offset(tensor).orElseThrow())
                .toArray();
        OffsetsAssignment plan = OffsetsAssignment.of(records, offsets, options.tensorAlignment());
        assertEquals(Optional.empty(), PlanValidator.fault(records, plan), where);
        assertEquals(plan.totalBytes(), planner.arenaBytes(), where);
        checkUsage(where, graph, options, usage);
      }
    }
  }

  /** Every record against the graph itself, and none forgotten. */
  private static void checkUsage(
      String where, Graph graph, ArenaOptions options, Map<Integer, TensorUsageRecord> usage) {
    NaivePlanner naive = new NaivePlanner(graph, options);
    long before = -1;
    for (Map.Entry<Integer, TensorUsageRecord> entry : usage.entrySet()) {
      int tensor = entry.getKey();
      TensorUsageRecord record = entry.getValue();
      assertEquals(graph.tensors().get(tensor).bytes(), record.sizeBytes(), where);
      assertEquals(naive.first(tensor), record.firstTask(), where);
      assertEquals(Math.min(naive.last(tensor), lastNode(graph)), record.lastTask(), where);
      assertTrue(record.firstTask() >= before, where);
      before = record.firstTask();
    }
    for (int tensor = 0; tensor < graph.tensors().size(); tensor++) {
      boolean expected =
          graph.tensors().get(tensor).kind() == TensorKind.ARENA && naive.first(tensor) >= 0;
      assertEquals(expected, usage.containsKey(tensor), where + ", tensor " + tensor);
    }
  }

  @Test
  void shouldKeepEveryTensorWhileItLivesWhenAnEngineRunsNodeByNode() {
    int moves = 0;
    for (long seed = 0; seed < GRAPHS / 3; seed++) {
      Random random = new Random(seed);
      SubAllocator memory = SubAllocator.direct();
      ArenaOptions options = someOptions(random);
      Graph graph = RandomGraphs.of(seed);
      try (ArenaPlanner planner = new ArenaPlanner(graph, options, memory)) {
        moves += new Engine("seed " + seed, planner, options).run();
        if (random.nextBoolean()) {
          planner.releaseNonPersistentMemory();
          planner.acquireNonPersistentMemory();
        }
        planner.resetAllocationsAfter(-1);
        new Engine("seed " + seed + ", second run", planner, options).run();
      }
      assertEquals(0, memory.bytesReserved(), "seed " + seed);
    }
    assertTrue(moves > GRAPHS, "the arena hardly ever grew: " + moves);
  }

  /** Writes a pattern of its own into every tensor and looks for it whenever it is to be there. */
  private static final class Engine {
    private final String name;
    private final ArenaPlanner planner;
    private final Graph graph;
    private final ArenaOptions options;
    private final Map<Integer, Long> persistentAddresses = new HashMap<>();
    private final Set<Integer> written = new HashSet<>();

    Engine(String name, ArenaPlanner planner, ArenaOptions options) {
      this.name = name;
      this.planner = planner;
      this.graph = planner.graph();
      this.options = options;
    }

    /** How often the arena moved. */
    int run() {
      int moves = 0;
      for (int i = 0; i < Math.max(1, graph.nodes().size()); i++) {
        moves += planner.executeAllocations(i, i) ? 1 : 0;
        if (i == 0) {
          graph.inputs().forEach(this::write);
          graph.variables().forEach(this::write);
        }
        if (i < graph.nodes().size()) {
          Node node = graph.nodes().get(i);
          node.outputs().forEach(this::write);
          node.temporaries().forEach(this::write);
          node.inputs().forEach(this::check);
          node.outputs().forEach(this::check);
          node.temporaries().forEach(this::check);
        }
        graph.variables().forEach(this::check);
        if (options.preserveInputs()) {
          graph.inputs().forEach(this::check);
        }
        if (options.preserveIntermediates()) {
          written.forEach(this::check);
        }
      }
      graph.outputs().stream().filter(written::contains).forEach(this::check);
      return moves;
    }

    private void write(int tensor) {
      written.add(tensor);
      if (hasMemory(tensor)) {
        ByteBuffer bytes = planner.buffer(tensor).orElseThrow();
        for (int i = 0; i < bytes.capacity(); i++) {
          bytes.put(i, (byte) (tensor * 31 + i));
        }
      }
    }

    private void check(int tensor) {
      if (!hasMemory(tensor)) {
        return;
      }
      ByteBuffer bytes = planner.buffer(tensor).orElseThrow();
      assertEquals(graph.tensors().get(tensor).bytes(), bytes.capacity(), name);
      for (int i = 0; i < bytes.capacity(); i++) {
        if (bytes.get(i) != (byte) (tensor * 31 + i)) {
          throw new AssertionError(name + ": byte " + i + " of tensor " + tensor + " was lost");
        }
      }
      long address = planner.address(tensor).orElseThrow();
      assertEquals(0, address % options.tensorAlignment(), name + ": tensor " + tensor);
      if (graph.tensors().get(tensor).kind() == TensorKind.PERSISTENT) {
        long known = persistentAddresses.computeIfAbsent(tensor, unknown -> address);
        assertEquals(known, address, name + ": tensor " + tensor + " moved");
      }
    }

    private boolean hasMemory(int tensor) {
      if (tensor == Graph.ABSENT || graph.tensors().get(tensor).bytes() == 0) {
        return false;
      }
      TensorKind kind = graph.tensors().get(tensor).kind();
      return kind == TensorKind.ARENA || kind == TensorKind.PERSISTENT;
    }
  }
}
