package io.prmalloc.onnxruntime;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The tensors of one request: fill the inputs, {@link #run}, read the outputs, close. May be run
 * again with other contents; the outputs are overwritten then.
 *
 * <p>Closing closes every tensor before any memory goes back, and waits for a run that is under
 * way, so ONNX Runtime never sees memory that is somebody else's by then.
 *
 * <p>Threading: any thread; one run at a time.
 */
public final class Inference implements AutoCloseable {
  // Two lists, two loops: first the tensors, then the memory. That order, and that nobody but this
  // class can close either, is the whole point; a tensor over memory that went back early reads
  // garbage or writes into another request, and ONNX Runtime cannot notice.

  private final OnnxModel model;
  private final Map<String, TensorView> inputs = new LinkedHashMap<>();
  private final Map<String, TensorView> outputs = new LinkedHashMap<>();
  final Map<String, OnnxTensor> inputTensors = new LinkedHashMap<>();
  final Map<String, OnnxTensor> pinnedOutputs = new LinkedHashMap<>();
  private final List<TensorMemory.Piece> pieces = new ArrayList<>();
  private final Object runOrClose = new Object();
  private volatile boolean hasRun;
  private volatile boolean closed;

  private Inference(OnnxModel model) {
    this.model = model;
  }

  static Inference open(
      OnnxModel model, Map<String, TensorView.Layout> in, Map<String, TensorView.Layout> out)
      throws OrtException {
    Inference made = new Inference(model);
    boolean complete = false;
    try {
      for (TensorView.Layout layout : in.values()) {
        made.add(model, layout, made.inputs, made.inputTensors);
      }
      for (TensorView.Layout layout : out.values()) {
        made.add(model, layout, made.outputs, made.pinnedOutputs);
      }
      complete = true;
      return made;
    } finally {
      if (!complete) {
        made.close();
      }
    }
  }

  private void add(
      OnnxModel model,
      TensorView.Layout layout,
      Map<String, TensorView> views,
      Map<String, OnnxTensor> tensors)
      throws OrtException {
    TensorMemory.Piece piece = model.memory().take(layout.sizeBytes);
    pieces.add(piece);
    String name = layout.spec.name();
    tensors.put(
        name,
        OnnxTensor.createTensor(
            model.environment(), piece.byteBuffer(), layout.shape, layout.spec.type()));
    views.put(name, new TensorView(this, layout, piece));
  }

  /**
   * An input, to be filled.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if the model has no such input
   */
  public TensorView input(String name) {
    return view("input", inputs, name);
  }

  /**
   * An output, to be read.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if no such output was asked for
   * @throws IllegalStateException if {@link #run} has not succeeded yet
   */
  public TensorView output(String name) {
    TensorView view = view("output", outputs, name);
    if (!hasRun) {
      throw new IllegalStateException("output " + name + " holds nothing before run()");
    }
    return view;
  }

  /** All inputs, in the model's order. Threading: any thread. */
  public List<TensorView> inputs() {
    return List.copyOf(inputs.values());
  }

  /**
   * All outputs asked for, in that order.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if {@link #run} has not succeeded yet
   */
  public List<TensorView> outputs() {
    return outputs.keySet().stream().map(this::output).toList();
  }

  private static TensorView view(String side, Map<String, TensorView> views, String name) {
    TensorView view = views.get(name);
    if (view == null) {
      throw new IllegalArgumentException(
          "there is no " + side + " `" + name + "` here; there are " + views.keySet());
    }
    return view;
  }

  /**
   * Runs the model on the inputs as they are now, into the outputs. Where an {@link
   * OrtEnvironmentAllocator} is installed, the run is a step of its pool.
   *
   * <p>Threading: any thread; a second one waits for the first.
   *
   * @throws OrtException if ONNX Runtime fails, or its memory was refused; the tensors stay open
   * @throws IllegalStateException if this is closed
   */
  public void run() throws OrtException {
    run(null);
  }

  /**
   * As {@link #run()}, with options of ONNX Runtime's.
   *
   * <p>Threading: any thread; a second one waits for the first.
   *
   * @param options may be null
   * @throws OrtException if ONNX Runtime fails, or its memory was refused; the tensors stay open
   * @throws IllegalStateException if this is closed
   */
  public void run(OrtSession.RunOptions options) throws OrtException {
    synchronized (runOrClose) {
      checkOpen();
      OrtEnvironmentAllocator engine = OrtEnvironmentAllocator.installed().orElse(null);
      if (engine == null) {
        runSession(options);
      } else {
        runStep(engine, options);
      }
      hasRun = true;
    }
  }

  private void runSession(OrtSession.RunOptions options) throws OrtException {
    // The result holds the pinned tensors, which it does not own, and nothing else.
    model.session().run(inputTensors, Set.of(), pinnedOutputs, options).close();
  }

  private void runStep(OrtEnvironmentAllocator engine, OrtSession.RunOptions options)
      throws OrtException {
    try (EngineRun run = engine.openRun(model.stepKey(), options)) {
      try {
        runSession(run.options());
      } catch (OrtException failure) {
        throw run.refused(failure);
      }
      run.check();
    }
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("inference was closed before");
    }
  }

  /** Closes the tensors, then gives the memory back; nothing the second time. Threading: any. */
  @Override
  public void close() {
    synchronized (runOrClose) {
      if (closed) {
        return;
      }
      closed = true;
      inputTensors.values().forEach(OnnxTensor::close);
      pinnedOutputs.values().forEach(OnnxTensor::close);
      RuntimeException failure = null;
      for (TensorMemory.Piece piece : pieces) {
        try {
          piece.close();
        } catch (RuntimeException refused) {
          failure = failure == null ? refused : failure;
        }
      }
      if (failure != null) {
        throw failure;
      }
    }
  }
}
