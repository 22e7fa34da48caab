package io.prmalloc.example;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.kept.PlanStore;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.netty.PrmallocByteBufAllocator;
import io.prmalloc.onnxruntime.TensorMemory;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.pool.TensorPoolBuilder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Where the server's buffers and tensors come from.
 *
 * <p>Threading: any thread.
 */
final class ServerMemory implements AutoCloseable {

  /** All replicas serve the same models. */
  private static final String MODEL = "example-server";

  private final MemoryKind kind;
  private final ByteBufAllocator buffers;
  private final TensorMemory source;
  private final TensorPoolAllocator pool;

  /** Null if plans are not shared. */
  private final PlanStore plans;

  private final LongAdder tensorBytes = new LongAdder();
  private final AtomicLong bufferedBytes = new AtomicLong();
  private final long maxBufferedBytes;

  /**
   * @param maxBufferedBytes the most bytes of all pieces of requests together
   * @param planStore where a pool's plans are shared, a directory or an address of Redis; or null
   * @throws IllegalArgumentException if {@code planStore} is none of the two
   */
  ServerMemory(MemoryKind kind, long maxBufferedBytes, String planStore) {
    this.kind = kind;
    this.maxBufferedBytes = maxBufferedBytes;
    this.plans = planStore == null ? null : ServerOptions.openPlanStore(planStore);
    if (kind == MemoryKind.POOL) {
      TensorPoolBuilder builder = TensorPoolAllocator.builder();
      pool = (plans == null ? builder : builder.planStore(plans, MODEL)).build();
      buffers = new PrmallocByteBufAllocator(pool);
      source = TensorMemory.of(pool);
    } else {
      pool = null;
      PooledByteBufAllocator netty = new PooledByteBufAllocator(true);
      buffers = netty;
      source =
          kind == MemoryKind.NETTY
              ? bytes -> new NettyPiece(netty.directBuffer((int) bytes))
              : bytes -> new DirectPiece(ByteBuffer.allocateDirect((int) bytes));
    }
  }

  private record NettyPiece(ByteBuf buffer) implements TensorMemory.Piece {
    @Override
    public ByteBuffer byteBuffer() {
      return buffer.internalNioBuffer(0, buffer.capacity()).order(ByteOrder.nativeOrder());
    }

    @Override
    public void close() {
      buffer.release();
    }
  }

  private record DirectPiece(ByteBuffer buffer) implements TensorMemory.Piece {
    @Override
    public ByteBuffer byteBuffer() {
      return buffer.order(ByteOrder.nativeOrder());
    }

    /** The collector finds it, in its own time. */
    @Override
    public void close() {}
  }

  /** A piece whose bytes are counted while it is out. */
  private final class Counted implements TensorMemory.Piece {
    private final TensorMemory.Piece piece;
    private final long bytes;

    Counted(TensorMemory.Piece piece, long bytes) {
      this.piece = piece;
      this.bytes = bytes;
      tensorBytes.add(bytes);
    }

    @Override
    public ByteBuffer byteBuffer() {
      return piece.byteBuffer();
    }

    @Override
    public void close() {
      tensorBytes.add(-bytes);
      piece.close();
    }
  }

  MemoryKind kind() {
    return kind;
  }

  /** For Netty's channels. */
  ByteBufAllocator buffers() {
    return buffers;
  }

  /** For tensors; counted. */
  TensorMemory tensors() {
    return bytes -> new Counted(source.take(bytes), bytes);
  }

  /**
   * Memory for bytes of a request that have come in.
   *
   * @throws Refusal if requests hold all that they may together, or there is no memory
   */
  ByteBuf takePiece(int bytes) throws Refusal {
    countPiece(bytes);
    try {
      return buffers.directBuffer(bytes, bytes);
    } catch (OutOfNativeMemoryException | OutOfMemoryError full) {
      bufferedBytes.addAndGet(-bytes);
      throw Refusal.unavailable("no memory for this request now: " + full.getMessage());
    }
  }

  /**
   * Keeps the next bytes of a network buffer where they lie, and with them all of the buffer.
   *
   * @throws Refusal if requests hold all that they may together
   */
  ByteBuf keepPiece(ByteBuf data, int bytes) throws Refusal {
    countPiece(bytes);
    return data.readRetainedSlice(bytes);
  }

  private void countPiece(int bytes) throws Refusal {
    if (bufferedBytes.addAndGet(bytes) > maxBufferedBytes) {
      bufferedBytes.addAndGet(-bytes);
      throw Refusal.unavailable(
          "requests on their way hold all of " + maxBufferedBytes + " bytes, come back later");
    }
  }

  /** Gives back what {@link #takePiece} or {@link #keepPiece} gave. */
  void givePiece(ByteBuf piece) {
    bufferedBytes.addAndGet(-piece.maxCapacity());
    piece.release();
  }

  /** Bytes of the pieces that are allocated. */
  long bufferedBytes() {
    return bufferedBytes.get();
  }

  /** The step of one request, or null where nobody learns from it. */
  ScopedMemoryCollector step() {
    return pool == null ? null : pool.collect();
  }

  /** The pool, or null if this memory is another. */
  TensorPoolAllocator pool() {
    return pool;
  }

  /** Bytes of the tensors that are allocated. */
  long tensorBytes() {
    return tensorBytes.sum();
  }

  /** Throws if something of the pool is still out. */
  @Override
  public void close() {
    if (tensorBytes() != 0) {
      throw new IllegalStateException(tensorBytes() + " bytes of tensors are still in use");
    }
    if (bufferedBytes() != 0) {
      throw new IllegalStateException(bufferedBytes() + " bytes of requests are still in use");
    }
    if (pool != null) {
      pool.close();
    }
    if (plans != null) {
      plans.close();
    }
  }
}
