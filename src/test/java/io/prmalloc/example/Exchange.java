package io.prmalloc.example;

import ai.onnxruntime.OrtException;
import io.netty.buffer.ByteBufAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One inference, from the request's head to the sent answer. Holds all that is to be given back at
 * its end.
 *
 * <p>Threading: one thread at a time: the event loop, then a worker, then the event loop.
 */
final class Exchange {

  private final ServedModel model;
  private final RequestBody body;
  private final ServerMemory memory;
  private final Runnable atEnd;
  private final long beganNanos = System.nanoTime();
  private final AtomicBoolean ended = new AtomicBoolean();
  private ModelRun run;

  /**
   * @param memory whose step the inference is
   * @param atEnd is called once, when all has been given back
   */
  Exchange(ServedModel model, RequestBody body, ServerMemory memory, Runnable atEnd) {
    this.model = model;
    this.body = body;
    this.memory = memory;
    this.atEnd = atEnd;
  }

  RequestBody body() {
    return body;
  }

  /**
   * Makes the tensors and runs the model; the answer's body shows the outputs where they lie.
   *
   * @throws Refusal if the request is wrong, or there is no memory
   */
  @SuppressWarnings("try") // a step is there to be closed
  ResponseBody run(ByteBufAllocator buffers) throws Refusal, OrtException {
    // Opened and closed by the thread that asks for the tensors, which is what a step wants. They
    // outlive it: the answer is the outputs.
    try (ScopedMemoryCollector step = memory.step()) {
      run = body.open();
      run.run();
      return ResponseBody.of(model, body.header(), run, buffers);
    }
  }

  /** Gives everything back, whatever state this is in. Nothing the second time. */
  void abandon() {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try {
      body.close();
      if (run != null) {
        run.close();
      }
    } finally {
      atEnd.run();
    }
  }

  long nanos() {
    return System.nanoTime() - beganNanos;
  }
}
