package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.arena.ArenaOptions;
import io.prmalloc.plan.arena.ArenaPlanner;
import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.TensorKind;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MobileNetGraphsTest {

  // Published are 4,231,976 and 3,504,872 trainable parameters with 1,000 classes and two
  // parameters of normalisation a channel, of which folding leaves one: 10,944 and 17,056 channels
  // less, and 1,025 and 1,281 more for class 1,001.
  @ParameterizedTest
  @CsvSource({"1, 1204224, 31, 4222057", "2, 1505280, 66, 3489097"})
  void shouldNeedThePublishedBytesWhenPlaced(
      int version, long arenaBytes, int nodes, long parameters) {
    Graph graph = version == 1 ? MobileNetGraphs.v1() : MobileNetGraphs.v2();
    try (ArenaPlanner planner = ArenaPlanner.onPaper(graph, ArenaOptions.DEFAULT)) {
      planner.executeAllocations();
      assertEquals(arenaBytes, planner.arenaBytes());
    }
    List<TensorUsageRecord> records =
        List.copyOf(graph.usageRecords(ArenaOptions.DEFAULT).values());
    assertEquals(arenaBytes, LowerBounds.loadBytes(records));
    assertEquals(arenaBytes, MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 64).totalBytes());
    Trace trace = new TraceInput("sample:mobilenet-v" + version, null, null).read();
    assertEquals(
        arenaBytes,
        MemoryStrategy.GREEDY_BY_SIZE
            .assignOffsets(TensorLifetimes.of(trace).records(), 64)
            .totalBytes());
    assertEquals(nodes, graph.nodes().size());
    assertEquals(
        parameters,
        graph.tensors().stream()
            .filter(tensor -> tensor.kind() == TensorKind.CONSTANT)
            .mapToLong(
                tensor -> tensor.name().endsWith("bias") ? tensor.bytes() / 4 : tensor.bytes())
            .sum());
  }
}
