package io.prmalloc.jmh.engine;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Where the engine's memory comes from.
 *
 * <p>Threading: immutable.
 */
enum Arm {
  /** The engine's own arena, one for each session, as it comes. */
  OWN("own"),
  /** The same, with the session's memory pattern off. */
  OWN_NO_PATTERN("own-no-pattern"),
  /** The engine's arena, one for all sessions, that grows by what is asked for. */
  SHARED("shared"),
  /** No arena: the C library's heap. */
  NO_ARENA("no-arena"),
  /** Our pool; each run is a step of it. */
  POOL("pool");

  private final String label;

  Arm(String label) {
    this.label = label;
  }

  /** What arguments and tables call it. */
  String label() {
    return label;
  }

  /**
   * Those that are named.
   *
   * @param labels with commas between them
   * @throws IllegalArgumentException if there is none of such a name, or a name comes twice
   */
  static List<Arm> named(String option, String labels) {
    List<Arm> arms = Arrays.stream(labels.split(",", -1)).map(each -> of(option, each)).toList();
    if (arms.stream().distinct().count() < arms.size()) {
      throw new IllegalArgumentException(option + " is `" + labels + "`, which names an arm twice");
    }
    return arms;
  }

  private static Arm of(String option, String label) {
    return Arrays.stream(values())
        .filter(arm -> arm.label.equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    option
                        + " has `"
                        + label
                        + "`, which is none of "
                        + Arrays.stream(values()).map(Arm::label).collect(Collectors.toList())));
  }
}
