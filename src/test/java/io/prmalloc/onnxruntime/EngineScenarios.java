package io.prmalloc.onnxruntime;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.prmalloc.SubAllocator;
import io.prmalloc.example.model.LargeNetworks;
import io.prmalloc.example.model.OpenNetwork;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.onnxruntime.EngineChecks.Way;
import io.prmalloc.pool.EngineStats;
import io.prmalloc.pool.TensorPoolAllocator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
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
      case "too large" -> tooLarge();
      case "strings" -> strings();
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

  /** What the C library has no memory for, and what it has. */
  private static void tooLarge() throws Exception {
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct(LIMIT)).build();
        OrtEnvironmentAllocator engine =
            OrtEnvironmentAllocator.install(OrtEnvironment.getEnvironment(), pool)) {
      try (OrtSession session =
          engine.createSession(LargeNetworks.zeros(), new OrtSession.SessionOptions())) {
        that(fill(engine, session, 10) == 0, "small");
        // Unless it overcommits, a system refuses what is larger than itself.
        for (long mebibytes : new long[] {80, 1 << 10, moreThanTheMachineHas()}) {
          long bytes = mebibytes << 20;
          long peak = residentPeak(() -> refused(engine, session, bytes));
          that(peak < 256 << 20, peak + " bytes are resident");
          EngineStats stats = engine.stats();
          that(stats.overrunPeakBytes() == bytes && stats.overrunBytes() == 0, stats);
          that(fill(engine, session, 10) == 0, "small");
        }
        that(engine.stats().overruns() == 3, engine.stats());
      }
      nothingInUse(engine);
    }
  }

  /** In MiB. Not more than is needed, since the operator writes all of it. */
  private static long moreThanTheMachineHas() throws IOException {
    long kibibytes = 0;
    for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
      if (line.startsWith("MemTotal:") || line.startsWith("SwapTotal:")) {
        kibibytes += Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    return Math.min(128 << 10, (kibibytes >> 10) + 1024);
  }

  private static float fill(OrtEnvironmentAllocator engine, OrtSession session, long floats)
      throws OrtException {
    long[] shape = {floats};
    try (OnnxTensor input = OnnxTensor.createTensor(OrtEnvironment.getEnvironment(), shape);
        EngineRun run = engine.openRun("zeros");
        OrtSession.Result result = run.run(session, Map.of("in", input))) {
      return (float) result.get(0).getValue();
    }
  }

  private static void refused(OrtEnvironmentAllocator engine, OrtSession session, long bytes) {
    String message = "none";
    try {
      that(fill(engine, session, bytes / Float.BYTES) != 0, "was not refused: " + bytes);
    } catch (OrtException refused) {
      message = refused.getMessage();
    }
    that(message.contains("it was refused " + bytes + " bytes"), message);
    that(message.contains("limit " + LIMIT + " of the sub-allocator"), message);
  }

  /** The most bytes of memory that is nobody else's and no file's, meanwhile. */
  private static long residentPeak(Runnable work) throws Exception {
    Thread thread = new Thread(work, "works");
    AtomicReference<Throwable> failure = new AtomicReference<>();
    thread.setUncaughtExceptionHandler((of, thrown) -> failure.set(thrown));
    thread.start();
    long peak = 0;
    while (thread.isAlive()) {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("RssAnon:")) {
          peak = Math.max(peak, Long.parseLong(line.replaceAll("[^0-9]", "")) << 10);
        }
      }
      thread.join(5);
    }
    that(failure.get() == null, failure.get());
    return peak;
  }

  /** A string in C++ holds its own address, so tensors of them need memory of their own. */
  private static void strings() throws OrtException {
    OrtEnvironment environment = OrtEnvironment.getEnvironment();
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct(LIMIT)).build();
        OrtEnvironmentAllocator engine = OrtEnvironmentAllocator.install(environment, pool)) {
      float[] numbers = new float[3 << 20];
      try (OrtSession session =
              engine.createSession(LargeNetworks.text(), new OrtSession.SessionOptions());
          OnnxTensor input = OnnxTensor.createTensor(environment, numbers);
          EngineRun run = engine.openRun("text")) {
        String message = "none";
        try {
          run.run(session, Map.of("in", input)).close();
        } catch (OrtException refused) {
          message = refused.getMessage();
        }
        that(message.contains("limit " + LIMIT), message);
      }
      nothingInUse(engine);
    }
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
