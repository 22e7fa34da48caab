package io.prmalloc.example;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.util.ResourceLeakDetector;
import io.prmalloc.djl.OrtEngine;
import io.prmalloc.example.client.LoadClient;
import io.prmalloc.example.client.LoadClient.Answer;
import io.prmalloc.example.client.LoadRun;
import io.prmalloc.example.client.ServerProcess;
import io.prmalloc.example.client.ShapedLoad;
import io.prmalloc.example.model.ModelFile;
import io.prmalloc.example.model.ModelFileOptions;
import io.prmalloc.example.model.OnnxMessage;
import io.prmalloc.example.model.ShapeRange;
import io.prmalloc.example.model.TensorBytes;
import io.prmalloc.onnxruntime.OrtEnvironmentAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example server with a model from a file whose height and width are open. */
class OpenShapeTest {

  private static final String RANGE = "x=1x1x4..16/2x4..16/2";
  private static final int FLOAT = 1;

  private final ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();

  @TempDir private Path directory;
  private Path file;

  @BeforeAll
  static void loadFirst() {
    OrtEngine.load();
  }

  @BeforeEach
  void writeModel() throws IOException {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    file = Files.write(directory.resolve("blur.onnx"), blur());
  }

  @AfterEach
  void restoreLevel() {
    ResourceLeakDetector.setLevel(level);
  }

