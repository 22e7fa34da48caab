package io.prmalloc.onnxruntime;

import ai.onnxruntime.NodeInfo;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.prmalloc.Allocator;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * A session of ONNX Runtime whose tensors lie in pooled memory.
 *
 * <pre>{@code
 * OnnxModel model = OnnxModel.of(environment, session, pool);
 * try (Inference inference = model.inference().dimension("batch", 4).open()) {
 *   fill(inference.input("image").floats());
 *   inference.run();
 *   answer(inference.output("scores").floats());
 * }
 * }</pre>
 *
 * <p>The session and the environment stay the caller's, to be closed after the last inference.
 *
 * <p>Threading: any thread; each {@link Inference} is its own.
 */
public final class OnnxModel {

  private final OrtEnvironment environment;
  private final OrtSession session;
  private final TensorMemory memory;
  private final Map<String, TensorSpec> inputs;
  private final Map<String, TensorSpec> outputs;

  /** What the outputs are that are no tensors of numbers. */
  private final Map<String, String> others = new LinkedHashMap<>();

  private final LearntShapes learnt = new LearntShapes();
  private final Object stepKey;

  private OnnxModel(OrtEnvironment environment, OrtSession session, TensorMemory memory)
      throws OrtException {
    this.environment = Objects.requireNonNull(environment, "environment");
    this.session = Objects.requireNonNull(session, "session");
    this.memory = Objects.requireNonNull(memory, "memory");
    this.inputs = specs(session.getInputInfo().values());
    Map<Boolean, List<NodeInfo>> results =
        session.getOutputInfo().values().stream()
            .collect(Collectors.partitioningBy(TensorSpec::isTensorOfNumbers));
    this.outputs = specs(results.get(true));
    results.get(false).forEach(node -> others.put(node.getName(), node.getInfo().toString()));
    this.stepKey = List.of(inputs(), outputs());
  }

  /**
   * A model with tensors from an allocator.
   *
   * <p>Threading: any thread.
   *
   * @param allocator where they come from; stays the caller's
   * @throws IllegalArgumentException if an input is no tensor of numbers
   * @throws OrtException if the session does not tell its inputs and outputs
   */
  public static OnnxModel of(OrtEnvironment environment, OrtSession session, Allocator allocator)
      throws OrtException {
    return new OnnxModel(environment, session, TensorMemory.of(allocator));
  }

  /**
   * A model with tensors from anywhere.
   *
   * <p>Threading: any thread.
   *
   * @param memory where they come from
   * @throws IllegalArgumentException if an input is no tensor of numbers
   * @throws OrtException if the session does not tell its inputs and outputs
   */
  public static OnnxModel of(OrtEnvironment environment, OrtSession session, TensorMemory memory)
      throws OrtException {
    return new OnnxModel(environment, session, memory);
  }

  private static Map<String, TensorSpec> specs(Collection<NodeInfo> nodes) {
    Map<String, TensorSpec> specs = new LinkedHashMap<>();
    for (NodeInfo node : nodes) {
      specs.put(node.getName(), TensorSpec.of(node));
    }
    return specs;
  }

  /** What goes in, in the model's order. Threading: any thread. */
  public List<TensorSpec> inputs() {
    return List.copyOf(inputs.values());
  }

  /**
   * What comes out, in the model's order: the tensors of numbers. Strings, sequences and maps are
   * left to the engine, which is not asked for them. Threading: any thread.
   */
  public List<TensorSpec> outputs() {
    return List.copyOf(outputs.values());
  }

  /** Begins a request. Threading: any thread. */
  public InferenceBuilder inference() {
    return new InferenceBuilder(this, inputs, outputs);
  }

  /** What the outputs are, by name, that are no tensors of numbers. */
  Map<String, String> others() {
    return others;
  }

  LearntShapes learnt() {
    return learnt;
  }

  /** Equal for sessions of the same model, so what was learnt of one serves the next. */
  Object stepKey() {
    return stepKey;
  }

  OrtEnvironment environment() {
    return environment;
  }

  OrtSession session() {
    return session;
  }

  TensorMemory memory() {
    return memory;
  }
}
