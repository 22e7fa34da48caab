package io.prmalloc.example;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.prmalloc.onnxruntime.OnnxModel;
import io.prmalloc.onnxruntime.TensorMemory;
import io.prmalloc.onnxruntime.TensorSpec;
import java.util.List;
import java.util.Map;

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
  private final OrtSession.SessionOptions options;
  private final OrtSession session;
  private final OnnxModel model;

  ServedModel(String name, byte[] onnx, OrtEnvironment environment, TensorMemory memory)
      throws OrtException {
    this.name = name;
    options = new OrtSession.SessionOptions();
    // Requests run side by side; each stays on its thread.
    options.setIntraOpNumThreads(1);
    options.setInterOpNumThreads(1);
    session = environment.createSession(onnx, options);
    model = OnnxModel.of(environment, session, memory);
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
    session.close();
    options.close();
  }
}
