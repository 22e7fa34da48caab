package io.prmalloc.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.plan.OffsetsAssignment;
import org.junit.jupiter.api.Test;

class PlanBenchmarkTest {

  @Test
  void shouldPlanAllTensorsWhenRun() {
    PlanBenchmark benchmark = new PlanBenchmark();
    benchmark.tensors = 2000;
    benchmark.longest = 100;

    benchmark.make();
    OffsetsAssignment plan = benchmark.plan();

    assertEquals(2000, plan.tensorCount());
    // Some 50 of half a MiB are alive at once.
    assertTrue(plan.totalBytes() > 20 << 20 && plan.totalBytes() < 80 << 20, plan.toString());
    assertEquals(plan, benchmark.plan());
  }
}
