package io.prmalloc.example;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.prmalloc.example.model.ShapeRange;
import io.prmalloc.example.model.TensorBytes;
import io.prmalloc.onnxruntime.EngineRun;
import io.prmalloc.onnxruntime.OrtEnvironmentAllocator;
import io.prmalloc.onnxruntime.TensorMemory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A run whose outputs ONNX Runtime allocates itself, for models whose output sizes are not known
 * before the run.
 *
 * <p>Threading: one thread at a time.
 */
final class PlainRun implements ModelRun {

  // The outputs lie in the engine's memory, and the engine's Java API shows it to nobody: it copies
  // them to the heap. So they go back at the end of the run, and the inputs with them.

  private final OrtSession session;
  private final OrtEnvironmentAllocator engine;
  private final Set<String> wanted;
  private final Map<String, TensorBytes> inputs = new LinkedHashMap<>();
  private final Map<String, OnnxTensor> tensors = new LinkedHashMap<>();
  private final List<TensorMemory.Piece> pieces = new ArrayList<>();
  private final List<TensorBytes> outputs = new ArrayList<>();

  /**
   * @param engine whose step the run is, or null
   * @param wanted outputs
   */
  PlainRun(OrtSession session, OrtEnvironmentAllocator engine, Set<String> wanted) {
    this.session = session;
    this.engine = engine;
    this.wanted = wanted;
  }

  /** Makes the tensor of an input, which is of floats. */
  void add(OrtEnvironment environment, TensorMemory memory, RequestHeader.Input input)
      throws OrtException {
    String name = input.name();
    long[] shape = input.shape().stream().mapToLong(Long::longValue).toArray();
    TensorMemory.Piece piece = memory.take(ShapeRange.bytes(shape));
    pieces.add(piece);
    ByteBuffer bytes = piece.byteBuffer();
    tensors.put(name, OnnxTensor.createTensor(environment, bytes, shape, OnnxJavaType.FLOAT));
    inputs.put(name, new TensorBytes(name, OnnxJavaType.FLOAT, input.shape(), bytes));
  }

  @Override
  public TensorBytes input(String name) {
    return inputs.get(name);
  }

  @Override
  public void run() throws OrtException {
    if (engine == null) {
      try (OrtSession.Result result = session.run(tensors, wanted)) {
        copy(result);
      }
    } else {
      runStep();
    }
    close();
  }

  private void runStep() throws OrtException {
    // One step for each request, of the session's kind.
    try (EngineRun run = engine.openRun(session)) {
      try (OrtSession.Result result = session.run(tensors, wanted, run.options())) {
        copy(result);
      } catch (OrtException failed) {
        // A run that was ended for want of memory says no more than that it was ended.
        run.check();
        throw failed;
      }
      run.check();
    }
  }

  private void copy(OrtSession.Result result) {
    for (String name : wanted) {
      OnnxTensor tensor = (OnnxTensor) result.get(name).orElseThrow();
      outputs.add(
          new TensorBytes(
              name,
              tensor.getInfo().type,
              TensorBytes.list(tensor.getInfo().getShape()),
              tensor.getByteBuffer()));
    }
  }

  @Override
  public List<TensorBytes> outputs() {
    return List.copyOf(outputs);
  }

  @Override
  public void close() {
    // Tensors before their memory.
    tensors.values().forEach(OnnxTensor::close);
    tensors.clear();
    inputs.clear();
    pieces.forEach(TensorMemory.Piece::close);
    pieces.clear();
  }
}
