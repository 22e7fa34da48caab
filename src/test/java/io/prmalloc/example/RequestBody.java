package io.prmalloc.example;

import ai.onnxruntime.OrtException;
import io.netty.buffer.ByteBuf;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.example.model.TensorBytes;
import io.prmalloc.onnxruntime.InferenceBuilder;
import io.prmalloc.onnxruntime.TensorSpec;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The body of an inference request while it is received: JSON, then the elements of the inputs that
 * are sent as bytes.
 *
 * <p>Threading: one thread at a time.
 */
final class RequestBody implements AutoCloseable {
  // Until a request is complete it holds what its client has sent and no more: what the client says
  // that it will send takes no memory. The JSON is checked as soon as it is there, so what is wrong
  // with a request is known before its elements come; the tensors are made by the worker that runs
  // it, so requests that wait for one hold their bytes once and not twice.

  private final ServedModel model;
  private final long maxBytes;
  private final int headerBytes;
  private final int jsonBytes;
  private final BodyBuffer json;
  private final BodyBuffer elements;
  private final List<Part> parts = new ArrayList<>();

  /** Of all parts. */
  private long elementBytes;

  /** Null before the JSON was read, and as long as it is to be read again. */
  private RequestHeader header;

  /** What is asked for, without memory. */
  private InferenceBuilder builder;

  private boolean checked;

  /** An input whose elements are sent as bytes, in the order in which they come. */
  private record Part(String input, long bytes) {}

  /**
   * @param headerBytes of JSON, in front of elements as bytes; −1 if all is JSON
   * @param bodyBytes of all; −1 if that is not known
   * @param memory for what comes
   * @param maxBytes of all tensors together
   */
  RequestBody(
      ServedModel model, int headerBytes, int bodyBytes, ServerMemory memory, long maxBytes) {
    this.model = model;
    this.headerBytes = headerBytes;
    this.maxBytes = maxBytes;
    int most = bodyBytes < 0 ? ServerLimits.MAX_JSON_BYTES : bodyBytes;
    this.jsonBytes = headerBytes < 0 ? most : headerBytes;
    this.json = new BodyBuffer(memory);
    this.elements = new BodyBuffer(memory);
  }

  /**
   * Takes what has come in.
   *
   * @throws Refusal if it is wrong, or there is no memory; nothing more can be added then
   */
  void add(ByteBuf data) throws Refusal {
    if (!checked) {
      int wanted = (int) Math.min(jsonBytes - json.bytes(), data.readableBytes());
      if (headerBytes < 0 && wanted < data.readableBytes()) {
        throw Refusal.tooLarge("the request has more than " + jsonBytes + " bytes of JSON");
      }
      json.add(data, wanted, jsonBytes - json.bytes());
      if (json.bytes() == headerBytes) {
        check();
        if (header.hasElements()) {
          // The tree is many times its text, which is read again when the request runs.
          header = null;
        } else {
          json.close();
        }
      }
    }
    int bytes = data.readableBytes();
    if (bytes > 0) {
      long awaited = elementBytes - elements.bytes();
      if (bytes > awaited) {
        throw Refusal.badRequest(
            "the body has " + (bytes - awaited) + " or more bytes behind the last input");
      }
      elements.add(data, bytes, awaited);
    }
  }

  /**
   * Says that all has come.
   *
   * @throws Refusal if that is not so
   */
  void complete() throws Refusal {
    if (checked) {
      checkElements();
    } else if (headerBytes >= 0) {
      throw Refusal.badRequest(
          "the body ends after " + json.bytes() + " of " + headerBytes + " bytes of JSON");
    }
  }

  private void checkElements() throws Refusal {
    long come = elements.bytes();
    for (Part part : parts) {
      if (come < part.bytes) {
        throw Refusal.badRequest(
            "input "
                + part.input
                + ": the body ends after "
                + come
                + " of "
                + part.bytes
                + " bytes");
      }
      come -= part.bytes;
    }
  }

  /**
   * Makes the tensors of a complete request and gives back what held its bytes.
   *
   * @return the caller's
   * @throws Refusal if the request is wrong, or there is no memory
   */
  ModelRun open() throws Refusal, OrtException {
    if (header == null) {
      check();
      checkElements();
    }
    ModelRun run;
    try {
      run = model.open(builder, header);
    } catch (IllegalArgumentException unfit) {
      throw Refusal.badRequest(unfit.getMessage());
    } catch (OutOfNativeMemoryException | OutOfMemoryError full) {
      throw Refusal.unavailable("no memory for this request now: " + full.getMessage());
    }
    boolean filled = false;
    try {
      for (RequestHeader.Input input : header.inputs()) {
        fill(run.input(input.name()), input);
      }
      filled = true;
      return run;
    } finally {
      close();
      if (!filled) {
        run.close();
      }
    }
  }

  private void fill(TensorBytes tensor, RequestHeader.Input input) throws Refusal {
    if (input.data() != null) {
      JsonElements.read(input.data(), tensor);
    } else {
      elements.moveTo(tensor.bytes());
    }
  }

  /** Reads the JSON and holds it against the model. */
  private void check() throws Refusal {
    header = RequestHeader.parse(json.view());
    parts.clear();
    elementBytes = 0;
    try {
      builder = model.model().inference();
      checkInputs(builder);
      if (!header.outputs().isEmpty()) {
        builder.outputs(
            header.outputs().stream().map(RequestHeader.Output::name).toArray(String[]::new));
      }
    } catch (IllegalArgumentException unfit) {
      throw Refusal.badRequest(unfit.getMessage());
    }
    checked = true;
  }

  private void checkInputs(InferenceBuilder builder) throws Refusal {
    Set<String> given = new HashSet<>();
    long total = 0;
    for (RequestHeader.Input input : header.inputs()) {
      model.checkShape(input);
      builder.input(input.name(), input.shape().stream().mapToLong(Long::longValue).toArray());
      if (!given.add(input.name())) {
        throw Refusal.badRequest("input " + input.name() + " is given twice");
      }
      long bytes = checkInput(input, maxBytes - total);
      total += bytes;
      if (input.data() == null) {
        parts.add(new Part(input.name(), bytes));
        elementBytes += bytes;
      }
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

  /** What was asked for; once {@link #open} has succeeded. */
  RequestHeader header() {
    return header;
  }

  /** Gives back what holds the bytes that have come. Nothing the second time. */
  @Override
  public void close() {
    json.close();
    elements.close();
  }
}
