package io.prmalloc.onnxruntime;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

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
  // Two lists, two loops: first the tensors, then the memory. That order, and that no other class
  // can close either, is the whole point; a tensor over memory that went back early reads garbage
  // or writes into another request, and ONNX Runtime cannot notice.

  // Outputs of unknown shape are the engine's in a run; they are copied into our memory before the
  // result closes, so that all outputs are read, and end, alike.

  private final OnnxModel model;
  private final Map<String, TensorView> inputs = new LinkedHashMap<>();

  /** In the order in which they were asked for. */
  private final List<String> outputNames;

  /** Without those that no run has shown yet. */
  private final Map<String, TensorView> outputs = new ConcurrentHashMap<>();

  /** What only a run can tell, or has told: those that are pinned since then, and those below. */
  private final Set<String> learnt;

  /** What is the engine's in the next run, by name. */
  private final Map<String, TensorSpec> unpinned = new LinkedHashMap<>();

  private final List<List<Long>> inputShapes;
  final Map<String, OnnxTensor> inputTensors = new LinkedHashMap<>();
  final Map<String, OnnxTensor> pinnedOutputs = new LinkedHashMap<>();
  private final List<TensorMemory.Piece> pieces = new ArrayList<>();
  private final Object runOrClose = new Object();
  private volatile boolean hasRun;
  private volatile boolean closed;

  private Inference(
      OnnxModel model, List<List<Long>> inputShapes, List<String> outputNames, Set<String> learnt) {
    this.model = model;
    this.inputShapes = inputShapes;
    this.outputNames = outputNames;
    this.learnt = learnt;
  }

  /**
   * @param learnt outputs whose shape a run has told, or is to tell
   */
  static Inference open(
      OnnxModel model,
      Map<String, TensorView.Layout> in,
      Map<String, TensorView.Layout> out,
      Set<String> learnt)
      throws OrtException {
    List<List<Long>> inputShapes = learnt.isEmpty() ? List.of() : LearntShapes.keyOf(in);
    Inference made = new Inference(model, inputShapes, List.copyOf(out.keySet()), learnt);
    boolean complete = false;
    try {
      for (TensorView.Layout layout : in.values()) {
        made.add(layout, made.inputs, made.inputTensors);
      }
      for (TensorView.Layout layout : out.values()) {
        if (layout.shape == null) {
          made.unpinned.put(layout.spec.name(), layout.spec);
        } else {
          made.add(layout, made.outputs, made.pinnedOutputs);
        }
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
      TensorView.Layout layout, Map<String, TensorView> views, Map<String, OnnxTensor> tensors)
      throws OrtException {
    TensorMemory.Piece piece = take(layout);
    tensors.put(
        layout.spec.name(),
        OnnxTensor.createTensor(
            model.environment(), piece.byteBuffer(), layout.shape, layout.spec.type()));
    views.put(layout.spec.name(), new TensorView(this, layout, piece));
  }

  private TensorMemory.Piece take(TensorView.Layout layout) {
    TensorMemory.Piece piece = model.memory().take(layout.sizeBytes);
    pieces.add(piece);
    return piece;
  }

  /**
   * An input, to be filled.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if the model has no such input
   */
  public TensorView input(String name) {
    return view("input", inputs.keySet(), inputs, name);
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
    TensorView view = view("output", outputNames, outputs, name);
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
    return outputNames.stream().map(this::output).toList();
  }

  private static TensorView view(
      String side, Collection<String> names, Map<String, TensorView> views, String name) {
    if (!names.contains(name)) {
      throw new IllegalArgumentException(
          "there is no " + side + " `" + name + "` here; there are " + names);
    }
    return views.get(name);
  }

  /**
   * Runs the model on the inputs as they are now, into the outputs. Where an {@link
   * OrtEnvironmentAllocator} is installed, the run is a step of its pool.
   *
   * <p>An output whose shape was not known is copied once, and pinned in later runs on inputs of
   * the same shapes. If its shape turns out to be another one, ONNX Runtime refuses and the model
   * runs a second time; from then on that output is copied in each run, and its view is a new one.
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
   * @throws io.prmalloc.OutOfNativeMemoryException if there is no memory for an output whose shape
   *     the run has told; the tensors stay open
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
    try {
      runPinned(options);
    } catch (OrtException failure) {
      if (!unpinLearnt()) {
        throw failure;
      }
      try {
        runPinned(options);
      } catch (OrtException again) {
        again.addSuppressed(failure);
        throw again;
      }
    }
  }

  private void runPinned(OrtSession.RunOptions options) throws OrtException {
    // The result holds the pinned tensors, which it does not own.
    try (OrtSession.Result result =
        model.session().run(inputTensors, unpinned.keySet(), pinnedOutputs, options)) {
      for (TensorSpec spec : List.copyOf(unpinned.values())) {
        keep(spec, (OnnxTensor) result.get(spec.name()).orElseThrow());
      }
    }
  }

  /** Lets the engine say anew which shape outputs have; false if there are none to ask for. */
  private boolean unpinLearnt() {
    boolean any = false;
    for (String name : learnt) {
      OnnxTensor pinned = pinnedOutputs.remove(name);
      if (pinned != null) {
        pinned.close();
        giveBack(outputs.get(name));
        unpinned.put(name, outputs.remove(name).spec());
        any = true;
      }
    }
    return any;
  }

  private void giveBack(TensorView view) {
    pieces.remove(view.piece());
    view.piece().close();
  }

  /** Copies an output of the engine's, and pins it from now on if its shape does not vary. */
  private void keep(TensorSpec spec, OnnxTensor tensor) throws OrtException {
    long[] shape = tensor.getInfo().getShape();
    TensorView.Layout layout = InferenceBuilder.layout("output", spec, shape);
    TensorView before = outputs.remove(spec.name());
    if (before != null) {
      giveBack(before);
    }
    if (model.learnt().learn(inputShapes, spec.name(), shape) && layout.sizeBytes > 0) {
      add(layout, outputs, pinnedOutputs);
      unpinned.remove(spec.name());
    } else {
      outputs.put(spec.name(), new TensorView(this, layout, take(layout)));
    }
    if (layout.sizeBytes > 0) {
      outputs.get(spec.name()).bytes().put(tensor.getByteBuffer());
    }
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
