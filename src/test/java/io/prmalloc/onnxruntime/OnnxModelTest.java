package io.prmalloc.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.RegionVisitor;
import io.prmalloc.SubAllocator;
import io.prmalloc.djl.OrtEngine;
import io.prmalloc.example.model.SampleNetwork;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Runs a network over pooled memory; with the code on the page {@code docs/onnxruntime.md}. */
class OnnxModelTest {

  private static final SampleNetwork NETWORK = SampleNetwork.SMALL;
  private static final int PIXELS = NETWORK.imageBytes() / Float.BYTES;
  private static final int LIMIT = 1 << 20;

  static {
    OrtEngine.load();
  }

  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  private final Allocator memory = new CpuAllocator(SubAllocator.direct(LIMIT));
  private OrtSession session;
  private OnnxModel model;

  @BeforeEach
  void openSession() throws OrtException {
    session = environment.createSession(NETWORK.toOnnx(), new OrtSession.SessionOptions());
    model = OnnxModel.of(environment, session, memory);
  }

  @AfterEach
  void nothingIsLost() throws OrtException {
    session.close();
    assertEquals(0, memory.stats().bytesInUse());
    memory.close();
  }

  private static float[] pixels(long seed, int batch) {
    Random random = new Random(seed);
    float[] pixels = new float[batch * PIXELS];
    for (int i = 0; i < pixels.length; i++) {
      pixels[i] = random.nextFloat();
    }
    return pixels;
  }

  /** What ONNX Runtime says when it takes its own memory. */
  private float[] expected(float[] pixels, int batch) throws OrtException {
    long[] shape = {batch, NETWORK.channels(), NETWORK.side(), NETWORK.side()};
    try (OnnxTensor image = OnnxTensor.createTensor(environment, FloatBuffer.wrap(pixels), shape);
        OrtSession.Result result = session.run(Map.of("image", image))) {
      FloatBuffer scores = ((OnnxTensor) result.get(0)).getFloatBuffer();
      float[] copy = new float[scores.remaining()];
      scores.get(copy);
      return copy;
    }
  }

  private static float[] elements(FloatBuffer view) {
    float[] copy = new float[view.remaining()];
    view.get(copy);
    return copy;
  }

  @Test
  @SuppressWarnings("try") // a step is there to be closed
  void shouldServe() throws OrtException {
    TensorPoolAllocator pool = TensorPoolAllocator.builder().build();
    float[] pixels = pixels(1, 4);
    float[] answer;
    // page
    OnnxModel model = OnnxModel.of(environment, session, pool); // once

    try (ScopedMemoryCollector step = pool.collect();
        Inference inference = model.inference().dimension("batch", 4).open()) {
      inference.input("image").floats().put(pixels);
      inference.run();
      answer = elements(inference.output("scores").floats()); // a view: read it before the close
    }
    // end of page
    assertArrayEquals(expected(pixels, 4), answer);
    pool.close();
  }

