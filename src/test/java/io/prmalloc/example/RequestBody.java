package io.prmalloc.example;

import ai.onnxruntime.OrtException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.onnxruntime.Inference;
import io.prmalloc.onnxruntime.InferenceBuilder;
import io.prmalloc.onnxruntime.TensorSpec;
import io.prmalloc.onnxruntime.TensorView;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;

/**
 * The body of an inference request while it comes in: JSON, then the elements of the inputs that
 * are sent as bytes.
 *
 * <p>Threading: one thread at a time.
 */
final class RequestBody implements AutoCloseable {
  // Nothing is gathered but the JSON: as soon as that is complete the tensors are made, and bytes
  // go from the network's buffers to where the model reads them. So a request of 4 MiB needs its
  // tensors and one network buffer, and what is wrong with it is known before its bytes came.

  private final ServedModel model;
  private final long maxBytes;
  private final int headerBytes;

  /** Null once it was released: Netty uses its buffers again, for somebody else. */
  private ByteBuf json;

  private final Deque<Part> parts = new ArrayDeque<>();
  private RequestHeader header;
  private Inference inference;

  /** An input whose bytes are awaited. */
  private record Part(String name, ByteBuffer target) {}

  /**
   * @param headerBytes of JSON, in front of elements as bytes; −1 if all is JSON
   * @param buffers where the JSON is gathered
   * @param maxBytes of all tensors together
   */
  RequestBody(ServedModel model, int headerBytes, ByteBufAllocator buffers, long maxBytes) {
    this.model = model;
    this.headerBytes = headerBytes;
    this.maxBytes = maxBytes;
    this.json =
        buffers.directBuffer(headerBytes < 0 ? 4096 : headerBytes, ServerOptions.MAX_JSON_BYTES);
  }

  /** Takes what has come in. */
  void add(ByteBuf data) throws Refusal {
    if (header == null) {
      int wanted = headerBytes < 0 ? data.readableBytes() : headerBytes - json.readableBytes();
      int bytes = Math.min(wanted, data.readableBytes());
      if (json.readableBytes() + bytes > ServerOptions.MAX_JSON_BYTES) {
        throw Refusal.tooLarge(
            "the request has more than " + ServerOptions.MAX_JSON_BYTES + " bytes of JSON");
      }
      json.writeBytes(data, bytes);
      if (json.readableBytes() == headerBytes) {
        open();
      }
    }
    while (data.isReadable()) {
      addElements(data);
    }
  }

  private void addElements(ByteBuf data) throws Refusal {
    Part part = parts.peek();
    if (part == null) {
      throw Refusal.badRequest(
          "the body has " + data.readableBytes() + " or more bytes behind the last input");
    }
    ByteBuffer target = part.target;
    int end = target.limit();
    target.limit(target.position() + Math.min(target.remaining(), data.readableBytes()));
    data.readBytes(target);
    target.limit(end);
    if (!target.hasRemaining()) {
      parts.remove();
    }
  }

  private void open() throws Refusal {
    header = RequestHeader.parse(json);
    try {
      InferenceBuilder builder = model.model().inference();
      checkInputs(builder);
      if (!header.outputs().isEmpty()) {
        builder.outputs(
            header.outputs().stream().map(RequestHeader.Output::name).toArray(String[]::new));
      }
      inference = builder.open();
    } catch (IllegalArgumentException unfit) {
      throw Refusal.badRequest(unfit.getMessage());
    } catch (OutOfNativeMemoryException full) {
      throw Refusal.unavailable("no memory for this request now: " + full.getMessage());
    } catch (OrtException e) {
      throw new IllegalStateException(e);
    }
    for (RequestHeader.Input input : header.inputs()) {
      fill(input);
    }
  }

  private void checkInputs(InferenceBuilder builder) throws Refusal {
    Set<String> given = new HashSet<>();
    long total = 0;
    for (RequestHeader.Input input : header.inputs()) {
      builder.input(input.name(), input.shape().stream().mapToLong(Long::longValue).toArray());
      if (!given.add(input.name())) {
        throw Refusal.badRequest("input " + input.name() + " is given twice");
      }
      total += checkInput(input, maxBytes - total);
    }
    for (TensorSpec spec : model.model().inputs()) {
      if (!given.contains(spec.name())) {
        throw Refusal.badRequest("input " + spec.name() + " is missing");
      }
    }
  }

  /** Checks type and bytes of an input that the model has, and returns the latter. */
  private long checkInput(RequestHeader.Input input, long room) throws Refusal {
    TensorSpec spec =
        model.model().inputs().stream()
            .filter(one -> one.name().equals(input.name()))
            .findFirst()
            .orElseThrow();
    String datatype = ServedModel.datatype(spec.type());
    if (!datatype.equals(input.datatype())) {
      throw Refusal.badRequest(
          "input " + input.name() + ": datatype is " + datatype + ", not " + input.datatype());
    }
    long bytes = spec.type().size;
    for (long size : input.shape()) {
      if (size > room / bytes) {
        throw Refusal.tooLarge(
            "input "
                + input.name()
                + " "
                + input.shape()
                + ": a request has at most "
                + maxBytes
                + " bytes of inputs");
      }
      bytes *= size;
    }
    if (input.binaryBytes() >= 0 && input.binaryBytes() != bytes) {
      throw Refusal.badRequest(
          "input "
              + input.name()
              + ": shape "
              + input.shape()
              + " has "
              + bytes
              + " bytes, not "
              + input.binaryBytes());
    }
    return bytes;
  }

  private void fill(RequestHeader.Input input) throws Refusal {
    TensorView tensor = inference.input(input.name());
    if (input.data() != null) {
      JsonElements.read(input.data(), tensor);
    } else {
      parts.add(new Part(input.name(), tensor.bytes()));
    }
  }

  /** The tensors once all is there: the caller's from then on. */
  Inference finish() throws Refusal {
    if (header == null) {
      if (headerBytes >= 0) {
        throw Refusal.badRequest(
            "the body ends after "
                + json.readableBytes()
                + " of "
                + headerBytes
                + " bytes of JSON");
      }
      open();
    }
    Part part = parts.peek();
    if (part != null) {
      throw Refusal.badRequest(
          "input "
              + part.name
              + ": the body ends after "
              + part.target.position()
              + " of "
              + part.target.limit()
              + " bytes");
    }
    Inference complete = inference;
    inference = null;
    releaseJson();
    return complete;
  }

  /** What was asked for; once {@link #finish} has succeeded. */
  RequestHeader header() {
    return header;
  }

  /** Gives back what was not handed over. Nothing the second time. */
  @Override
  public void close() {
    if (inference != null) {
      inference.close();
      inference = null;
    }
    releaseJson();
  }

  private void releaseJson() {
    if (json != null) {
      json.release();
      json = null;
    }
  }
}
