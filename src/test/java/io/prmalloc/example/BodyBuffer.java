package io.prmalloc.example;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The received bytes of a request, in pieces. The memory that it holds follows what the client has
 * sent, not the length that the client announced.
 *
 * <p>Threading: one thread at a time.
 */
final class BodyBuffer implements AutoCloseable {

  // A network buffer that is at least half full is kept as it is; of others the bytes are copied
  // and packed. So much data is not copied once more, and a client that sends a byte at a time does
  // not hold a network buffer for each: at most twice what has come, and a piece.

  /** The size of a piece, and of the network's buffers. */
  static final int PIECE_BYTES = 64 << 10;

  private final ServerMemory memory;
  private final Deque<ByteBuf> pieces = new ArrayDeque<>();
  private long bytes;

  BodyBuffer(ServerMemory memory) {
    this.memory = memory;
  }

  /** How many have come. */
  long bytes() {
    return bytes;
  }

  /**
   * Takes bytes.
   *
   * @param data where from; read
   * @param count how many of it
   * @param awaited how many may still come, these included; no piece is larger
   * @throws Refusal if there is no memory; what was taken stays
   */
  void add(ByteBuf data, int count, long awaited) throws Refusal {
    int end = data.readerIndex() + count;
    long left = awaited;
    while (data.readerIndex() < end) {
      int part = end - data.readerIndex();
      ByteBuf piece = pieces.peekLast();
      if (piece != null && piece.isWritable()) {
        part = Math.min(piece.writableBytes(), part);
        piece.writeBytes(data, part);
      } else if (part >= PIECE_BYTES / 2) {
        pieces.add(memory.keepPiece(data, part));
      } else {
        pieces.add(memory.takePiece((int) Math.min(left, PIECE_BYTES)));
        part = 0;
      }
      bytes += part;
      left -= part;
    }
  }

  /** All bytes as one buffer, to be read before anything is moved; not to be released. */
  ByteBuf view() {
    return Unpooled.wrappedBuffer(
        pieces.size(), pieces.stream().map(ByteBuf::duplicate).toArray(ByteBuf[]::new));
  }

  /** Moves the next bytes to where they belong until that is full; pieces go back on the way. */
  void moveTo(ByteBuffer target) {
    while (target.hasRemaining()) {
      ByteBuf piece = pieces.getFirst();
      int part = Math.min(target.remaining(), piece.readableBytes());
      ByteBuffer room = target.slice(target.position(), part);
      piece.readBytes(room);
      target.position(target.position() + part);
      if (!piece.isReadable()) {
        memory.givePiece(pieces.removeFirst());
      }
    }
  }

  /** Gives all pieces back. Nothing the second time. */
  @Override
  public void close() {
    while (!pieces.isEmpty()) {
      memory.givePiece(pieces.removeFirst());
    }
  }
}
