package io.prmalloc.onnxruntime;

import ai.onnxruntime.OnnxJavaType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * One input or output of an {@link Inference}: its shape, and its elements where they lie. Buffers
 * are views, not copies; each call gives one of its own, with all elements from position to limit.
 *
 * <p>Threading: any thread; elements as those of any buffer. A buffer must not be used after the
 * inference was closed; this is not checked.
 */
public final class TensorView {

  /** What a tensor will be: everything but its memory. */
  static final class Layout {
    final TensorSpec spec;

    /** Null of an output that only a run can tell. */
    final long[] shape;

    final long sizeBytes;

    Layout(TensorSpec spec, long[] shape, long sizeBytes) {
      this.spec = spec;
      this.shape = shape;
      this.sizeBytes = sizeBytes;
    }
  }

  private final Inference inference;
  private final Layout layout;
  private final TensorMemory.Piece piece;
  private volatile boolean ended;

  TensorView(Inference inference, Layout layout, TensorMemory.Piece piece) {
    this.inference = inference;
    this.layout = layout;
    this.piece = piece;
  }

  /** Its memory goes back. */
  void end() {
    ended = true;
  }

  TensorSpec spec() {
    return layout.spec;
  }

  TensorMemory.Piece piece() {
    return piece;
  }

  /** By which the model knows it. Threading: any thread, also after the close. */
  public String name() {
    return layout.spec.name();
  }

  /** Of its elements. Threading: any thread, also after the close. */
  public OnnxJavaType type() {
    return layout.spec.type();
  }

  /** Its dimensions, outermost first, all settled. Threading: any thread, also after the close. */
  public long[] shape() {
    return layout.shape.clone();
  }

  /** Bytes of all elements. Threading: any thread, also after the close. */
  public long sizeBytes() {
    return layout.sizeBytes;
  }

  /**
   * The elements as bytes in native order, of any type.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if the inference is closed, or a later run has put another view
   *     in the place of this one
   */
  public ByteBuffer bytes() {
    inference.checkOpen();
    if (ended) {
      throw new IllegalStateException(
          "output " + name() + " is another view since a later run; ask the inference for it");
    }
    return piece.byteBuffer().slice().order(ByteOrder.nativeOrder());
  }

  /**
   * The elements of a {@code FLOAT} tensor.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException as {@link #bytes}, or if the elements are of another type
   */
  public FloatBuffer floats() {
    return bytesOf(OnnxJavaType.FLOAT).asFloatBuffer();
  }

  /**
   * The elements of a {@code DOUBLE} tensor.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException as {@link #floats}
   */
  public DoubleBuffer doubles() {
    return bytesOf(OnnxJavaType.DOUBLE).asDoubleBuffer();
  }

  /**
   * The elements of an {@code INT32} tensor.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException as {@link #floats}
   */
  public IntBuffer ints() {
    return bytesOf(OnnxJavaType.INT32).asIntBuffer();
  }

  /**
   * The elements of an {@code INT64} tensor.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException as {@link #floats}
   */
  public LongBuffer longs() {
    return bytesOf(OnnxJavaType.INT64).asLongBuffer();
  }

  /**
   * The elements of an {@code INT16}, {@code FLOAT16} or {@code BFLOAT16} tensor.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException as {@link #floats}
   */
  public ShortBuffer shorts() {
    return bytesOf(OnnxJavaType.INT16, OnnxJavaType.FLOAT16, OnnxJavaType.BFLOAT16).asShortBuffer();
  }

  private ByteBuffer bytesOf(OnnxJavaType... types) {
    if (!List.of(types).contains(type())) {
      throw new IllegalStateException(
          name() + " has elements of " + type() + ", not " + Arrays.toString(types));
    }
    return bytes();
  }

  @Override
  public String toString() {
    return name() + " " + type() + " " + Arrays.toString(layout.shape);
  }
}
