package io.prmalloc.example;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The JSON of an inference request, not yet checked against the model.
 *
 * @param id what the client calls it, or null
 * @param inputs at least one
 * @param outputs none for all of the model
 * @param allBinary whether outputs that say nothing else come as bytes
 */
record RequestHeader(String id, List<Input> inputs, List<Output> outputs, boolean allBinary) {

  /**
   * An input.
   *
   * @param shape sizes from 1
   * @param binaryBytes how many bytes of the body are its elements; −1 if they are in {@code data}
   * @param data elements as JSON, or null
   */
  record Input(String name, List<Long> shape, String datatype, long binaryBytes, JsonNode data) {}

  /** An output that is wanted, as bytes or as JSON. */
  record Output(String name, boolean binary) {}

  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final String BINARY_BYTES = "binary_data_size";

  /** Whether elements are in the JSON: they need many times the memory of their text. */
  boolean hasElements() {
    return inputs.stream().anyMatch(input -> input.data() != null);
  }

  static RequestHeader parse(ByteBuf text) throws Refusal {
    JsonNode root;
    try (ByteBufInputStream in = new ByteBufInputStream(text)) {
      root = JSON.readTree(in);
    } catch (JsonProcessingException e) {
      throw Refusal.badRequest("the request is no JSON: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw new IllegalStateException("a buffer does not throw this", e);
    }
    if (root == null || !root.isObject()) {
      throw Refusal.badRequest("the request is no JSON object");
    }
    boolean allBinary = root.path("parameters").path("binary_data_output").asBoolean(false);
    List<Input> inputs = new ArrayList<>();
    for (JsonNode node : array(root, "inputs", "the request")) {
      inputs.add(input(node, inputs.size()));
    }
    if (inputs.isEmpty()) {
      throw Refusal.badRequest("the request has no inputs");
    }
    List<Output> outputs = new ArrayList<>();
    if (root.has("outputs")) {
      for (JsonNode node : array(root, "outputs", "the request")) {
        outputs.add(
            new Output(
                text(node, "name", "output " + outputs.size()),
                node.path("parameters").path("binary_data").asBoolean(allBinary)));
      }
    }
    return new RequestHeader(root.path("id").textValue(), inputs, outputs, allBinary);
  }

  private static Input input(JsonNode node, int index) throws Refusal {
    String name = text(node, "name", "input " + index);
    String what = "input " + name;
    List<Long> shape = new ArrayList<>();
    for (JsonNode size : array(node, "shape", what)) {
      if (!size.isIntegralNumber() || !size.canConvertToLong() || size.longValue() < 1) {
        throw Refusal.badRequest(what + ": shape has " + size + ", which is no size from 1");
      }
      shape.add(size.longValue());
    }
    JsonNode bytes = node.path("parameters").path(BINARY_BYTES);
    JsonNode data = node.get("data");
    if (bytes.isMissingNode() == (data == null)) {
      throw Refusal.badRequest(what + " has not one of data and " + BINARY_BYTES);
    }
    boolean isCount = bytes.isIntegralNumber() && bytes.canConvertToLong();
    if (data == null && (!isCount || bytes.longValue() < 0)) {
      throw Refusal.badRequest(what + ": " + BINARY_BYTES + " " + bytes + " is no count");
    }
    return new Input(
        name, shape, text(node, "datatype", what), data == null ? bytes.longValue() : -1, data);
  }

  private static JsonNode array(JsonNode node, String field, String what) throws Refusal {
    JsonNode found = node.path(field);
    if (!found.isArray()) {
      throw Refusal.badRequest(what + " has no array `" + field + "`");
    }
    return found;
  }

  private static String text(JsonNode node, String field, String what) throws Refusal {
    String found = node.path(field).textValue();
    if (found == null) {
      throw Refusal.badRequest(what + " has no text `" + field + "`");
    }
    return found;
  }
}
