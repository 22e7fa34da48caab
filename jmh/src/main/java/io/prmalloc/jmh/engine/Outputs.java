package io.prmalloc.jmh.engine;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtSession;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.zip.CRC32C;

/**
 * A digest of each shape's outputs: every run is checked, since memory that two tensors share by
 * mistake shows in some runs only.
 *
 * <p>Threading: any thread.
 */
final class Outputs {

  /** What no digest is, for CRC-32C has 32 bits. */
  private static final long NONE = -1;

  private final AtomicLongArray digests;
  private final AtomicInteger differing = new AtomicInteger();

  /**
   * Nothing seen.
   *
   * @param shapes of all models
   */
  Outputs(int shapes) {
    long[] none = new long[shapes];
    Arrays.fill(none, NONE);
    digests = new AtomicLongArray(none);
  }

  /**
   * Looks at what a run has left.
   *
   * @param shape its index among those of all models
   * @throws IllegalArgumentException if an output is no tensor of numbers
   */
  void add(int shape, OrtSession.Result result) {
    CRC32C digest = new CRC32C();
    for (Map.Entry<String, OnnxValue> output : result) {
      ByteBuffer bytes =
          output.getValue() instanceof OnnxTensor tensor ? tensor.getByteBuffer() : null;
      if (bytes == null) {
        throw new IllegalArgumentException(
            "--model has the output `" + output.getKey() + "`, which is no tensor of numbers");
      }
      for (long dimension : ((OnnxTensor) output.getValue()).getInfo().getShape()) {
        update(digest, dimension);
      }
      digest.update(bytes);
    }
    long value = digest.getValue();
    if (!digests.compareAndSet(shape, NONE, value) && digests.get(shape) != value) {
      differing.incrementAndGet();
    }
  }

  private static void update(CRC32C digest, long value) {
    digest.update(ByteBuffer.allocate(Long.BYTES).putLong(value).flip());
  }

  /** Of all shapes, each by its first run. */
  long digest() {
    CRC32C digest = new CRC32C();
    for (int i = 0; i < digests.length(); i++) {
      update(digest, digests.get(i));
    }
    return digest.getValue();
  }

  /** Runs whose outputs were not those of the first run of their shape. */
  int differing() {
    return differing.get();
  }
}
