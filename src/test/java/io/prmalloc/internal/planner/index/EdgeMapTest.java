package io.prmalloc.internal.planner.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.prmalloc.plan.TensorUsageRecord;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EdgeMapTest {

  /** The lives of one edge never overlap; some lie next to each other. */
  @Test
  void shouldEqualAWalkOverAllTensorsWhenTheyShareEdges() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      int edges = 1 + random.nextInt(5);
      List<TensorUsageRecord> records = new ArrayList<>();
      for (int edge = 0; edge < edges; edge++) {
        long task = random.nextInt(3);
        for (int i = random.nextInt(8); i >= 0; i--) {
          long last = task + random.nextInt(4);
          // The size stands for the edge.
          records.add(new TensorUsageRecord(1L + edge, task, last));
          task = last + 1 + random.nextInt(3);
        }
      }
      Lives lives = new Lives(records);
      EdgeMap map = new EdgeMap(lives);
      List<Integer> added = new ArrayList<>();
      List<Integer> order = new ArrayList<>(IntStream.range(0, lives.count()).boxed().toList());
      Collections.shuffle(order, random);
      for (int tensor : order) {
        map.add(lives.size(tensor), tensor);
        added.add(tensor);
        long address = 1L + random.nextInt(edges);
        compare(lives, added, map, address, "seed " + seed + ", round " + round);
      }
    }
  }

  private static void compare(
      Lives lives, List<Integer> added, EdgeMap map, long address, String what) {
    List<Integer> sharing = added.stream().filter(i -> lives.size(i) == address).toList();
    for (int tick = 0; tick < lives.tickCount(); tick++) {
      int asked = tick;
      IntStream touched =
          IntStream.range(0, lives.tickCount())
              .filter(
                  at ->
                      sharing.stream()
                          .anyMatch(i -> lives.firstTick(i) <= at && lives.lastTick(i) >= at));
      int[] ticks = touched.toArray();
      int last = IntStream.of(ticks).filter(at -> at <= asked).max().orElse(EdgeMap.NEVER);
      int first = IntStream.of(ticks).filter(at -> at >= asked).min().orElse(EdgeMap.NEVER);
      if (!sharing.isEmpty()) {
        assertEquals(last, map.lastUpTo(address, tick), what);
        assertEquals(first, map.firstFrom(address, tick), what);
        assertEquals(
            sharing.stream()
                .filter(i -> lives.lastTick(i) >= asked)
                .min(Comparator.comparingInt(lives::firstTick))
                .orElse(EdgeMap.NEVER),
            map.tensorFrom(address, tick),
            what);
      }
      assertEquals(last >= 0, map.isEdge(address, 0, tick), what);
    }
  }

  @Test
  void shouldAllocateNothingMoreWhenNoEdgeIsShared() {
    Lives lives =
        new Lives(
            IntStream.range(0, 20_000).mapToObj(i -> new TensorUsageRecord(1, i, i)).toList());
    EdgeMap map = new EdgeMap(lives);
    ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = thread.getCurrentThreadAllocatedBytes();

    for (int tensor = 0; tensor < lives.count(); tensor++) {
      map.add(64L * tensor, tensor);
    }

    long bytes = thread.getCurrentThreadAllocatedBytes() - before;
    assertTrue(bytes < lives.count(), bytes + " bytes for " + lives.count() + " edges");
  }
}
