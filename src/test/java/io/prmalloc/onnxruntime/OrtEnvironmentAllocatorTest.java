package io.prmalloc.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.translate.NoopTranslator;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtLoggingLevel;
import ai.onnxruntime.OrtSession;
import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.Isolation;
import io.prmalloc.LogRecords;
import io.prmalloc.MmapOptions;
import io.prmalloc.PageCode;
import io.prmalloc.RegionVisitor;
import io.prmalloc.SubAllocator;
import io.prmalloc.djl.OrtEngine;
import io.prmalloc.example.model.OpenNetwork;
import io.prmalloc.onnxruntime.EngineChecks.Way;
import io.prmalloc.pool.EngineStats;
import io.prmalloc.pool.LeakDetection;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.recording.Recording;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The pool inside ONNX Runtime; with code of the page {@code docs/onnxruntime.md}. */
class OrtEnvironmentAllocatorTest {

  private static final OpenNetwork NETWORK = OpenNetwork.CONVOLUTIONS;
  private static final int SMALL = 64;
  private static final int LARGE = 600;
  private static final int LIMIT = 4 << 20;

  static {
    OrtEngine.load();
  }

  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  @TempDir private Path directory;

  @AfterEach
  void nothingIsInstalled() {
    boolean left = OrtEnvironmentAllocator.installed().isPresent();
    OrtEnvironmentAllocator.installed().ifPresent(OrtEnvironmentAllocator::close);
    assertFalse(left, "an allocator was left installed");
  }

  private OrtEnvironmentAllocator install(TensorPoolAllocator pool) throws OrtException {
    return OrtEnvironmentAllocator.install(environment, pool);
  }

  @Test
  void shouldShowThisCodeWhenThePageIsRead() throws Exception {
    PageCode.check("onnxruntime.md", OrtEnvironmentAllocatorTest.class, OnnxModelTest.class);
  }

  @Test
  void shouldServe() throws OrtException {
    byte[] model = NETWORK.toOnnx();
    float[] answer;
    // page
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder().subAllocator(SubAllocator.direct(256 << 20)).build();
    OrtEnvironmentAllocator engine = OrtEnvironmentAllocator.install(environment, pool); // once
    OrtSession session = engine.createSession(model, new OrtSession.SessionOptions());
    // end of page
    try (OnnxTensor image = image(SMALL)) {
      Map<String, OnnxTensor> inputs = Map.of(OpenNetwork.INPUT, image);
      // page
      try (EngineRun run = engine.openRun("detector");
          OrtSession.Result result = run.run(session, inputs)) {
        answer = EngineChecks.elements(((OnnxTensor) result.get(0)).getFloatBuffer());
      }
      // end of page
    }
    // page
    session.close();
    engine.close();
    pool.close();
    // end of page
    EngineScenarios.nothingInUse(engine);
    try (OrtSession plain = environment.createSession(model);
        OnnxTensor image = image(SMALL);
        OrtSession.Result result = plain.run(Map.of(OpenNetwork.INPUT, image))) {
      FloatBuffer expected = ((OnnxTensor) result.get(0)).getFloatBuffer();
      assertArrayEquals(EngineChecks.elements(expected), answer, 1e-3f);
    }
  }

  @ParameterizedTest
  @EnumSource(OpenNetwork.class)
  void shouldGiveTheSameBitsFromPlansWhenShapesVary(OpenNetwork network) throws OrtException {
    EngineScenarios.answers(network, 50);
  }

  @ParameterizedTest
  @EnumSource(OpenNetwork.class)
  void shouldEndTheRunAndServeTheNextWhenTheLimitIsReached(OpenNetwork network)
      throws OrtException {
    EngineScenarios.limit(network);
  }

