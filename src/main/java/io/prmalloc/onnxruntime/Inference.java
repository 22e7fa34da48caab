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
import java.util.function.BooleanSupplier;

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
  // result closes, so that all outputs are read, and end, alike. Memory of an earlier run goes back
  // only when all that takes its place is there: a run that fails leaves everything as it was.

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

  /** Why the outputs hold nothing; null if they do. */
  private volatile String nothing = "before run()";

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
      return made;
    } catch (Throwable e) {
      made.close();
      throw e;
    }
  }

  private void add(
      TensorView.Layout layout, Map<String, TensorView> views, Map<String, OnnxTensor> tensors)
      throws OrtException {
    TensorMemory.Piece piece = take(layout);
    tensors.put(layout.spec.name(), tensor(layout, piece));
    views.put(layout.spec.name(), new TensorView(this, layout, piece));
  }

  private OnnxTensor tensor(TensorView.Layout layout, TensorMemory.Piece piece)
      throws OrtException {
    return OnnxTensor.createTensor(
        model.environment(), piece.byteBuffer(), layout.shape, layout.spec.type());
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
   * @return never null
   * @throws IllegalArgumentException if no such output was asked for
   * @throws IllegalStateException if {@link #run} was not called yet, or failed the last time; the
   *     message says which, and how
   */
  public TensorView output(String name) {
    TensorView view = view("output", outputNames, outputs, name);
    String why = nothing;
    if (why != null) {
      throw new IllegalStateException("output " + name + " holds nothing " + why);
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
   * @throws IllegalStateException as {@link #output}
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
   * <p>If the run fails, the tensors stay open and it may be run again. {@link #output} refuses
   * until a run succeeds. Buffers that were taken before still show this inference's memory; which
   * run's elements they show is not defined.
   *
   * <p>Threading: any thread; a second one waits for the first.
   *
   * @throws OrtException if ONNX Runtime fails, or its memory was refused
   * @throws io.prmalloc.OutOfNativeMemoryException if there is no memory for an output whose shape
   *     the run has told
   * @throws IllegalStateException if this is closed, or the session is
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
   * @throws OrtException as {@link #run()}
   * @throws io.prmalloc.OutOfNativeMemoryException as {@link #run()}
   * @throws IllegalStateException as {@link #run()}, or if the options are closed
   */
  public void run(OrtSession.RunOptions options) throws OrtException {
    synchronized (runOrClose) {
      checkOpen();
      try {
        runOpen(options);
        nothing = null;
      } catch (Throwable failure) {
        nothing = "since the last run failed: " + failure.getMessage();
        throw failure;
      }
    }
  }

  private void runOpen(OrtSession.RunOptions options) throws OrtException {
    OrtEnvironmentAllocator engine = OrtEnvironmentAllocator.installed().orElse(null);
    if (engine != null) {
      try (EngineRun run = engine.openRun(model.stepKey(), options)) {
        runSession(
            (names, pinned) -> run.run(model.session(), inputTensors, names, pinned),
            run::wasRefused);
      }
    } else {
      if (options != null) {
        // Throws if they were closed; ONNX Runtime would use what they were.
        options.getLogVerbosityLevel();
      }
      runSession(
          (names, pinned) -> model.session().run(inputTensors, names, pinned, options),
          () -> false);
    }
  }

  /** A run of the session on the inputs. */
  private interface Engine {
    /**
     * Runs it.
     *
     * @param names outputs that are the engine's
     * @param pinned outputs that lie in our memory
     */
    OrtSession.Result run(Set<String> names, Map<String, OnnxTensor> pinned) throws OrtException;
  }

  private void runSession(Engine engine, BooleanSupplier wasRefused) throws OrtException {
    try {
      runAndKeep(engine, unpinned, pinnedOutputs);
    } catch (OrtException failure) {
      Map<String, OnnxTensor> sure = new LinkedHashMap<>(pinnedOutputs);
      sure.keySet().removeAll(learnt);
      if (sure.size() == pinnedOutputs.size()
          || wasRefused.getAsBoolean()
          || !isOtherShape(failure)) {
        throw failure;
      }
      // Lets the engine say anew which shapes they have.
      Map<String, TensorSpec> told = new LinkedHashMap<>(unpinned);
      for (String name : pinnedOutputs.keySet()) {
        if (!sure.containsKey(name)) {
          told.put(name, outputs.get(name).spec());
        }
      }
      try {
        runAndKeep(engine, told, sure);
      } catch (OrtException again) {
        again.addSuppressed(failure);
        throw again;
      }
    }
  }

  /** ONNX Runtime has no code of its own for that; the words are those of all its versions. */
  private static boolean isOtherShape(OrtException failure) {
    String message = failure.getMessage();
    return message != null && message.contains("shape verification failed");
  }

  private void runAndKeep(
      Engine engine, Map<String, TensorSpec> told, Map<String, OnnxTensor> pinned)
      throws OrtException {
    List<Kept> all = new ArrayList<>();
    boolean complete = false;
    // The result holds the pinned tensors, which it does not own.
    try (OrtSession.Result result = engine.run(told.keySet(), pinned)) {
      for (TensorSpec spec : told.values()) {
        Kept kept = new Kept();
        all.add(kept);
        copy(spec, (OnnxTensor) result.get(spec.name()).orElseThrow(), kept);
      }
      complete = true;
    } finally {
      if (!complete) {
        all.forEach(this::forget);
      }
    }
    all.forEach(this::keep);
  }

  /** A copy of an output of the engine's. */
  private static final class Kept {
    TensorView view;

    /** Null of one that is not pinned. */
    OnnxTensor tensor;
  }

  /** Copies an output of the engine's, to be pinned from now on if its shape does not vary. */
  private void copy(TensorSpec spec, OnnxTensor tensor, Kept kept) throws OrtException {
    long[] shape = tensor.getInfo().getShape();
    TensorView.Layout layout = InferenceBuilder.layout("output", spec, shape);
    kept.view = new TensorView(this, layout, take(layout));
    if (model.learnt().learn(inputShapes, spec.name(), shape) && layout.sizeBytes > 0) {
      kept.tensor = tensor(layout, kept.view.piece());
    }
    if (layout.sizeBytes > 0) {
      kept.view.bytes().put(tensor.getByteBuffer());
    }
  }

  private void forget(Kept kept) {
    if (kept.tensor != null) {
      kept.tensor.close();
    }
    if (kept.view != null) {
      giveBack(kept.view);
    }
  }

  /** Puts a copy into the place of the one before. */
  private void keep(Kept kept) {
    TensorSpec spec = kept.view.spec();
    OnnxTensor pinned = pinnedOutputs.remove(spec.name());
    if (kept.tensor == null) {
      unpinned.put(spec.name(), spec);
    } else {
      unpinned.remove(spec.name());
      pinnedOutputs.put(spec.name(), kept.tensor);
    }
    TensorView before = outputs.put(spec.name(), kept.view);
    if (pinned != null) {
      pinned.close();
    }
    if (before != null) {
      giveBack(before);
    }
  }

  private void giveBack(TensorView view) {
    view.end();
    pieces.remove(view.piece());
    view.piece().close();
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
