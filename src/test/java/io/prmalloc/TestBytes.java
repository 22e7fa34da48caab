package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Fills and checks whole buffers, some thousand bytes at a time, since tests do it for many
 * megabytes.
 */
public final class TestBytes {

  private static final int PIECE = 4096;

  private TestBytes() {}

  /** Writes {@code value} to each byte up to the limit. */
  public static void fill(ByteBuffer buffer, byte value) {
    byte[] piece = piece(value);
    for (int at = 0; at < buffer.limit(); at += PIECE) {
      buffer.put(at, piece, 0, Math.min(PIECE, buffer.limit() - at));
    }
  }

  /** Fails, naming the first other byte, if not each byte up to the limit is {@code value}. */
  public static void assertAll(byte value, ByteBuffer buffer) {
    ByteBuffer piece = ByteBuffer.wrap(piece(value));
    for (int at = 0; at < buffer.limit(); at += PIECE) {
      int length = Math.min(PIECE, buffer.limit() - at);
      int other = buffer.slice(at, length).mismatch(piece.slice(0, length));
      if (other >= 0) {
        assertEquals(value, buffer.get(at + other), "byte " + (at + other));
      }
    }
  }

  private static byte[] piece(byte value) {
    byte[] piece = new byte[PIECE];
    Arrays.fill(piece, value);
    return piece;
  }
}
