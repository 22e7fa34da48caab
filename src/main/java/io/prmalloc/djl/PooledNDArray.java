package io.prmalloc.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.MemoryRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An array of DJL's whose elements are an {@link Allocation}. Engines that take direct buffers as
 * they are (ONNX Runtime, PyTorch) work on that memory; others copy it once.
 *
 * <p>It belongs to the manager it was made with: when that closes, the array closes and the memory
 * goes back, in this order. It may be closed earlier. The array itself must not be attached to
 * another manager: it would outlive its memory there.
 *
 * <p>Threading: as DJL's arrays; any thread may close it.
 */
public final class PooledNDArray implements AutoCloseable {
  // A manager closes what is attached to it in no order that it promises. So this is attached
  // beside the array, and closes the array before the memory whichever of the two the manager
  // comes to first: closing an array twice does nothing in DJL.

  private static final AtomicLong MADE = new AtomicLong();

  private final NDManager manager;
  private final NDArray array;
  private final Allocation memory;
  private final String id = "prmalloc-" + MADE.incrementAndGet();
  private final AtomicBoolean closed = new AtomicBoolean();

  private PooledNDArray(NDManager manager, NDArray array, Allocation memory) {
    this.manager = manager;
    this.array = array;
    this.memory = memory;
  }

  /**
   * Takes memory and makes an array over it. The elements hold anything; fill {@link #bytes} before
   * the array is used.
   *
   * <p>Threading: any thread that may use the manager.
   *
   * @param manager to whose engine the array belongs, and with which it ends
   * @param memory where the elements lie; stays the caller's
   * @param shape how many elements; all dimensions known, at most 2 GiB − 1 bytes together
   * @param type of the elements: numbers or booleans
   * @throws IllegalArgumentException if {@code shape} is not fully known, the elements are strings,
   *     or they are too many; or if they are {@code BFLOAT16} and the engine PyTorch, where DJL
   *     ends the process
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available
   * @throws RuntimeException what the engine throws if it refuses; nothing is kept then
   */
  public static PooledNDArray create(
      NDManager manager, Allocator memory, Shape shape, DataType type) {
    checkEngine(manager, type);
    Allocation taken = memory.allocate(sizeBytes(shape, type));
    NDArray array = null;
    try {
      array = manager.create(taken.byteBuffer(), shape, type);
      PooledNDArray made = new PooledNDArray(manager, array, taken);
      manager.attachInternal(made.id, made);
      return made;
    } catch (Throwable e) {
      if (array != null) {
        array.close();
      }
      taken.close();
      throw e;
    }
  }

  // Of a buffer of these elements DJL's PyTorch makes a tensor of a type number that it does not
  // have, and libtorch ends the process with an uncaught C++ exception.
  private static void checkEngine(NDManager manager, DataType type) {
    String engine = manager.getEngine().getEngineName();
    if (type == DataType.BFLOAT16 && engine.equals("PyTorch")) {
      throw new IllegalArgumentException(
          "type BFLOAT16 ends the process in DJL's engine PyTorch; make the array as FLOAT32 and"
              + " convert it there");
    }
  }

  private static long sizeBytes(Shape shape, DataType type) {
    if (type == DataType.STRING || type == DataType.UNKNOWN) {
      throw new IllegalArgumentException("type " + type + " has no elements of a fixed size");
    }
    long bytes = type.getNumOfBytes();
    for (long size : shape.getShape()) {
      if (size < 0) {
        throw new IllegalArgumentException("shape " + shape + " is not fully known");
      }
      try {
        bytes = Math.multiplyExact(bytes, size);
      } catch (ArithmeticException tooLarge) {
        throw new IllegalArgumentException(
            "shape " + shape + " has more bytes than can be counted", tooLarge);
      }
    }
    if (bytes > MemoryRegion.MAX_BYTES) {
      throw new IllegalArgumentException(
          "shape "
              + shape
              + " of "
              + type
              + " has "
              + bytes
              + " bytes, over "
              + MemoryRegion.MAX_BYTES
              + ", the most of one buffer");
    }
    return bytes;
  }

  /** The array. Closing it alone does not give the memory back. Threading: as DJL's arrays. */
  public NDArray array() {
    return array;
  }

  /**
   * The elements where they lie, in native byte order; a buffer of its own at each call.
   *
   * <p>Threading: any thread; must not be used after {@link #close}; this is not checked.
   *
   * @throws IllegalStateException if this is closed
   */
  public ByteBuffer bytes() {
    ByteBuffer whole = memory.byteBuffer();
    return whole.slice(0, (int) memory.sizeBytes()).order(ByteOrder.nativeOrder());
  }

  /** Closes the array, then gives the memory back; nothing the second time. Threading: any. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      manager.detachInternal(id);
      array.close();
      memory.close();
    }
  }
}
