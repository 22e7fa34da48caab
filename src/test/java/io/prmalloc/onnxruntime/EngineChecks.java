package io.prmalloc.onnxruntime;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.prmalloc.SubAllocator;
import io.prmalloc.example.model.OpenNetwork;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.pool.TensorPoolBuilder;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A network with two sessions, one with the engine's own memory and one with the pool's. Every
 * answer of the second is compared with the first's, bit by bit.
 *
 * <p>Threading: any thread.
 */
final class EngineChecks implements AutoCloseable {

  /** Ways to run a session. */
  enum Way {
    /** {@code session.run(inputs)}. */
    PLAIN,
    /** Inside an {@link EngineRun}. */
    RUN,
    /** {@link Inference}. */
    MODEL
  }

  static final List<Way> WAYS = List.of(Way.values());

  final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  final OrtEnvironmentAllocator engine;
  final OpenNetwork network;
  private final byte[] bytes;
  private final OrtSession own;
  private final OrtSession.SessionOptions options;
  private OrtSession session;
  private OnnxModel model;

  EngineChecks(OrtEnvironmentAllocator engine, OpenNetwork network) throws OrtException {
    this(engine, network, new OrtSession.SessionOptions());
  }

  EngineChecks(
      OrtEnvironmentAllocator engine, OpenNetwork network, OrtSession.SessionOptions options)
      throws OrtException {
    this.engine = engine;
    this.network = network;
    this.bytes = network.toOnnx();
    this.options = options;
    options.setIntraOpNumThreads(1);
    try (OrtSession.SessionOptions plain = new OrtSession.SessionOptions()) {
      plain.setIntraOpNumThreads(1);
      own = environment.createSession(bytes, plain);
    }
    open();
  }

  /** A pool that learns at once, with limited memory or not. */
  static TensorPoolBuilder pool(SubAllocator memory) {
    return TensorPoolAllocator.builder()
        .subAllocator(memory)
        .startStatisticStep(2)
        .executor(Runnable::run);
  }

  private void open() throws OrtException {
    session = engine.createSession(bytes, options);
    model = OnnxModel.of(environment, session, engine.pool());
  }

  /** Closes the session and makes it anew. */
  void reopen() throws OrtException {
    session.close();
    open();
  }

  OrtSession session() {
    return session;
  }

  OnnxModel model() {
    return model;
  }

  /** Runs it on a random input of this shape, and compares. */
  void check(Way way, long seed, long... shape) throws OrtException {
    float[] input = input(seed, shape);
    float[] answer = answer(way, input, shape);
    float[] expected = expected(input, shape);
    // Arrays.equals compares floats by their bits, all kinds of NaN apart.
    if (!Arrays.equals(expected, answer)) {
      throw new AssertionError(
          network + " " + Arrays.toString(shape) + " " + way + " differs, seed " + seed);
    }
  }

  static float[] input(long seed, long... shape) {
    Random random = new Random(seed);
    float[] input = new float[(int) Arrays.stream(shape).reduce(1, (a, b) -> a * b)];
    for (int i = 0; i < input.length; i++) {
      input[i] = random.nextFloat();
    }
    return input;
  }

  float[] expected(float[] input, long... shape) throws OrtException {
    return run(own, null, input, shape);
  }

  private float[] answer(Way way, float[] input, long... shape) throws OrtException {
    return switch (way) {
      case PLAIN -> run(session, null, input, shape);
      case RUN -> {
        try (EngineRun run = engine.openRun(network)) {
          yield run(session, run, input, shape);
        }
      }
      case MODEL -> {
        try (Inference inference = open(shape)) {
          inference.input(OpenNetwork.INPUT).floats().put(input);
          inference.run();
          yield elements(inference.output(OpenNetwork.OUTPUT).floats());
        }
      }
    };
  }

  /** A request, to be filled. */
  Inference open(long... shape) throws OrtException {
    return open(model, network, shape);
  }

  static Inference open(OnnxModel model, OpenNetwork network, long... shape) throws OrtException {
    return model
        .inference()
        .input(OpenNetwork.INPUT, shape)
        .output(OpenNetwork.OUTPUT, network.output(shape))
        .open();
  }

  /**
   * @param within null for a plain run
   */
  private float[] run(OrtSession of, EngineRun within, float[] input, long... shape)
      throws OrtException {
    try (OnnxTensor tensor = OnnxTensor.createTensor(environment, FloatBuffer.wrap(input), shape)) {
      Map<String, OnnxTensor> inputs = Map.of(OpenNetwork.INPUT, tensor);
      try (OrtSession.Result result = within == null ? of.run(inputs) : within.run(of, inputs)) {
        OnnxTensor output = (OnnxTensor) result.get(0);
        long[] wanted = network.output(shape);
        if (!Arrays.equals(wanted, output.getInfo().getShape())) {
          throw new AssertionError(Arrays.toString(output.getInfo().getShape()));
        }
        return elements(output.getFloatBuffer());
      }
    }
  }

  static float[] elements(FloatBuffer view) {
    float[] copy = new float[view.remaining()];
    view.get(copy);
    return copy;
  }

  @Override
  public void close() throws OrtException {
    session.close();
    own.close();
    options.close();
  }
}