  @Test
  void shouldKeepWeightsApartWhenASessionLives() throws OrtException {
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct()).build();
        OrtEnvironmentAllocator engine = install(pool)) {
      EngineChecks checks = new EngineChecks(engine, NETWORK);
      // The pinned version asks for them; later ones need not.
      assertTrue(engine.stats().weightBytes() > 100_000, engine.stats().toString());
      assertEquals(0, pool.stats().bytesInUse());
      checks.close();
      EngineScenarios.nothingInUse(engine);
    }
  }

  @Test
  void shouldTakeNoMoreThanOneOperatorsTensorsBeyondTheLimit() throws OrtException {
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct(LIMIT)).build();
        OrtEnvironmentAllocator engine = install(pool);
        EngineChecks checks = new EngineChecks(engine, NETWORK)) {
      assertThrows(OrtException.class, () -> checks.check(Way.RUN, 1, NETWORK.largest(LARGE)));
      EngineStats stats = engine.stats();
      assertEquals(0, stats.overrunBytes());
      // The widest tensors are the first ones: 16 channels of the picture's size.
      long largest = 16L * LARGE * LARGE * Float.BYTES;
      assertTrue(stats.overrunPeakBytes() > 0, stats.toString());
      assertTrue(stats.overrunPeakBytes() <= 2 * largest, stats.toString());
    }
  }

  @Test
  void shouldLeaveGivenOptionsUsableWhenTheRunWasEnded() throws OrtException {
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct(LIMIT)).build();
        Allocator tensors = new CpuAllocator(SubAllocator.direct());
        OrtEnvironmentAllocator engine = install(pool);
        EngineChecks checks = new EngineChecks(engine, NETWORK);
        OrtSession.RunOptions options = new OrtSession.RunOptions()) {
      OnnxModel model = OnnxModel.of(environment, checks.session(), tensors);
      for (int i = 0; i < 3; i++) {
        try (Inference large = EngineChecks.open(model, NETWORK, NETWORK.largest(LARGE))) {
          OrtException refused = assertThrows(OrtException.class, () -> large.run(options));
          assertTrue(refused.getMessage().contains("limit " + LIMIT), refused.getMessage());
          assertThrows(IllegalStateException.class, () -> large.output(OpenNetwork.OUTPUT));
        }
        try (Inference small = EngineChecks.open(model, NETWORK, NETWORK.largest(SMALL))) {
          small.run(options);
          assertTrue(small.output(OpenNetwork.OUTPUT).floats().hasRemaining());
        }
      }
      // A plain run's options are the caller's, too.
      checks.check(Way.PLAIN, 1, NETWORK.largest(SMALL));
    }
  }

  @Test
  void shouldGoBeyondTheLimitAndSayNowAndThenWhenTheRunCannotBeEnded() throws OrtException {
    try (LogRecords log = new LogRecords(OrtEnvironmentAllocator.class.getName());
        TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct(LIMIT)).build();
        OrtEnvironmentAllocator engine = install(pool);
        EngineChecks checks = new EngineChecks(engine, NETWORK)) {
      for (int i = 0; i < 4; i++) {
        checks.check(Way.PLAIN, i, NETWORK.largest(LARGE));
      }
      long overruns = engine.stats().overruns();
      assertTrue(overruns > 16, overruns + " overruns");
      assertEquals(64 - Long.numberOfLeadingZeros(overruns), log.all().size());
      assertEquals(0, engine.stats().overrunBytes());
    }
  }

  @Test
  void shouldLearnOnceWhenASessionIsOpenedAnew() throws OrtException {
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct()).build();
        OrtEnvironmentAllocator engine = install(pool);
        EngineChecks checks = new EngineChecks(engine, NETWORK)) {
      Random random = new Random(1);
      for (int i = 0; i < 30; i++) {
        checks.check(Way.MODEL, i, NETWORK.shape(random, SMALL));
      }
      long before = pool.stepStats().plannedSteps();
      for (int i = 0; i < 5; i++) {
        checks.reopen();
        checks.check(Way.MODEL, i, NETWORK.shape(random, SMALL));
      }
      assertEquals(before + 5, pool.stepStats().plannedSteps());
    }
  }

  @Test
  void shouldRefuseToCloseByForceWhileTheEngineHasTensors() throws OrtException {
    TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct()).build();
    try (OrtEnvironmentAllocator engine = install(pool);
        EngineChecks checks = new EngineChecks(engine, NETWORK);
        OnnxTensor input = image(SMALL)) {
      try (OrtSession.Result result = checks.session().run(Map.of(OpenNetwork.INPUT, input))) {
        assertEquals(1, engine.stats().tensors());
        String refusal =
            assertThrows(IllegalStateException.class, pool::closeForcibly).getMessage();
        assertTrue(refusal.contains("1 tensors of onnxruntime"), refusal);
        assertThrows(IllegalStateException.class, pool::close);
        assertEquals(1, result.size());
      }
      EngineStats stats = engine.stats();
      assertEquals(0, stats.tensors(), stats.toString());
      pool.closeForcibly();
    }
  }

  private OnnxTensor image(int side) throws OrtException {
    long[] shape = NETWORK.largest(side);
    return OnnxTensor.createTensor(
        environment, FloatBuffer.wrap(EngineChecks.input(1, shape)), shape);
  }

  @Test
  void shouldEndTheRunWhenThePoolWasClosedBefore() throws OrtException {
    TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct()).build();
    try (OrtEnvironmentAllocator engine = install(pool);
        EngineChecks checks = new EngineChecks(engine, NETWORK)) {
      checks.check(Way.RUN, 1, NETWORK.largest(SMALL));
      pool.close();
      OrtException ended =
          assertThrows(OrtException.class, () -> checks.check(Way.RUN, 1, NETWORK.largest(SMALL)));
      assertTrue(ended.getMessage().contains("closed"), ended.getMessage());
      // What cannot be ended goes on, beyond the pool.
      checks.check(Way.PLAIN, 1, NETWORK.largest(SMALL));
      EngineStats stats = engine.stats();
      assertEquals(0, stats.overrunBytes(), stats.toString());
    }
  }

  @Test
  void shouldServeASessionThatJoinedWhenItWasWithdrawn() throws OrtException {
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct()).build();
        TensorPoolAllocator other = EngineChecks.pool(SubAllocator.direct()).build()) {
      OrtEnvironmentAllocator engine = install(pool);
      try (EngineChecks checks = new EngineChecks(engine, NETWORK)) {
        checks.check(Way.RUN, 1, NETWORK.largest(SMALL));
        engine.close();
        engine.close();
        long requests = engine.stats().requests();
        for (Way way : Way.values()) {
          checks.check(way, 2, NETWORK.largest(SMALL));
        }
        assertTrue(engine.stats().requests() > requests);
        try (OrtEnvironmentAllocator next = install(other);
            EngineChecks more = new EngineChecks(next, NETWORK)) {
          more.check(Way.RUN, 1, NETWORK.largest(SMALL));
          checks.check(Way.RUN, 1, NETWORK.largest(SMALL));
          assertTrue(next.stats().tensors() == 0 && next.stats().requests() > 0);
        }
      }
      EngineScenarios.nothingInUse(engine);
    }
  }

  @Test
  void shouldRefuseToInstallTwice() throws OrtException {
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct()).build();
        OrtEnvironmentAllocator engine = install(pool)) {
      assertSame(engine, OrtEnvironmentAllocator.installed().orElseThrow());
      assertSame(pool, engine.pool());
      String refusal = assertThrows(IllegalStateException.class, () -> install(pool)).getMessage();
      assertTrue(refusal.contains("has an allocator already"), refusal);
    }
  }

  @Test
  void shouldGiveTheSameBitsWhenThreadsRunAndSessionsComeAndGo() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct()).build();
        OrtEnvironmentAllocator engine = install(pool)) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        int seed = i;
        all.add(
            threads.submit(
                () -> {
                  runAndReopen(engine, seed);
                  return null;
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
      EngineScenarios.nothingInUse(engine);
    } finally {
      threads.shutdownNow();
    }
  }

  private static void runAndReopen(OrtEnvironmentAllocator engine, int seed) throws OrtException {
    Random random = new Random(seed);
    OpenNetwork network = List.of(OpenNetwork.values()).get(seed % 2);
    try (EngineChecks checks = new EngineChecks(engine, network)) {
      for (int i = 0; i < 40; i++) {
        checks.check(EngineChecks.WAYS.get(i % 3), i, network.shape(random, SMALL));
        if (i % 10 == 9) {
          checks.reopen();
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"mmap", "malloc", "isolated", "watched", "recorded", "pattern"})
  void shouldGiveTheSameBitsWhateverThePoolIs(String kind) throws Exception {
    SubAllocator memory =
        switch (kind) {
          case "mmap" -> SubAllocator.mmap(MmapOptions.DEFAULT);
          case "malloc" -> SubAllocator.posixMemalign();
          default -> SubAllocator.direct();
        };
    var builder = EngineChecks.pool(memory);
    if (kind.equals("isolated")) {
      builder.isolation(new Isolation(Isolation.Fill.POISON, true));
    } else if (kind.equals("watched")) {
      builder.leakDetection(LeakDetection.PARANOID);
    }
    try (TensorPoolAllocator pool = builder.build();
        Recording recording =
            kind.equals("recorded") ? pool.record(directory.resolve("trace")) : null;
        OrtEnvironmentAllocator engine = install(pool)) {
      OrtSession.SessionOptions options = new OrtSession.SessionOptions();
      try (EngineChecks checks = new EngineChecks(engine, NETWORK, options)) {
        if (kind.equals("pattern")) {
          options.setMemoryPatternOptimization(true);
        }
        Random random = new Random(1);
        for (int i = 0; i < 20; i++) {
          for (Way way : Way.values()) {
            checks.check(way, i, NETWORK.shape(random, SMALL));
          }
        }
      }
      EngineScenarios.nothingInUse(engine);
      assertEquals(0, pool.leaks());
      assertEquals(kind.equals("recorded"), recording != null);
    }
  }

  @Test
  void shouldGiveTheSameBitsWhenOperatorsRunInParallel() throws OrtException {
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct(LIMIT)).build();
        OrtEnvironmentAllocator engine = install(pool)) {
      OrtSession.SessionOptions options = new OrtSession.SessionOptions();
      options.setExecutionMode(OrtSession.SessionOptions.ExecutionMode.PARALLEL);
      options.setInterOpNumThreads(3);
      try (EngineChecks checks = new EngineChecks(engine, OpenNetwork.TRANSFORMER, options)) {
        Random random = new Random(1);
        for (int i = 0; i < 20; i++) {
          for (Way way : Way.values()) {
            checks.check(way, i, checks.network.shape(random, SMALL));
          }
        }
        // Its threads are not known to belong to the run; it may go on beyond the limit, or end.
        try {
          checks.check(Way.RUN, 1, checks.network.largest(2 * LARGE));
        } catch (OrtException ended) {
          assertTrue(ended.getMessage().contains("limit"), ended.getMessage());
        }
        assertTrue(engine.stats().overruns() > 0);
        checks.check(Way.RUN, 1, checks.network.largest(SMALL));
      }
      EngineScenarios.nothingInUse(engine);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"heap", "stack"})
  void shouldEndTheRunWhenACallFromTheEngineFails(String kind) throws OrtException {
    AtomicReference<Supplier<Error>> failure = new AtomicReference<>();
    RegionVisitor failing =
        RegionVisitor.onAlloc(
            (region, index, bytes) -> {
              if (failure.get() != null) {
                throw failure.get().get();
              }
            });
    Supplier<Error> error = kind.equals("heap") ? OutOfMemoryError::new : this::endlessly;
    SubAllocator memory = SubAllocator.direct().withVisitors(0, failing);
    try (TensorPoolAllocator pool = EngineChecks.pool(memory).build();
        OrtEnvironmentAllocator engine = install(pool);
        EngineChecks checks = new EngineChecks(engine, NETWORK)) {
      for (int i = 1; i <= 3; i++) {
        checks.check(Way.RUN, 1, NETWORK.largest(i * SMALL));
        failure.set(error);
        int side = LARGE + i;
        assertThrows(OrtException.class, () -> checks.check(Way.RUN, 1, NETWORK.largest(side)));
        failure.set(null);
      }
      assertTrue(engine.stats().overruns() > 0);
      assertEquals(0, engine.stats().overrunBytes());
      checks.check(Way.RUN, 1, NETWORK.largest(SMALL));
    }
  }

  @SuppressWarnings("InfiniteRecursion") // that is what it is for
  private Error endlessly() {
    return endlessly();
  }

  @Test
  void shouldServeDjlWhenItsModelIsGivenTheOptions() throws Exception {
    Files.write(directory.resolve("net.onnx"), NETWORK.toOnnx());
    long[] shape = NETWORK.largest(SMALL);
    float[] input = EngineChecks.input(1, shape);
    float[] answer;
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct()).build();
        OrtEnvironmentAllocator engine = install(pool)) {
      try (EngineChecks checks = new EngineChecks(engine, NETWORK);
          Model model = Model.newInstance("net", "OnnxRuntime")) {
        // page
        OrtSession.SessionOptions options = engine.join(new OrtSession.SessionOptions());
        engine.making(
            () -> {
              model.load(directory, "net", Map.of("sessionOptions", options));
              return model;
            });
        // end of page
        long requests = engine.stats().requests();
        try (NDManager manager = model.getNDManager().newSubManager();
            Predictor<NDList, NDList> predictor = model.newPredictor(new NoopTranslator());
            EngineRun run = engine.openRun("djl")) {
          NDList answers = predictor.predict(new NDList(manager.create(input, new Shape(shape))));
          answer = answers.get(0).toFloatArray();
          answers.close();
          run.check();
        }
        assertTrue(engine.stats().requests() > requests, "DJL's session did not join");
        assertArrayEquals(checks.expected(input, shape), answer);
      }
      EngineScenarios.nothingInUse(engine);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.16.3", "0.99.0", "", "latest", "1", "v1.22.0"})
  void shouldRefuseByNameWhenTheVersionIsOldOrNone(String version) {
    String refusal =
        assertThrows(UnsupportedOperationException.class, () -> OrtFunctions.checkVersion(version))
            .getMessage();
    assertTrue(refusal.startsWith("ONNX Runtime " + version + " "), refusal);
    assertTrue(refusal.endsWith("tried were 1.17 to 1.29"), refusal);
  }

  @Test
  void shouldWarnWhenTheVersionIsNewerThanWhatWasTried() {
    try (LogRecords log = new LogRecords(OrtFunctions.class.getName())) {
      for (String version : List.of("1.17.1", "1.22.0", "1.29.0", "1.29.1-rc1+x")) {
        OrtFunctions.checkVersion(version);
      }
      assertEquals(List.of(), log.all());
      OrtFunctions.checkVersion("1.30.0");
      OrtFunctions.checkVersion("2.0");
      assertEquals(2, log.all().size());
    }
  }

  @Test
  void shouldShareTheEnginesArenaWithItsSettings() throws OrtException {
    byte[] model = NETWORK.toOnnx();
    // page
    OrtSharedArena arena =
        OrtSharedArena.settings().maxBytes(64 << 20).extendAsRequested().install(environment);
    OrtSession.SessionOptions options = arena.join(new OrtSession.SessionOptions());
    OrtSession session = environment.createSession(model, options);
    // end of page
    try (arena;
        options;
        session;
        OnnxTensor small = image(SMALL);
        OnnxTensor large = image(4 * LARGE);
        OrtSession.RunOptions quiet = new OrtSession.RunOptions()) {
      quiet.setLogLevel(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL);
      for (OnnxTensor input : List.of(small, large, small)) {
        Map<String, OnnxTensor> inputs = Map.of(OpenNetwork.INPUT, input);
        if (input == large) {
          assertThrows(OrtException.class, () -> session.run(inputs, quiet));
        } else {
          try (OrtSession.Result result = session.run(inputs)) {
            assertEquals(1, result.size());
          }
        }
      }
    }
    String refusal =
        assertThrows(IllegalArgumentException.class, () -> OrtSharedArena.settings().maxBytes(0))
            .getMessage();
    assertEquals("max_mem 0 is less than 1", refusal);
  }

  @Test
  @SuppressWarnings("try") // closed early
  void shouldRefuseASecondAllocatorWhenAnArenaIsShared() throws OrtException {
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct()).build();
        OrtSharedArena arena = OrtSharedArena.settings().install(environment)) {
      assertThrows(OrtException.class, () -> install(pool));
      arena.close();
      // Nothing has changed, so it can be installed now.
      install(pool).close();
    }
  }
}
