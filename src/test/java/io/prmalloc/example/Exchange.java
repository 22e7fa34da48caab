package io.prmalloc.example;

import ai.onnxruntime.OrtException;
import io.netty.buffer.ByteBufAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.onnxruntime.Inference;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One inference from its request's head to its answer on the wire: a step of the pool, and all that
 * is to be given back at its end.
 *
 * <p>Threading: one thread at a time: the event loop, then a worker, then the event loop.
 */
final class Exchange {

  private final ServedModel model;
  private final RequestBody body;
  private final ScopedMemoryCollector step;
  private final Runnable atEnd;
  private final long beganNanos = System.nanoTime();
  private final AtomicBoolean ended = new AtomicBoolean();
  private Inference inference;

  /**
   * @param step of the pool, or null
   * @param atEnd is called once, when all has been given back
   */
  Exchange(ServedModel model, RequestBody body, ScopedMemoryCollector step, Runnable atEnd) {
    this.model = model;
    this.body = body;
    this.step = step;
    this.atEnd = atEnd;
  }

  RequestBody body() {
    return body;
  }

  /** The request is complete. */
  void finish() throws Refusal {
    inference = body.finish();
  }

  /** Runs the model; the answer's body shows the outputs where they lie. */
  ResponseBody run(ByteBufAllocator buffers) throws OrtException {
    inference.run();
    return ResponseBody.of(model, body.header(), inference, buffers);
  }

  /** Gives everything back, whatever state this is in. Nothing the second time. */
  void abandon() {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try {
      body.close();
      if (inference != null) {
        inference.close();
      }
    } finally {
      if (step != null) {
        step.close();
      }
      atEnd.run();
    }
  }

  long nanos() {
    return System.nanoTime() - beganNanos;
  }
}
