package io.prmalloc.pool;

import io.prmalloc.CorruptedHeaderException;
import io.prmalloc.os.AgronaAccess;
import java.nio.ByteBuffer;
import org.agrona.UnsafeApi;

/**
 * What lies in front of a raw address. A large allocation has a full header:
 *
 * <pre>
 *   0               8               16              24              32
 *   +---------------+---------------+---------------+---------------+
 *   |     begin     |      end      |      bin      |  internal bin |
 *   +---------------+---------------+---------------+---------------+
 *   |  raw address  |  user address |  total bytes  |   user bytes  |
 *   +---------------+---------------+---------------+---------------+
 *                                                                   ^ user address
 * </pre>
 *
 * <p>begin: which use of the block this is; end: 0 while the block is out; bin: the size class
 * asked for; internal bin: the one that owns the block, −1 if it came from the sub-allocator. A
 * small one has a light header:
 *
 * <pre>
 *   0       4       8
 *   +-------+-------+
 *   | mark  | bytes |
 *   +-------+-------+
 *                   ^ user address
 * </pre>
 *
 * <p>mark: {@link #LIGHT_MARK}; bytes: distance from the block's first byte to the user's. Which of
 * the two it is, is known from the address and never read from memory: in DeepRec a tensor of
 * 4,276,545 bytes looks like a light header.
 *
 * <p>The header only proves that nobody wrote over it; nothing is decided by what it says. All
 * fields are in native byte order.
 *
 * <p>Threading: whoever owns the block.
 */
final class HeaderDescriptor {

  /** Bytes of a full header, and the least distance from a block's first byte to the user's. */
  static final int FULL_BYTES = 64;

  /** Bytes of a light header. */
  static final int LIGHT_BYTES = 8;

  /** First word of a light header. */
  static final int LIGHT_MARK = 0x50524D41;

  private static final boolean AGRONA = AgronaAccess.isAvailable();

  private static final int BEGIN_OFFSET = 0;
  private static final int END_OFFSET = 8;
  private static final int BIN_OFFSET = 16;
  private static final int INTERNAL_BIN_OFFSET = 24;
  private static final int RAW_ADDRESS_OFFSET = 32;
  private static final int USER_ADDRESS_OFFSET = 40;
  private static final int TOTAL_BYTES_OFFSET = 48;
  private static final int USER_BYTES_OFFSET = 56;

  private static final int MARK_OFFSET = 0;
  private static final int HEADER_BYTES_OFFSET = 4;

  private HeaderDescriptor() {}

  /**
   * Writes a full header.
   *
   * @param memory the region the block lies in
   * @param user offset of the user's first byte in the region
   */
  static void writeFull(
      ByteBuffer memory,
      int user,
      long use,
      int bin,
      int internalBin,
      long rawAddress,
      int headerBytes,
      long userBytes) {
    int at = user - FULL_BYTES;
    long address = rawAddress + headerBytes - FULL_BYTES;
    put(memory, at, address, BEGIN_OFFSET, use);
    put(memory, at, address, END_OFFSET, 0);
    put(memory, at, address, BIN_OFFSET, bin);
    put(memory, at, address, INTERNAL_BIN_OFFSET, internalBin);
    put(memory, at, address, RAW_ADDRESS_OFFSET, rawAddress);
    put(memory, at, address, USER_ADDRESS_OFFSET, rawAddress + headerBytes);
    put(memory, at, address, TOTAL_BYTES_OFFSET, userBytes + headerBytes);
    put(memory, at, address, USER_BYTES_OFFSET, userBytes);
  }

  /**
   * Checks a full header against what is known of the block.
   *
   * @throws CorruptedHeaderException if a field differs
   */
  static void checkFull(
      ByteBuffer memory,
      int user,
      long use,
      int bin,
      int internalBin,
      long rawAddress,
      int headerBytes,
      long userBytes) {
    int at = user - FULL_BYTES;
    long address = rawAddress + headerBytes - FULL_BYTES;
    if (get(memory, at, address, BEGIN_OFFSET) == use
        && get(memory, at, address, END_OFFSET) == 0
        && get(memory, at, address, BIN_OFFSET) == bin
        && get(memory, at, address, INTERNAL_BIN_OFFSET) == internalBin
        && get(memory, at, address, RAW_ADDRESS_OFFSET) == rawAddress
        && get(memory, at, address, USER_ADDRESS_OFFSET) == rawAddress + headerBytes
        && get(memory, at, address, TOTAL_BYTES_OFFSET) == userBytes + headerBytes
        && get(memory, at, address, USER_BYTES_OFFSET) == userBytes) {
      return;
    }
    check(memory, at + BEGIN_OFFSET, "begin", use);
    check(memory, at + END_OFFSET, "end", 0);
    check(memory, at + BIN_OFFSET, "bin", bin);
    check(memory, at + INTERNAL_BIN_OFFSET, "internal bin", internalBin);
    check(memory, at + RAW_ADDRESS_OFFSET, "raw address", rawAddress);
    check(memory, at + USER_ADDRESS_OFFSET, "user address", rawAddress + headerBytes);
    check(memory, at + TOTAL_BYTES_OFFSET, "total bytes", userBytes + headerBytes);
    check(memory, at + USER_BYTES_OFFSET, "user bytes", userBytes);
  }

  // Eight words one after the other, on the way of every raw allocation: where the JVM lets Agrona
  // write to an address, that is eight stores; a byte buffer checks its bounds eight times.

  private static void put(ByteBuffer memory, int at, long address, int field, long value) {
    if (AGRONA) {
      UnsafeApi.putLong(address + field, value);
    } else {
      memory.putLong(at + field, value);
    }
  }

  private static long get(ByteBuffer memory, int at, long address, int field) {
    return AGRONA ? UnsafeApi.getLong(address + field) : memory.getLong(at + field);
  }

  private static void check(ByteBuffer memory, int at, String field, long wanted) {
    long found = memory.getLong(at);
    if (found != wanted) {
      throw corrupted(field, found, wanted);
    }
  }

  /** Writes a light header; parameters as {@link #writeFull}. */
  static void writeLight(ByteBuffer memory, int user, int headerBytes) {
    int at = user - LIGHT_BYTES;
    memory.putInt(at + MARK_OFFSET, LIGHT_MARK);
    memory.putInt(at + HEADER_BYTES_OFFSET, headerBytes);
  }

  /**
   * Checks a light header.
   *
   * @throws CorruptedHeaderException if a field differs
   */
  static void checkLight(ByteBuffer memory, int user, int headerBytes) {
    int at = user - LIGHT_BYTES;
    int mark = memory.getInt(at + MARK_OFFSET);
    int bytes = memory.getInt(at + HEADER_BYTES_OFFSET);
    if (mark != LIGHT_MARK) {
      throw corrupted("mark", mark, LIGHT_MARK);
    }
    if (bytes != headerBytes) {
      throw corrupted("header bytes", bytes, headerBytes);
    }
  }

  private static CorruptedHeaderException corrupted(String field, long found, long wanted) {
    return new CorruptedHeaderException(
        "header in front of a raw address is overwritten: "
            + field
            + " is 0x"
            + Long.toHexString(found)
            + ", was 0x"
            + Long.toHexString(wanted));
  }
}
