package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.lifecycle.ReplanSettings;
import io.prmalloc.pool.ReplanSimulation.Cost;
import io.prmalloc.pool.ReplanSimulation.Traffic;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The result of the default settings on traffic that changes; the whole table is on the page {@code
 * docs/planned-steps.md}.
 */
@Tag("jdk-independent")
class ReplanSimulationTest {

  private static Cost run(Traffic traffic) {
    return ReplanSimulation.run(traffic, ReplanSettings.DEFAULTS);
  }

  @Test
  void shouldPlanOnceForEachChangeOfTheBatch() {
    Cost cost = run(Traffic.BATCH);
    assertEquals(2, cost.replans(), cost::toString);
    // 512 requests that find nothing, of which there are ten a step at least, and twelve steps to
    // learn.
    assertTrue(cost.slowest() <= 512 / 10 + 12, cost::toString);
  }

  @Test
  void shouldGiveMemoryBackWhenTheNextModelIsSmaller() {
    Cost cost = run(Traffic.MODEL);
    assertEquals(1, cost.replans(), cost::toString);
    assertTrue(cost.extraPercent() < 25, cost::toString);
  }

  @Test
  void shouldPlanNothingWhenRequestsAreOdd() {
    assertEquals(0, run(Traffic.ODD).replans());
  }

  @Test
  void shouldPlanNothingWhenTrafficBursts() {
    Cost cost = run(Traffic.BURSTS);
    assertTrue(cost.replans() <= 1, cost::toString);
    assertTrue(cost.missedPercent() < 3, cost::toString);
  }

  @Test
  void shouldPlanEverMoreSeldomWhenSizesVaryFreely() {
    Cost cost = run(Traffic.FREE);
    // 90,000 requests; each plan waits for twice as many that miss as the one before.
    assertTrue(cost.replans() <= 6, cost::toString);
  }
}
