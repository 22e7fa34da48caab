package io.prmalloc.example;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.netty.PrmallocByteBufAllocator;
import io.prmalloc.onnxruntime.TensorMemory;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.LongAdder;

/**
 * Where the server's buffers and tensors come from.
 *
 * <p>Threading: any thread.
 */
final class ServerMemory implements AutoCloseable {

  private final MemoryKind kind;
  private final ByteBufAllocator buffers;
  private final TensorMemory source;
  private final TensorPoolAllocator pool;
  private final LongAdder tensorBytes = new LongAdder();

  ServerMemory(MemoryKind kind) {
    this.kind = kind;
    if (kind == MemoryKind.POOL) {
      pool = TensorPoolAllocator.builder().build();
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

  /** The step of one request, or null where nobody learns from it. */
  ScopedMemoryCollector step() {
    return pool == null ? null : pool.collect();
  }

  /** The pool, or null if this memory is another. */
  TensorPoolAllocator pool() {
    return pool;
  }

  /** Bytes of the tensors that are out. */
  long tensorBytes() {
    return tensorBytes.sum();
  }

  /** Throws if something of the pool is still out. */
  @Override
  public void close() {
    if (tensorBytes() != 0) {
      throw new IllegalStateException(tensorBytes() + " bytes of tensors are still in use");
    }
    if (pool != null) {
      pool.close();
    }
  }
}
