package io.prmalloc.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtLoggingLevel;
import ai.onnxruntime.OrtSession;
import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.djl.OrtEngine;
import io.prmalloc.example.model.OutputNetwork;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/**
 * Outputs whose memory cannot be allocated before a run, and outputs that never lie in our memory.
 */
class UnknownOutputsTest {

  static {
    OrtEngine.load();
  }

  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  private final Allocator memory = new CpuAllocator(SubAllocator.direct(1 << 20));
  private OrtSession session;
  private OnnxModel model;

  @BeforeEach
  void openSession() throws OrtException {
    OrtSession.SessionOptions options = new OrtSession.SessionOptions();
    // The engine writes what it refuses to the standard error of the build, too.
    options.setSessionLogLevel(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL);
    session = environment.createSession(OutputNetwork.toOnnx(), options);
    model = OnnxModel.of(environment, session, memory);
  }

  @AfterEach
  void nothingIsLost() throws OrtException {
    session.close();
    assertEquals(0, memory.stats().bytesInUse());
    memory.close();
  }

  private Inference open(String... outputs) throws OrtException {
    return model.inference().input("in", 2, 3).outputs(outputs).open();
  }

  private static void run(Inference inference, float... input) throws OrtException {
    inference.input("in").floats().put(input);
    inference.run();
  }

  private static void assertFloats(TensorView view, float... wanted) {
    assertEquals(FloatBuffer.wrap(wanted), view.floats());
  }

  @Test
  void shouldLeaveStringsToTheEngineAndSaySoWhenTheyAreAskedFor() throws OrtException {
    assertEquals(
        "[scores FLOAT [batch, width], turned FLOAT [rows, columns], places INT64 [2, found]]",
        model.outputs().toString());
    try (Inference inference = model.inference().input("in", 2, 3).open()) {
      run(inference, 1, 2, 3, 0, 5, 6);
      assertEquals(
          List.of("scores", "turned", "places"),
          inference.outputs().stream().map(TensorView::name).toList());
      assertFloats(inference.output("scores"), 2, 4, 6, 0, 10, 12);
      assertThrows(IllegalArgumentException.class, () -> inference.output("labels"));
    }
    InferenceBuilder builder = model.inference();
    String message =
        assertThrows(IllegalArgumentException.class, () -> builder.outputs("labels")).getMessage();
    assertTrue(message.startsWith("output labels is no tensor of numbers but "), message);
    assertTrue(message.contains("STRING"), message);
  }

  @Test
  void shouldPinTheOutputFromTheSecondRunOnWhenItsShapeFollowsFromTheInputs() throws OrtException {
    try (Inference first = open("turned")) {
      assertEquals(0, first.pinnedOutputs.size());
      assertThrows(IllegalStateException.class, () -> first.output("turned"));
      run(first, 1, 2, 3, 4, 5, 6);
      TensorView turned = first.output("turned");
      assertArrayEquals(new long[] {3, 2}, turned.shape());
      assertFloats(turned, 2, 8, 4, 10, 6, 12);
      assertEquals(1, first.pinnedOutputs.size());
      run(first, 6, 5, 4, 3, 2, 1);
      assertSame(turned, first.output("turned"));
      assertFloats(turned, 12, 6, 10, 4, 8, 2);
    }
    try (Inference next = open("turned")) {
      assertEquals(1, next.pinnedOutputs.size());
      assertThrows(IllegalStateException.class, () -> next.output("turned"));
      run(next, 1, 2, 3, 4, 5, 6);
      assertFloats(next.output("turned"), 2, 8, 4, 10, 6, 12);
    }
    try (Inference other = model.inference().input("in", 1, 3).outputs("turned").open()) {
      assertEquals(0, other.pinnedOutputs.size());
      run(other, 1, 2, 3);
      assertArrayEquals(new long[] {3, 1}, other.output("turned").shape());
    }
  }

