package io.prmalloc.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.prmalloc.LogRecords;
import io.prmalloc.SubAllocator;
import io.prmalloc.djl.OrtEngine;
import io.prmalloc.example.model.OutputNetwork;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Runs that are nested, closed in any order, on any thread, or used too late. */
class EngineRunTest {

  private static final int LIMIT = 1 << 20;
  private static final int SMALL = 10;
  private static final int LARGE = 600;

  static {
    OrtEngine.load();
  }

  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  private TensorPoolAllocator pool;
  private OrtEnvironmentAllocator engine;
  private OrtSession session;

  @BeforeEach
  void openSession() throws OrtException {
    pool = EngineChecks.pool(SubAllocator.direct(LIMIT)).build();
    engine = OrtEnvironmentAllocator.install(environment, pool);
    session = engine.createSession(OutputNetwork.toOnnx(), new OrtSession.SessionOptions());
  }

  @AfterEach
  void nothingIsLost() throws OrtException {
    assertNull(EngineRun.current());
    session.close();
    engine.close();
    EngineScenarios.nothingInUse(engine);
    pool.close();
  }

  /** Runs it on a square of zeros. */
  private void run(EngineRun run, int side) throws OrtException {
    try (OnnxTensor input = OnnxTensor.createTensor(environment, new float[side][side]);
        OrtSession.Result result = run.run(session, Map.of("in", input))) {
      assertEquals(4, result.size());
    }
  }

  private void runPlainly() throws OrtException {
    try (OnnxTensor input = OnnxTensor.createTensor(environment, new float[LARGE][LARGE]);
        OrtSession.Result result = session.run(Map.of("in", input))) {
      assertEquals(4, result.size());
    }
  }

  @Test
  void shouldRefuseToRunWhenItWasClosedBefore() throws OrtException {
    EngineRun run = engine.openRun("key");
    run(run, SMALL);
    run.close();
    String refusal = assertThrows(IllegalStateException.class, () -> run(run, SMALL)).getMessage();
    assertEquals("run was closed before", refusal);
    assertThrows(IllegalStateException.class, run::options);
    run.close();
  }

  @Test
  void shouldRefuseGivenOptionsThatWereClosedBefore() throws OrtException {
    OrtSession.RunOptions options = new OrtSession.RunOptions();
    options.close();
    assertThrows(IllegalStateException.class, () -> engine.openRun("key", options));
  }

  @Test
  void shouldForgetTheRunWhenTheOuterOneIsClosedFirst() throws OrtException {
    EngineRun outer = engine.openRun("outer");
    EngineRun middle = engine.openRun("middle");
    EngineRun inner = engine.openRun("inner");
    middle.close();
    assertSame(inner, EngineRun.current());
    outer.close();
    inner.close();
    assertNull(EngineRun.current());
    assertThatWarningsGoOn();
  }

  /** At the 1st, 2nd, 4th and so on of those that no run can be ended for. */
  private void assertThatWarningsGoOn() throws OrtException {
    try (LogRecords log = new LogRecords(OrtEnvironmentAllocator.class.getName())) {
      long before = engine.stats().overruns();
      runPlainly();
      runPlainly();
      long after = engine.stats().overruns();
      assertTrue(after > before + 3, before + " and " + after);
      assertEquals(
          Long.numberOfLeadingZeros(before) - Long.numberOfLeadingZeros(after), log.all().size());
    }
  }

  @Test
  void shouldComeBackToTheOuterRunWhenTheInnerOneIsClosed() throws OrtException {
    try (EngineRun outer = engine.openRun("outer")) {
      try (EngineRun inner = engine.openRun("inner")) {
        run(inner, SMALL);
      }
      assertSame(outer, EngineRun.current());
      assertThrows(OrtException.class, () -> run(outer, LARGE));
    }
  }

  @Test
  void shouldEndTheRunThatRunsWhenAnInnerOneIsOpen() throws OrtException {
    try (EngineRun outer = engine.openRun("outer");
        EngineRun inner = engine.openRun("inner")) {
      OrtException ended = assertThrows(OrtException.class, () -> run(outer, LARGE));
      assertTrue(ended.getMessage().contains("limit " + LIMIT), ended.getMessage());
      assertSame(inner, EngineRun.current());
      inner.check();
      run(inner, SMALL);
    }
  }

  @Test
  void shouldForgetTheRunWhenAnotherThreadClosesIt() throws Exception {
    EngineRun run = engine.openRun("key");
    onThread(run::close);
    assertNull(EngineRun.current());
    assertThrows(IllegalStateException.class, () -> run(run, SMALL));
    assertThatWarningsGoOn();
    try (EngineRun next = engine.openRun("key")) {
      run(next, SMALL);
      assertThrows(OrtException.class, () -> run(next, LARGE));
    }
    assertNull(EngineRun.current());
  }

  @Test
  void shouldEndTheRunWhenAnotherThreadRunsIt() throws Exception {
    try (EngineRun run = engine.openRun("key")) {
      onThread(() -> assertThrows(OrtException.class, () -> run(run, LARGE)));
      assertThrows(OrtException.class, run::check);
    }
  }

  /** Something done in a thread of its own. */
  private interface Work {
    void run() throws Exception;
  }

  private static void onThread(Work work) throws Exception {
    Throwable[] failure = new Throwable[1];
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (Throwable thrown) {
                failure[0] = thrown;
              }
              assertNull(EngineRun.current());
            });
    thread.start();
    thread.join();
    assertNull(failure[0], () -> failure[0].toString());
  }

  @Test
  void shouldWaitWithTheCloseWhenARunIsUnderWay() throws Exception {
    for (int i = 0; i < 20; i++) {
      EngineRun run = engine.openRun("key");
      CountDownLatch started = new CountDownLatch(1);
      Thread closer =
          new Thread(
              () -> {
                try {
                  started.await();
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
                run.close();
              });
      closer.start();
      boolean refused = false;
      while (!refused) {
        started.countDown();
        try {
          run(run, SMALL);
        } catch (IllegalStateException closed) {
          refused = true;
        }
      }
      closer.join();
      assertFalse(closer.isAlive());
    }
  }
}