  /**
   * Sums over 3 x 3 pixels, negative ones cut, twice. The output's height and width have other
   * names than the input's, as those of models from elsewhere.
   */
  private static byte[] blur() {
    ByteBuffer ones = ByteBuffer.allocate(9 * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    while (ones.hasRemaining()) {
      ones.putFloat(1);
    }
    OnnxMessage kernel = new OnnxMessage();
    for (long size : new long[] {1, 1, 3, 3}) {
      kernel.put(1, size);
    }
    kernel.put(2, FLOAT).put(8, "kernel").put(9, ones.array());
    OnnxMessage graph =
        new OnnxMessage()
            .put(1, convolution("x", "first"))
            .put(1, node("Relu", "first", "cut"))
            .put(1, convolution("cut", "y"))
            .put(2, "blur")
            .put(5, kernel)
            .put(11, value("x", "height", "width"))
            .put(12, value("y", "", ""));
    return OnnxMessage.model(graph);
  }

  private static OnnxMessage convolution(String from, String to) {
    OnnxMessage pads = new OnnxMessage().put(1, "pads").put(20, 7);
    for (int side = 0; side < 4; side++) {
      pads.put(8, 1);
    }
    return new OnnxMessage()
        .put(1, from)
        .put(1, "kernel")
        .put(2, to)
        .put(3, to)
        .put(4, "Conv")
        .put(5, pads);
  }

  private static OnnxMessage node(String operator, String from, String to) {
    return new OnnxMessage().put(1, from).put(2, to).put(3, to).put(4, operator);
  }

  /** Floats [1, 1, height, width]; a dimension without a name is open, too. */
  private static OnnxMessage value(String name, String height, String width) {
    OnnxMessage one = new OnnxMessage().put(1, 1);
    OnnxMessage shape = new OnnxMessage().put(1, one).put(1, one);
    for (String open : new String[] {height, width}) {
      shape.put(1, open.isEmpty() ? new OnnxMessage() : new OnnxMessage().put(2, open));
    }
    OnnxMessage tensor = new OnnxMessage().put(1, FLOAT).put(2, shape);
    return new OnnxMessage().put(1, name).put(2, new OnnxMessage().put(1, tensor));
  }

  private InferenceServer serve(EngineMemory engine, MemoryKind kind) throws Exception {
    ModelFile model = new ModelFile(file, List.of(ShapeRange.parse(RANGE)));
    return new InferenceServer(new ServerOptions(kind, engine, model, 0, 2, ServerLimits.DEFAULT));
  }

  private static byte[] request(float[] pixels, long... shape) {
    ByteBuffer elements =
        ByteBuffer.allocate(pixels.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    elements.asFloatBuffer().put(pixels);
    String json =
        "{\"inputs\":[{\"name\":\"x\",\"shape\":"
            + TensorBytes.list(shape)
            + ",\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":"
            + elements.capacity()
            + "}}],\"parameters\":{\"binary_data_output\":true}}";
    return LoadClient.post("model", json, elements.array());
  }

  private static float[] pixels(int height, int width) {
    float[] pixels = new float[height * width];
    for (int i = 0; i < pixels.length; i++) {
      pixels[i] = i % 7 - 3;
    }
    return pixels;
  }

  private static float[] sums(float[] pixels, int height, int width) {
    float[] sums = new float[pixels.length];
    for (int i = 0; i < pixels.length; i++) {
      int row = i / width;
      int column = i % width;
      for (int r = Math.max(row - 1, 0); r <= Math.min(row + 1, height - 1); r++) {
        for (int c = Math.max(column - 1, 0); c <= Math.min(column + 1, width - 1); c++) {
          sums[i] += pixels[r * width + c];
        }
      }
    }
    return sums;
  }

  /** What the model is to answer, in whole numbers. */
  private static float[] expected(float[] pixels, int height, int width) {
    float[] cut = sums(pixels, height, width);
    for (int i = 0; i < cut.length; i++) {
      cut[i] = Math.max(cut[i], 0);
    }
    return sums(cut, height, width);
  }

  private static void checkAnswers(LoadClient client) throws IOException {
    for (int height = 4; height <= 16; height += 2) {
      for (int width = 16; width >= 4; width -= 4) {
        float[] pixels = pixels(height, width);
        Answer answer = client.send(request(pixels, 1, 1, height, width));
        float[] found = new float[pixels.length];
        byte[] elements = LoadRun.elements(answer);
        assertEquals(found.length * Float.BYTES, elements.length);
        ByteBuffer.wrap(elements).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(found);
        assertArrayEquals(expected(pixels, height, width), found, "at " + height + " x " + width);
        assertTrue(
            answer.text().contains("\"shape\":[1,1," + height + "," + width + "]"), answer::text);
      }
    }
  }

  private static void awaitIdle(InferenceServer server) {
    while (server.requestsInFlight() > 0) {
      Thread.onSpinWait();
    }
  }

  @Test
  void shouldAnswerAllShapesAndLoseNothingWhenTheEngineIsOnThePool() throws Exception {
    try (InferenceServer server = serve(EngineMemory.POOL, MemoryKind.POOL)) {
      try (LoadClient client = new LoadClient(server.address())) {
        for (int round = 0; round < 10; round++) {
          checkAnswers(client);
        }
        Answer refused = client.send(request(pixels(18, 4), 1, 1, 18, 4));
        assertEquals(400, refused.status(), refused::text);
        assertTrue(
            refused.text().contains("input x: shape [1, 1, 18, 4] has 18 in dimension 2"),
            refused::text);
        assertTrue(refused.text().contains("which is over 16"), refused::text);
        checkAnswers(client);
        awaitIdle(server);
        assertEquals(0, server.tensorBytes());
        OrtEnvironmentAllocator engine = OrtEnvironmentAllocator.installed().orElseThrow();
        assertEquals(0, engine.stats().tensorBytes());
        assertTrue(engine.stats().requests() > 0, () -> "no request came to the pool");
        String tensors =
            "prmalloc_engine_memory_bytes{engine=\"onnxruntime\",kind=\"tensors\",pool=\"server\"} 0.0";
        String page = client.get("/metrics").text();
        assertTrue(page.lines().anyMatch(tensors::equals), page);
      }
    } // which throws unless the pool has all back
    assertTrue(OrtEnvironmentAllocator.installed().isEmpty());
  }

  @Test
  void shouldAnswerTheSameWhereverTheEngineHasItsMemory() throws Exception {
    for (Map.Entry<EngineMemory, MemoryKind> memory :
        Map.of(
                EngineMemory.OWN, MemoryKind.DIRECT,
                EngineMemory.SHARED, MemoryKind.POOL,
                EngineMemory.POOL, MemoryKind.NETTY)
            .entrySet()) {
      try (InferenceServer server = serve(memory.getKey(), memory.getValue());
          LoadClient client = new LoadClient(server.address())) {
        checkAnswers(client);
      }
    }
  }

  @Test
  void shouldNameDimensionValueAndBoundWhenAShapeIsRefused() throws Exception {
    try (InferenceServer server = serve(EngineMemory.OWN, MemoryKind.POOL);
        LoadClient client = new LoadClient(server.address())) {
      for (Map.Entry<long[], String> wrong :
          Map.of(
                  new long[] {1, 1, 2, 4}, "has 2 in dimension 2, which is under 4",
                  new long[] {1, 1, 4, 9},
                      "has 9 in dimension 3, which is not 4 and a multiple of 2",
                  new long[] {2, 1, 4, 4}, "has 2 in dimension 0, which is over 1",
                  new long[] {1, 4, 4}, "it has 4 dimensions")
              .entrySet()) {
        int count = (int) ShapeRange.bytes(wrong.getKey()) / Float.BYTES;
        Answer answer = client.send(request(new float[count], wrong.getKey()));
        assertEquals(400, answer.status(), wrong::getValue);
        assertTrue(answer.text().contains(wrong.getValue()), answer::text);
      }
      checkAnswers(client);
    }
  }

  @Test
  void shouldCompareTheAnswersOfOneLoadWhenShapesAreRandom() throws Exception {
    List<ShapeRange> ranges = List.of(ShapeRange.parse(RANGE));
    ShapedLoad load = new ShapedLoad("model", ranges, 1);
    for (EngineMemory engine : EngineMemory.values()) {
      try (InferenceServer server = serve(engine, MemoryKind.POOL)) {
        LoadRun.of(server.address(), load.withSeed(2), 2, 50, 60);
        assertEquals(100, LoadRun.of(server.address(), load, 2, 100, 60).requests());
      }
    }
  }

  /** Closing the process throws unless its last word is that nothing was lost. */
  @Test
  void shouldEndWithNothingLostWhenTheProcessIsToldTo() throws Exception {
    ModelFile model = new ModelFile(file, List.of(ShapeRange.parse(RANGE)));
    ShapedLoad load = new ShapedLoad("model", model.shapes(), 1);
    for (String engine : new String[] {"shared", "pool"}) {
      List<String> more = new ArrayList<>(ModelFileOptions.arguments(model));
      more.add("--engine-memory=" + engine);
      more.addAll(ServerProcess.SMALL_HEAP);
      try (ServerProcess server = new ServerProcess(MemoryKind.POOL, 2, more)) {
        assertEquals(50, LoadRun.of(server.address(), load, 2, 50, 60).requests());
        assertTrue(server.metrics().get("process_resident_peak_bytes") > 0);
      }
    }
  }

  @Test
  void shouldKeepNothingWhenTheShapesDoNotFitTheModel() throws Exception {
    for (Map.Entry<String, String> wrong :
        Map.of(
                "z=1x1x4x4", "the model has no such input",
                "x=1x4x4", "has 3 dimensions, input x FLOAT [1, 1, height, width] has 4",
                "x=1x3x4x4", "dimension 1 is 3, not 1",
                "x=1x1x8000x8000", "the largest has 256000000 bytes, over 67108864")
            .entrySet()) {
      ModelFile model = new ModelFile(file, List.of(ShapeRange.parse(wrong.getKey())));
      ServerOptions options =
          new ServerOptions(MemoryKind.POOL, EngineMemory.POOL, model, 0, 1, ServerLimits.DEFAULT);
      Exception refused =
          assertThrows(IllegalArgumentException.class, () -> new InferenceServer(options));
      assertTrue(refused.getMessage().contains(wrong.getValue()), refused.getMessage());
      assertTrue(OrtEnvironmentAllocator.installed().isEmpty());
    }
  }
}
