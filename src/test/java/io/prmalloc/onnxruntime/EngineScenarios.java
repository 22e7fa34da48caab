package io.prmalloc.onnxruntime;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import io.prmalloc.SubAllocator;
import io.prmalloc.example.model.OpenNetwork;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.onnxruntime.EngineChecks.Way;
import io.prmalloc.pool.EngineStats;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;

/**
 * Scenarios of the pool inside ONNX Runtime, of any version, each for a JVM of its own. Prints
 * {@code done} if all checks passed.
 */
final class EngineScenarios {

  /** Of the sides of small pictures, and of short texts. */
  private static final int SMALL = 64;

  /** Of what does not fit. */
  static final int LARGE = 600;

  private static final int LIMIT = 4 << 20;

  private EngineScenarios() {}

  /** Runs one. */
  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "all" -> all();
      case "exit" -> exitWithoutClosing();
      case "allocator at exit" -> closeAtExit(installed()::close);
      case "arena at exit" ->
          closeAtExit(OrtSharedArena.settings().install(OrtEnvironment.getEnvironment())::close);
      case "long" -> longRun(Integer.parseInt(arguments[1]));
      default -> throw new IllegalArgumentException(arguments[0]);
    }
    System.out.print("done");
  }

  static void that(boolean holds, Object otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  /** What holds for every version of ONNX Runtime. */
  private static void all() throws Exception {
    System.err.println(OrtEnvironment.getEnvironment().getVersion());
    for (OpenNetwork network : OpenNetwork.values()) {
      answers(network, 20);
      limit(network);
    }
  }

  /** The same bits in so many random shapes, each in every way. */
  static void answers(OpenNetwork network, int shapes) throws OrtException {
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct()).build();
        OrtEnvironmentAllocator engine =
            OrtEnvironmentAllocator.install(OrtEnvironment.getEnvironment(), pool)) {
      try (EngineChecks checks = new EngineChecks(engine, network)) {
        Random random = new Random(1);
        for (int i = 0; i < shapes; i++) {
          for (Way way : Way.values()) {
            checks.check(way, i, network.shape(random, SMALL));
          }
        }
        long planned = pool.stepStats().plannedSteps();
        that(planned > shapes, planned + " steps were planned of " + 2 * shapes);
        that(engine.stats().requests() > shapes, engine.stats());
      }
      nothingInUse(engine);
    }
  }

  /** A run that does not fit ends, and the next one that fits does not. */
  static void limit(OpenNetwork network) throws OrtException {
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct(LIMIT)).build();
        OrtEnvironmentAllocator engine =
            OrtEnvironmentAllocator.install(OrtEnvironment.getEnvironment(), pool)) {
      try (EngineChecks checks = new EngineChecks(engine, network)) {
        checks.check(Way.RUN, 1, network.largest(SMALL));
        for (int i = 1; i <= 3; i++) {
          String message = refusal(checks, 2 * LARGE + i);
          that(message.contains("limit " + LIMIT + " of the sub-allocator"), message);
          checks.check(Way.RUN, 1, network.largest(SMALL));
        }
        EngineStats stats = engine.stats();
        that(stats.overruns() >= 3, stats);
      }
      nothingInUse(engine);
    }
  }

  private static String refusal(EngineChecks checks, int side) throws OrtException {
    try {
      checks.check(Way.RUN, 1, checks.network.largest(side));
    } catch (OrtException refused) {
      return refused.getMessage();
    }
    throw new AssertionError("was not refused: " + side);
  }

  static void nothingInUse(OrtEnvironmentAllocator engine) {
    EngineStats stats = engine.stats();
    that(stats.tensors() == 0 && stats.tensorBytes() == 0, stats);
    that(stats.weightBytes() == 0 && stats.overrunBytes() == 0, stats);
    that(engine.pool().stats().bytesInUse() == 0, engine.pool().stats());
  }

  @SuppressWarnings("CheckReturnValue") // nobody closes anything
  private static void exitWithoutClosing() throws OrtException {
    TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct()).build();
    EngineChecks checks =
        new EngineChecks(
            OrtEnvironmentAllocator.install(OrtEnvironment.getEnvironment(), pool),
            OpenNetwork.CONVOLUTIONS);
    for (int i = 0; i < 5; i++) {
      checks.check(Way.RUN, i, OpenNetwork.CONVOLUTIONS.largest(SMALL));
    }
  }

  private static OrtEnvironmentAllocator installed() throws OrtException {
    return OrtEnvironmentAllocator.install(
        OrtEnvironment.getEnvironment(), EngineChecks.pool(SubAllocator.direct()).build());
  }

  /** After the hook of ONNX Runtime, which gives the environment up. */
  private static void closeAtExit(Runnable close) {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  while (Thread.getAllStackTraces().keySet().stream()
                      .anyMatch(EngineScenarios::isOtherHook)) {
                    Thread.onSpinWait();
                  }
                  close.run();
                  System.err.print("closed");
                },
                "closes at exit"));
  }

  /** Hooks are threads of the main group, and that of ONNX Runtime has no name of its own. */
  private static boolean isOtherHook(Thread thread) {
    return thread != Thread.currentThread()
        && !thread.isDaemon()
        && thread.getThreadGroup() != null
        && thread.getThreadGroup().getName().equals("main")
        && !thread.getName().equals("DestroyJavaVM");
  }

  /** Random shapes, limits, closes, reopens and trims; what is resident does not grow. */
  private static void longRun(int runs) throws OrtException {
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct(LIMIT)).build();
        OrtEnvironmentAllocator engine =
            OrtEnvironmentAllocator.install(OrtEnvironment.getEnvironment(), pool)) {
      List<EngineChecks> all = new ArrayList<>();
      for (OpenNetwork network : OpenNetwork.values()) {
        all.add(new EngineChecks(engine, network));
      }
      Random random = new Random(1);
      long[] resident = new long[runs];
      for (int i = 0; i < runs; i++) {
        EngineChecks checks = all.get(random.nextInt(all.size()));
        step(checks, random, i);
        resident[i] = OperatingSystem.residentBytes();
      }
      for (EngineChecks checks : all) {
        checks.close();
      }
      nothingInUse(engine);
      // The heap and the compiler have not come to rest before.
      long before = LongStream.of(resident).skip(runs / 3).limit(runs / 3).max().orElseThrow();
      long after = LongStream.of(resident).skip(2L * runs / 3).max().orElseThrow();
      System.err.println(
          "resident MiB " + (before >> 20) + " then " + (after >> 20) + ", " + engine.stats());
      // The short form has a compiler at work to its end.
      that(runs < 1000 || after - before < 24L << 20, before + " became " + after);
    }
  }

  private static void step(EngineChecks checks, Random random, int number) throws OrtException {
    OpenNetwork network = checks.network;
    switch (random.nextInt(20)) {
      case 0 -> checks.reopen();
      case 1 -> that(checks.engine.pool().trim() >= 0, "trimmed");
      case 2 -> that(refusal(checks, 2 * LARGE + random.nextInt(50)).contains("limit"), "refused");
      default -> {
        Way way = EngineChecks.WAYS.get(random.nextInt(EngineChecks.WAYS.size()));
        checks.check(way, number, network.shape(random, SMALL));
      }
    }
  }
}
