package io.prmalloc.example;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.prmalloc.example.model.TensorBytes;
import java.util.ArrayList;
import java.util.List;

/**
 * The body of an answer: JSON, then the outputs that are sent as bytes. These are the memory of the
 * tensors themselves, which must stay open until the body is written.
 *
 * @param content JSON and bytes
 * @param jsonBytes how many of them are JSON; −1 if all
 */
record ResponseBody(ByteBuf content, int jsonBytes) {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  static ResponseBody of(
      ServedModel model, RequestHeader header, ModelRun run, ByteBufAllocator buffers) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("model_name", model.name()).put("model_version", "1");
    if (header.id() != null) {
      root.put("id", header.id());
    }
    List<ByteBuf> elements = new ArrayList<>();
    for (TensorBytes output : run.outputs()) {
      ObjectNode node = root.withArray("outputs").addObject();
      node.put("name", output.name()).put("datatype", ServedModel.datatype(output.type()));
      for (long size : output.shape()) {
        node.withArray("shape").add(size);
      }
      if (isBinary(header, output.name())) {
        node.putObject("parameters").put("binary_data_size", output.bytes().remaining());
        elements.add(Unpooled.wrappedBuffer(output.bytes()));
      } else {
        JsonElements.write(output, node.putArray("data"));
      }
    }
    ByteBuf json = text(root, buffers);
    if (elements.isEmpty()) {
      return new ResponseBody(json, -1);
    }
    int jsonBytes = json.readableBytes();
    CompositeByteBuf all = buffers.compositeDirectBuffer(elements.size() + 1);
    all.addComponent(true, json).addComponents(true, elements);
    return new ResponseBody(all, jsonBytes);
  }

  private static boolean isBinary(RequestHeader header, String output) {
    for (RequestHeader.Output wanted : header.outputs()) {
      if (wanted.name().equals(output)) {
        return wanted.binary();
      }
    }
    return header.allBinary();
  }

  static ByteBuf text(JsonNode node, ByteBufAllocator buffers) {
    try {
      byte[] bytes = JSON.writeValueAsBytes(node);
      return buffers.directBuffer(bytes.length).writeBytes(bytes);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