  @Test
  void shouldRunAgainAndNeverPinWhenTheShapeDependsOnTheData() throws OrtException {
    try (Inference inference = open("places", "turned")) {
      run(inference, 1, 0, 0, 0, 0, 6);
      assertPlaces(inference, 0, 1, 0, 2);
      assertEquals(2, inference.pinnedOutputs.size());
      TensorView before = inference.output("places");
      run(inference, 0, 0, 3, 4, 5, 0); // refused by ONNX Runtime, and run unpinned
      assertPlaces(inference, 0, 1, 1, 2, 0, 1);
      assertThrows(IllegalStateException.class, before::bytes);
      assertFloats(inference.output("turned"), 0, 8, 0, 10, 6, 0);
      run(inference, 0, 0, 0, 0, 0, 0);
      assertArrayEquals(new long[] {2, 0}, inference.output("places").shape());
      assertEquals(0, inference.output("places").longs().remaining());
    }
    try (Inference next = open("places", "turned")) {
      assertEquals("[turned]", next.pinnedOutputs.keySet().toString());
      run(next, 0, 7, 0, 0, 0, 0);
      assertPlaces(next, 0, 1);
    }
  }

  /** The rows of all places, then their columns. */
  private static void assertPlaces(Inference inference, long... wanted) {
    TensorView places = inference.output("places");
    assertEquals(LongBuffer.wrap(wanted), places.longs());
    assertArrayEquals(new long[] {2, wanted.length / 2}, places.shape());
  }

  @Test
  void shouldKeepNothingAndGoOnWhenThereIsNoMemoryForWhatTheRunTold() throws OrtException {
    // One float in, two dimensions of a place out: 4 bytes, and 16 more that are not to be had.
    try (Allocator small = new CpuAllocator(SubAllocator.direct(19))) {
      OnnxModel tight = OnnxModel.of(environment, session, small);
      try (Inference inference = tight.inference().input("in", 1, 1).outputs("places").open()) {
        assertThrows(OutOfNativeMemoryException.class, () -> run(inference, 1));
        assertThrows(IllegalStateException.class, () -> inference.output("places"));
        assertEquals(4, small.stats().bytesInUse());
        run(inference, 0);
        assertEquals(0, inference.output("places").sizeBytes());
      }
      assertEquals(0, small.stats().bytesInUse());
    }
  }

  @Test
  void shouldGiveTheFailureOfTheRunWhenItIsNotTheShape() throws OrtException {
    try (OrtSession.RunOptions ended = new OrtSession.RunOptions();
        Inference inference = open("turned")) {
      run(inference, 1, 2, 3, 4, 5, 6);
      ended.setTerminate(true);
      FloatBuffer before = inference.output("turned").floats();
      long inUse = memory.stats().bytesInUse();
      OrtException failure = assertThrows(OrtException.class, () -> inference.run(ended));
      // It did not run a second time, and what was taken stays.
      assertEquals(0, failure.getSuppressed().length);
      assertEquals(inUse, memory.stats().bytesInUse());
      assertHoldsNothing(inference, "turned", failure);
      assertEquals(12, before.get(5));
      inference.run();
      assertFloats(inference.output("turned"), 2, 8, 4, 10, 6, 12);
    }
  }

  private static void assertHoldsNothing(Inference inference, String output, Throwable failure) {
    for (Executable read :
        List.<Executable>of(() -> inference.output(output), inference::outputs)) {
      String message = assertThrows(IllegalStateException.class, read).getMessage();
      assertEquals(
          "output " + output + " holds nothing since the last run failed: " + failure.getMessage(),
          message);
    }
  }

