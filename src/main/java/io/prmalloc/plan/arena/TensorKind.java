package io.prmalloc.plan.arena;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Where a tensor's memory comes from.
 *
 * <p>Threading: immutable.
 */
public enum TensorKind {
  /** From the arena, for the nodes it lives at. */
  ARENA,
  /** From an arena of its own kind, from its first node on and for ever: variables, mostly. */
  PERSISTENT,
  /** From the engine, when a size is known; the planner leaves it alone. */
  DYNAMIC,
  /** From the model's file; the planner leaves it alone. */
  CONSTANT;

  /** As graph files have it: {@code arena}, {@code persistent}. Threading: any thread. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The kind of a label.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if there is none; the message lists those there are
   */
  public static TensorKind ofLabel(String label) {
    for (TensorKind kind : values()) {
      if (kind.label().equals(label)) {
        return kind;
      }
    }
    throw new IllegalArgumentException(
        "type `"
            + label
            + "` is none of "
            + Arrays.stream(values()).map(TensorKind::label).collect(Collectors.joining(", ")));
  }
}
