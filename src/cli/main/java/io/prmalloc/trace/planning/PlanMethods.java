package io.prmalloc.trace.planning;

import io.prmalloc.plan.MemoryStrategy;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The list of strategies.
 *
 * <p>Threading: any thread.
 */
public final class PlanMethods {

  private static final List<PlanMethod> ALL =
      Stream.concat(
              Arrays.stream(MemoryStrategy.values()).<PlanMethod>map(StrategyMethod::new),
              Stream.of(new HeuristicMethod(), new ExactMethod()))
          .toList();

  private PlanMethods() {}

  /** All of them, in the order people see them. Threading: any thread. */
  public static List<PlanMethod> all() {
    return ALL;
  }

  /**
   * The one of this name.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if there is none; the message lists all
   */
  public static PlanMethod named(String label) {
    return ALL.stream()
        .filter(method -> method.label().equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "strategy `" + label + "` is none of " + labels() + ", all"));
  }

  /** All names, with commas between. Threading: any thread. */
  public static String labels() {
    return ALL.stream().map(PlanMethod::label).collect(Collectors.joining(", "));
  }
}
