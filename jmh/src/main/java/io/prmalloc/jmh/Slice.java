package io.prmalloc.jmh;

import static io.prmalloc.jmh.rival.Rival.ALLOCATE_DIRECT;
import static io.prmalloc.jmh.rival.Rival.ARROW;
import static io.prmalloc.jmh.rival.Rival.ARROW_NETTY;
import static io.prmalloc.jmh.rival.Rival.CAS_STACK;
import static io.prmalloc.jmh.rival.Rival.CPU;
import static io.prmalloc.jmh.rival.Rival.FFM_CONFINED;
import static io.prmalloc.jmh.rival.Rival.FFM_SHARED;
import static io.prmalloc.jmh.rival.Rival.JEMALLOC;
import static io.prmalloc.jmh.rival.Rival.MALLOC;
import static io.prmalloc.jmh.rival.Rival.MIMALLOC;
import static io.prmalloc.jmh.rival.Rival.NETTY_ADAPTIVE;
import static io.prmalloc.jmh.rival.Rival.NETTY_POOLED;
import static io.prmalloc.jmh.rival.Rival.POOL_HANDLE;
import static io.prmalloc.jmh.rival.Rival.POOL_NO_STEPS;
import static io.prmalloc.jmh.rival.Rival.POOL_RAW;
import static io.prmalloc.jmh.rival.Rival.POOL_STEP;
import static io.prmalloc.jmh.rival.Rival.POOL_STEP_HANDLE;
import static io.prmalloc.jmh.rival.Rival.READY_MEMORY;

import io.prmalloc.jmh.rival.Rival;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A part of what is published: one benchmark in some settings.
 *
 * <p>Threading: immutable.
 *
 * @param name what it is called on the command line, and its file
 * @param benchmark which
 * @param threads how many
 * @param params its parameters but the rival, and their values
 * @param rivals which take part
 * @param costs whether heap and page faults are counted too
 * @param timing of its iterations
 */
