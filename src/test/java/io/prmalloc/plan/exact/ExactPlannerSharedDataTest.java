package io.prmalloc.plan.exact;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prmalloc.SharedData;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.TensorUsageRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tensors of real compilers whose smallest plan is known. */
class ExactPlannerSharedDataTest {

  private static final ExactPlanner PLANNER =
      new ExactPlanner(ExactOptions.DEFAULTS.withThreads(1));

  private static List<TensorUsageRecord> read(String name) throws IOException {
    return Files.readAllLines(SharedData.path("lifetimes/" + name + ".csv")).stream()
        .skip(1)
        .map(line -> line.split(",", -1))
        .map(
            cells ->
                new TensorUsageRecord(
                    Long.parseLong(cells[3]),
                    Long.parseLong(cells[1]),
                    Long.parseLong(cells[2]) - 1))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"A", "B", "C", "D", "E", "F"})
  void shouldFitTheCapacityWhenTheInstanceIsOfTheChallengingSet(String name) throws IOException {
    List<TensorUsageRecord> records = read(name + ".1048576");

    CapacityAnswer answer = PLANNER.fit(records, 1024, 1 << 20, PlanWatcher.NONE);

    assertEquals(CapacityAnswer.Outcome.FITS, answer.outcome());
    assertEquals(Optional.empty(), PlanValidator.fault(records, answer.best().assignment()));
  }

  @Test
  void shouldReachTheLoadWhenItIsResnet() throws IOException {
    List<TensorUsageRecord> records = read("somas-resnet50");

    ExactPlan plan = PLANNER.minimize(records, 1, PlanWatcher.NONE);

    assertEquals(1_515_472_556, plan.totalBytes());
    assertEquals(Optional.empty(), PlanValidator.fault(records, plan.assignment()));
  }
}