  @Test
  @SuppressWarnings("try") // a step is there to be closed
  void shouldGiveTheSameBitsWhenThePoolServesAnyBatch() throws OrtException {
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder().startStatisticStep(2).executor(Runnable::run).build()) {
      OnnxModel pooled = OnnxModel.of(environment, session, pool);
      for (int step = 0; step < 40; step++) {
        int batch = 1 + step % 5;
        float[] pixels = pixels(step, batch);
        try (ScopedMemoryCollector collector = pool.collect();
            Inference inference = pooled.inference().dimension("batch", batch).open()) {
          inference.input("image").floats().put(pixels);
          inference.run();
          assertArrayEquals(expected(pixels, batch), elements(inference.output("scores").floats()));
        }
      }
      assertTrue(pool.isPooling(), "the steps were to be enough for a plan");
      // Batches vary, so it is the plan of the step.
      assertTrue(pool.stepStats().plannedSteps() > 0, "the tensors did not come from the plan");
      assertEquals(0, pool.stats().bytesInUse());
    }
  }

  @Test
  void shouldTellWhatTheModelSays() {
    assertEquals(
        "[image FLOAT [batch, 3, 32, 32]] [scores FLOAT [batch, 10]]",
        model.inputs() + " " + model.outputs());
    assertTrue(model.inputs().get(0).dimensions().get(0).isDynamic());
    assertEquals(OnnxJavaType.FLOAT, model.outputs().get(0).type());
  }

  @Test
  void shouldSettleTheOutputWhenTheInputsShapeIsSaid() throws OrtException {
    try (Inference inference = model.inference().input("image", 2, 3, 32, 32).open()) {
      inference.run();
      assertArrayEquals(new long[] {2, 10}, inference.output("scores").shape());
      assertEquals(80, inference.output("scores").sizeBytes());
      assertEquals(80, inference.outputs().get(0).bytes().remaining());
      assertEquals(1, inference.inputs().size());
    }
  }

  @Test
  void shouldRunAgainWhenTheInputChanges() throws OrtException {
    try (Inference inference = model.inference().dimension("batch", 1).open()) {
      for (long seed = 0; seed < 3; seed++) {
        float[] pixels = pixels(seed, 1);
        inference.input("image").floats().put(pixels);
        inference.run(new OrtSession.RunOptions());
        assertArrayEquals(expected(pixels, 1), elements(inference.output("scores").floats()));
      }
    }
  }

  @Test
  void shouldNameTheDimensionWhenOneIsNotSettled() {
    InferenceBuilder builder = model.inference();
    String message = assertThrows(IllegalArgumentException.class, builder::open).getMessage();
    assertEquals(
        "input image [batch, 3, 32, 32]: not settled is dimension batch; say dimension(name, size)"
            + " or input(\"image\", shape)",
        message);
  }

  @Test
  void shouldRefuseWhatDoesNotFitAndGoOn() throws OrtException {
    InferenceBuilder builder = model.inference().dimension("batch", 2);
    List<String> refusals = new ArrayList<>();
    for (Runnable wrong :
        List.<Runnable>of(
            () -> builder.dimension("batch", 3),
            () -> builder.dimension("batch", -1),
            () -> builder.dimension("height", 3),
            () -> builder.dimension("", 3),
            () -> builder.input("picture", 2, 3, 32, 32),
            () -> builder.input("image", 3, 3, 32, 32),
            () -> builder.input("image", 2, 3, 32),
            () -> builder.input("image", 2, 3, 32, 31),
            () -> builder.input("image", -2, 3, 32, 32),
            () -> builder.output("scores", 1, 10),
            () -> builder.outputs(),
            () -> builder.outputs("score"))) {
      refusals.add(assertThrows(IllegalArgumentException.class, wrong::run).getMessage());
    }
    assertEquals(
        "dimension batch: size 3 does not fit 2, which was settled before", refusals.get(0));
    assertEquals(
        "input image: shape [2, 3, 32, 31] does not fit: dimension 3 is 32", refusals.get(7));
    try (Inference inference = builder.outputs("scores").open()) {
      inference.run();
      assertEquals(20, inference.output("scores").floats().remaining());
    }
  }

  @Test
  void shouldRefuseTheWrongViewAndTooEarlyAndTooLate() throws OrtException {
    Inference inference = model.inference().dimension("batch", 1).open();
    TensorView image = inference.input("image");
    assertThrows(IllegalStateException.class, image::longs);
    assertThrows(IllegalStateException.class, image::ints);
    assertThrows(IllegalStateException.class, image::doubles);
    assertThrows(IllegalStateException.class, image::shorts);
    assertThrows(IllegalArgumentException.class, () -> inference.input("scores"));
    assertThrows(IllegalArgumentException.class, () -> inference.output("image"));
    assertThrows(IllegalStateException.class, () -> inference.output("scores"));
    assertThrows(IllegalStateException.class, inference::outputs);
    inference.close();
    inference.close();
    assertThrows(IllegalStateException.class, image::floats);
    assertThrows(IllegalStateException.class, inference::run);
    assertEquals(1, image.shape()[0]);
  }

  @Test
  void shouldKeepNothingWhenThereIsNoMemoryForTheLastTensor() {
    // The input fits, the output does not.
    try (Allocator small = new CpuAllocator(SubAllocator.direct(NETWORK.imageBytes() + 39L))) {
      OnnxModel tight = OnnxModel.of(environment, session, small);
      InferenceBuilder builder = tight.inference().dimension("batch", 1);
      assertThrows(OutOfNativeMemoryException.class, builder::open);
      assertEquals(0, small.stats().bytesInUse());
      assertEquals(1, small.stats().numAllocs());
    } catch (OrtException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldRefuseWhenATensorIsLargerThanCanBeCounted() {
    InferenceBuilder builder = model.inference().dimension("batch", Long.MAX_VALUE / 64);
    String message = assertThrows(IllegalArgumentException.class, builder::open).getMessage();
    assertTrue(message.contains("more bytes than can be counted"), message);
  }

  @Test
  void shouldCloseTheTensorsBeforeTheMemory() throws OrtException {
    Inference[] opened = new Inference[1];
    List<Boolean> tensorsClosed = new ArrayList<>();
    RegionVisitor watch =
        RegionVisitor.of(
            (region, index, bytes) -> {},
            (region, index, bytes) -> {
              tensorsClosed.add(opened[0].inputTensors.get("image").isClosed());
              tensorsClosed.add(opened[0].pinnedOutputs.get("scores").isClosed());
            });
    try (Allocator watched = new CpuAllocator(SubAllocator.direct().withVisitors(0, watch))) {
      OnnxModel other = OnnxModel.of(environment, session, watched);
      opened[0] = other.inference().dimension("batch", 1).open();
      opened[0].run();
      assertFalse(opened[0].inputTensors.get("image").isClosed());
      opened[0].close();
      assertEquals(List.of(true, true, true, true), tensorsClosed);
    }
  }

  @Test
  void shouldWaitWithTheCloseWhenARunIsUnderWay() throws Exception {
    Inference inference = model.inference().dimension("batch", 16).open();
    Thread runner =
        new Thread(
            () -> {
              try {
                while (true) {
                  inference.run();
                }
              } catch (IllegalStateException closed) {
                // As it should.
              } catch (OrtException e) {
                throw new AssertionError(e);
              }
            });
    runner.start();
    while (runner.isAlive()) {
      try {
        inference.output("scores");
        break;
      } catch (IllegalStateException notYet) {
        Thread.onSpinWait();
      }
    }
    inference.close();
    runner.join();
    assertEquals(0, memory.stats().bytesInUse());
  }
}