record Slice(
    String name,
    Class<? extends RivalBenchmark> benchmark,
    int threads,
    Map<String, List<String>> params,
    Set<Rival> rivals,
    boolean costs,
    Timing timing) {

  /**
   * How long is waited and measured.
   *
   * <p>Threading: immutable.
   *
   * @param warmUps how many iterations run before those that are measured
   * @param iterations how many are measured
   * @param measuredMillis length of one of them
   */
  record Timing(int warmUps, int iterations, int measuredMillis) {}

  // Not every rival in every setting: that would be an hour and more. Where a question is asked
  // of threads or of what is written, those take part that answer it differently.

  private static final String PAIR = "65536";
  private static final String SMALL = "4096";
  private static final String SAMPLE = "sample:mobilenet";
  private static final Timing SHORT = new Timing(2, 3, 120);

  /** Threads that run steps from one pool share it out among themselves in some thousand steps. */
  private static final Timing SETTLED = new Timing(8, 3, 120);

  /**
   * Two that hand over keep both processors busy, so that the JIT takes a second or so; and they
   * wait for each other, so that whatever stops one for a moment stops both. Of three iterations in
   * a row two may take a quarter longer than most do; more of them are shorter, or all that is
   * published would take too long.
   */
  private static final Timing IN_LOCKSTEP = new Timing(8, 9, 75);

  /** Eight threads share two processors with the JIT, which takes more than twice as long then. */
  private static final Timing CROWDED = new Timing(5, 3, 120);

  /** A pool as a server has it learns in the first hundreds of steps, and beside them. */
  private static final Timing LEARNING = new Timing(9, 3, 120);

  /** The same while the threads leave no processor to the planner and the JIT. */
  private static final Timing LEARNING_CROWDED = new Timing(24, 3, 120);

  /** Long enough for some steps that write every byte. */
  private static final Timing LONG = new Timing(2, 3, 230);

  private static final Set<Rival> ALL =
      EnumSet.of(
          POOL_HANDLE,
          POOL_RAW,
          CPU,
          ALLOCATE_DIRECT,
          NETTY_POOLED,
          NETTY_ADAPTIVE,
          ARROW,
          ARROW_NETTY,
          MALLOC,
          JEMALLOC,
          MIMALLOC,
          FFM_CONFINED);

  private static final Set<Rival> SOME =
      EnumSet.of(POOL_HANDLE, NETTY_POOLED, NETTY_ADAPTIVE, ARROW, MALLOC, MIMALLOC);

  private static final Set<Rival> FEW = without(SOME, ARROW);

  private static final Set<Rival> IN_STEPS = and(FEW, POOL_STEP);

  private static Set<Rival> and(Set<Rival> rivals, Rival... more) {
    Set<Rival> result = EnumSet.copyOf(rivals);
    result.addAll(List.of(more));
    return result;
  }

  private static Set<Rival> without(Set<Rival> rivals, Rival... fewer) {
    Set<Rival> result = EnumSet.copyOf(rivals);
    result.removeAll(List.of(fewer));
    return result;
  }

  /**
   * All of them, in the order in which they run.
   *
   * @param models the traces that are there beside the sample, Squeezenet first if it is there
   */
  static List<Slice> all(List<String> models) {
    Map<String, List<String>> pair = Map.of("sizeBytes", List.of(PAIR));
    Map<String, List<String>> sizes = Map.of("sizeBytes", List.of(SMALL, "1048576", "16777216"));
    Map<String, List<String>> handedOver = Map.of("sizeBytes", List.of(PAIR, SMALL));
    Map<String, List<String>> requests =
        Map.of(
            "sizeBytes",
            List.of(PAIR),
            "kind",
            VirtualThreadBenchmark.virtualThreadsArePresent()
                ? List.of("PLATFORM", "VIRTUAL")
                : List.of("PLATFORM"));
    List<String> traces = models.isEmpty() ? List.of(SAMPLE) : models;
    Map<String, List<String>> steps = Map.of("trace", traces, "touch", List.of("FIRST"));
    Map<String, List<String>> sample = Map.of("trace", List.of(SAMPLE), "touch", List.of("FIRST"));
    Map<String, List<String>> touches =
        Map.of("trace", traces.subList(0, 1), "touch", List.of("NONE", "PAGE", "ALL"));
    Map<String, List<String>> varying = varying(traces, "ANY", "SIXTEEN", "TWO_MODELS");
    Map<String, List<String>> buffers = varying(traces, "BUFFERS");
    return List.of(
        new Slice(
            "varying",
            VaryingBenchmark.class,
            1,
            varying,
            and(IN_STEPS, POOL_STEP_HANDLE, POOL_NO_STEPS, READY_MEMORY),
            true,
            LEARNING),
        new Slice(
            "buffers", VaryingBenchmark.class, 1, buffers, and(FEW, READY_MEMORY), true, SHORT),
        new Slice(
            "varying-2",
            VaryingBenchmark.class,
            2,
            varying,
            without(IN_STEPS, NETTY_POOLED),
            false,
            LEARNING_CROWDED),
        new Slice("buffers-2", VaryingBenchmark.class, 2, buffers, FEW, false, LEARNING),
        new Slice(
            "pair", PairBenchmark.class, 1, pair, and(ALL, CAS_STACK, READY_MEMORY), true, SHORT),
        new Slice(
            "sizes", PairBenchmark.class, 1, sizes, without(ALL, POOL_RAW, CPU), false, SHORT),
        new Slice("threads-2", PairBenchmark.class, 2, pair, SOME, false, SHORT),
        new Slice("threads-4", PairBenchmark.class, 4, pair, SOME, false, SHORT),
        new Slice("threads-8", PairBenchmark.class, 8, pair, SOME, false, CROWDED),
        new Slice("mixed-1", MixedBenchmark.class, 1, Map.of(), FEW, false, SHORT),
        new Slice("mixed-2", MixedBenchmark.class, 2, Map.of(), FEW, false, SHORT),
        new Slice("mixed-4", MixedBenchmark.class, 4, Map.of(), FEW, false, SHORT),
        new Slice("mixed-8", MixedBenchmark.class, 8, Map.of(), FEW, false, CROWDED),
        new Slice(
            "handover",
            HandoverBenchmark.class,
            2,
            handedOver,
            and(SOME, POOL_RAW, FFM_SHARED, CAS_STACK, READY_MEMORY),
            false,
            IN_LOCKSTEP),
        new Slice(
            "requests",
            VirtualThreadBenchmark.class,
            1,
            requests,
            and(FEW, READY_MEMORY),
            false,
            SHORT),
        new Slice("sample", StepBenchmark.class, 1, sample, SOME, false, SHORT),
        new Slice(
            "steps", StepBenchmark.class, 1, steps, and(ALL, POOL_STEP, READY_MEMORY), true, SHORT),
        new Slice("steps-2", StepBenchmark.class, 2, steps, IN_STEPS, false, SETTLED),
        new Slice(
            "touches",
            StepBenchmark.class,
            1,
            touches,
            and(SOME, ALLOCATE_DIRECT, READY_MEMORY),
            true,
            LONG));
  }

  /**
   * Parameters of {@link VaryingBenchmark}.
   *
   * @param traces the first of them varies; the second, or a sample, is the other model
   */
  private static Map<String, List<String>> varying(List<String> traces, String... traffic) {
    String other = traces.size() > 1 ? traces.get(1) : "sample:mobilenet-v2";
    return Map.of(
        "traffic",
        List.of(traffic),
        "trace",
        traces.subList(0, 1),
        "other",
        List.of(other),
        "touch",
        List.of("FIRST"));
  }

  /** The same with fewer rivals, at least none. */
  Slice among(Set<Rival> some) {
    Set<Rival> both = EnumSet.copyOf(rivals);
    both.retainAll(some);
    return new Slice(name, benchmark, threads, params, both, costs, timing);
  }

  /** The same with the first value of each parameter only. */
  Slice firstOnly() {
    Map<String, List<String>> first = new TreeMap<>();
    params.forEach((param, values) -> first.put(param, values.subList(0, 1)));
    return new Slice(name, benchmark, threads, first, rivals, costs, timing);
  }

  /** How many results it gives. */
  int settings() {
    return params.values().stream().mapToInt(List::size).reduce(rivals.size(), (a, b) -> a * b);
  }
}
