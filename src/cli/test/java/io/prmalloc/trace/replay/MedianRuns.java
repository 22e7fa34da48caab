package io.prmalloc.trace.replay;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Checks results that are partly random, by the median of three runs. */
public final class MedianRuns {

  private MedianRuns() {}

  /**
   * Fails if a number is too large in most of three runs. The third is left out if it could change
   * nothing.
   *
   * @param most what each number may be
   * @param run gives as many numbers each time
   */
  public static void assertAtMost(double most, Callable<List<Double>> run) throws Exception {
    List<List<Double>> runs = new ArrayList<>(List.of(run.call(), run.call()));
    if (runs.stream().flatMap(List::stream).anyMatch(number -> number > most)) {
      runs.add(run.call());
    }
    for (int i = 0; i < runs.get(0).size(); i++) {
      int which = i;
      long over = runs.stream().filter(numbers -> numbers.get(which) > most).count();
      assertTrue(over <= 1, () -> "number " + which + " is over " + most + " in most of " + runs);
    }
  }
}
