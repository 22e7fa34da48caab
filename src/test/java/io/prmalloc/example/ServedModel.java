package io.prmalloc.example;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.prmalloc.example.model.ModelFile;
import io.prmalloc.example.model.ShapeRange;
import io.prmalloc.onnxruntime.InferenceBuilder;
import io.prmalloc.onnxruntime.OnnxModel;
import io.prmalloc.onnxruntime.TensorMemory;
import io.prmalloc.onnxruntime.TensorSpec;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A model under its name.
 *
 * <p>Threading: any thread.
 */
final class ServedModel implements AutoCloseable {

  /** What the protocol calls ONNX Runtime's types. */
  private static final Map<OnnxJavaType, String> DATATYPES =
      Map.of(
          OnnxJavaType.FLOAT, "FP32",
          OnnxJavaType.DOUBLE, "FP64",
          OnnxJavaType.FLOAT16, "FP16",
          OnnxJavaType.BFLOAT16, "BF16",
          OnnxJavaType.INT8, "INT8",
          OnnxJavaType.UINT8, "UINT8",
          OnnxJavaType.INT16, "INT16",
          OnnxJavaType.INT32, "INT32",
          OnnxJavaType.INT64, "INT64",
          OnnxJavaType.BOOL, "BOOL");

  private final String name;
  private final ServerEngine engine;
  private final TensorMemory memory;

  /** Null for a network of ours. */
  private final ModelFile file;

  private final OrtSession.SessionOptions options;
  private final OrtSession session;
  private final OnnxModel model;

  /** A network of ours. */
  ServedModel(String name, byte[] onnx, ServerEngine engine, TensorMemory memory)
      throws OrtException {
    this(name, null, engine, memory, options -> engine.createSession(onnx, options));
  }

  /**
   * A model from a file.
   *
   * @param maxBytes the most bytes of all inputs of a request
   * @throws IllegalArgumentException if its shapes do not fit the model
   */
  ServedModel(ModelFile file, ServerEngine engine, TensorMemory memory, long maxBytes)
      throws OrtException {
    this(
        ModelFile.NAME,
        file,
        engine,
        memory,
        options -> engine.createSession(file.file().toString(), options));
    try {
      file.check(model.inputs(), maxBytes);
    } catch (Throwable e) {
      close();
      throw e;
    }
  }

  private interface SessionMaker {
    OrtSession make(OrtSession.SessionOptions options) throws OrtException;
  }

  private ServedModel(
      String name, ModelFile file, ServerEngine engine, TensorMemory memory, SessionMaker maker)
      throws OrtException {
    this.name = name;
    this.file = file;
    this.engine = engine;
    this.memory = memory;
    options = new OrtSession.SessionOptions();
    // Requests run side by side; each stays on its thread.
    options.setIntraOpNumThreads(1);
    options.setInterOpNumThreads(1);
    OrtSession made = null;
    OnnxModel read = null;
    try {
      made = maker.make(options);
      read = OnnxModel.of(engine.environment(), made, memory);
    } finally {
      if (read == null) {
        close(made, options);
      }
    }
    session = made;
    model = read;
  }

  private static void close(OrtSession session, OrtSession.SessionOptions options)
      throws OrtException {
    if (session != null) {
      session.close();
    }
    options.close();
  }

  static String datatype(OnnxJavaType type) {
    return DATATYPES.get(type);
  }

  String name() {
    return name;
  }

  OnnxModel model() {
    return model;
  }

  /**
   * Looks whether an input has a shape that is served. Whether the model has such an input is not
   * looked at.
   *
   * @throws Refusal if not
   */
  void checkShape(RequestHeader.Input input) throws Refusal {
    ShapeRange range = file == null ? null : file.shape(input.name());
    if (range != null) {
      range.check(input.shape());
    }
  }

  /**
   * Makes the tensors of a request.
   *
   * @param settled the request's shapes
   * @param header the same request
   * @return the caller's
   * @throws IllegalArgumentException if the shape of an output does not follow
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not to be had
   */
  ModelRun open(InferenceBuilder settled, RequestHeader header) throws OrtException {
    if (file == null) {
      return new ModelRun.Pinned(settled.open());
    }
    PlainRun run = new PlainRun(session, engine.allocator(), wanted(header));
    try {
      for (RequestHeader.Input input : header.inputs()) {
        run.add(engine.environment(), memory, input);
      }
      return run;
    } catch (Throwable e) {
      run.close();
      throw e;
    }
  }

  private Set<String> wanted(RequestHeader header) {
    Set<String> names = new LinkedHashSet<>();
    header.outputs().forEach(output -> names.add(output.name()));
    if (names.isEmpty()) {
      model.outputs().forEach(output -> names.add(output.name()));
    }
    return names;
  }

  ObjectNode metadata() {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    node.put("name", name).put("platform", "onnxruntime_onnx");
    node.putArray("versions").add("1");
    describe(model.inputs(), node.putArray("inputs"));
    describe(model.outputs(), node.putArray("outputs"));
    return node;
  }

  private static void describe(List<TensorSpec> specs, ArrayNode list) {
    for (TensorSpec spec : specs) {
      ObjectNode tensor = list.addObject();
      tensor.put("name", spec.name()).put("datatype", datatype(spec.type()));
      ArrayNode shape = tensor.putArray("shape");
      spec.dimensions().forEach(dimension -> shape.add(dimension.size()));
    }
  }

  @Override
  public void close() throws OrtException {
    close(session, options);
  }
}