  @Test
  void shouldKeepWhatItTookWhenTheEngineIsRefusedMemory() throws OrtException {
    int side = 60;
    try (TensorPoolAllocator pool = EngineChecks.pool(SubAllocator.direct(1 << 20)).build();
        OrtEnvironmentAllocator engine = OrtEnvironmentAllocator.install(environment, pool);
        OrtSession joined =
            engine.createSession(OutputNetwork.toOnnx(), new OrtSession.SessionOptions())) {
      OnnxModel limited = OnnxModel.of(environment, joined, memory);
      try (Inference inference =
          limited.inference().input("in", side, side).outputs("places", "turned").open()) {
        inference.run();
        FloatBuffer before = inference.output("turned").floats();
        long inUse = memory.stats().bytesInUse();
        List<Allocation> others = new ArrayList<>();
        assertThrows(
            OutOfNativeMemoryException.class,
            () -> {
              while (true) {
                others.add(pool.allocate(4096));
              }
            });
        OrtException failure = assertThrows(OrtException.class, inference::run);
        assertTrue(failure.getMessage().contains("limit 1048576"), failure.getMessage());
        assertEquals(inUse, memory.stats().bytesInUse());
        assertHoldsNothing(inference, "places", failure);
        others.forEach(Allocation::close);
        assertEquals(0, before.get(0));
        run(inference, new float[side * side]);
        assertEquals(side * side, inference.output("turned").floats().remaining());
      }
    }
  }

  @Test
  void shouldKeepWhatItTookWhenThereIsNoMemoryForAnotherShape() throws OrtException {
    // A request of 8 bytes, one place, and another one that is not to be had beside it.
    try (Allocator small = new CpuAllocator(SubAllocator.direct(8 + 8 + 16 + 31))) {
      OnnxModel tight = OnnxModel.of(environment, session, small);
      try (Inference inference =
          tight.inference().input("in", 1, 2).outputs("turned", "places").open()) {
        run(inference, 1, 0);
        assertPlaces(inference, 0, 0);
        LongBuffer before = inference.output("places").longs();
        FloatBuffer turned = inference.output("turned").floats();
        assertEquals(32, small.stats().bytesInUse());
        OutOfNativeMemoryException failure =
            assertThrows(OutOfNativeMemoryException.class, () -> run(inference, 1, 1));
        assertEquals(32, small.stats().bytesInUse());
        assertHoldsNothing(inference, "turned", failure);
        assertEquals(0, before.get(0) + before.get(1));
        assertEquals(2, turned.get(0));
        run(inference, 0, 0);
        assertEquals(0, inference.output("places").sizeBytes());
        run(inference, 0, 1);
        assertPlaces(inference, 0, 1);
      }
      assertEquals(0, small.stats().bytesInUse());
    }
  }

  /** Memory that does not notice its use after the end. */
  private static TensorMemory.Piece unchecked(long bytes) {
    ByteBuffer buffer = ByteBuffer.allocateDirect((int) bytes).order(ByteOrder.nativeOrder());
    return new TensorMemory.Piece() {
      @Override
      public ByteBuffer byteBuffer() {
        return buffer;
      }

      @Override
      public void close() {
        // The collector's.
      }
    };
  }

  @Test
  void shouldRefuseAViewInWhosePlaceThereIsAnotherWhateverTheMemory() throws OrtException {
    OnnxModel other = OnnxModel.of(environment, session, UnknownOutputsTest::unchecked);
    try (Inference inference = other.inference().input("in", 2, 3).outputs("places").open()) {
      run(inference, 1, 0, 0, 0, 0, 6);
      TensorView before = inference.output("places");
      run(inference, 0, 0, 3, 4, 5, 0);
      String message = assertThrows(IllegalStateException.class, before::longs).getMessage();
      assertEquals(
          "output places is another view since a later run; ask the inference for it", message);
      assertPlaces(inference, 0, 1, 1, 2, 0, 1);
    }
  }

  @Test
  void shouldRefuseOptionsThatWereClosedBefore() throws OrtException {
    OrtSession.RunOptions closed = new OrtSession.RunOptions();
    closed.close();
    try (Inference inference = open("turned")) {
      assertThrows(IllegalStateException.class, () -> inference.run(closed));
      run(inference, 1, 2, 3, 4, 5, 6);
      assertFloats(inference.output("turned"), 2, 8, 4, 10, 6, 12);
    }
  }
}
