package io.prmalloc.internal.block;

import io.prmalloc.CorruptedHeaderException;
import io.prmalloc.internal.os.AgronaAccess;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.UnsafeApi;

/**
 * The header in front of a raw address. A large allocation has a full header:
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
 * <p>begin and end: 0, the times that DeepRec's statistics note, where ours are kept elsewhere;
 * bin: the size class asked for; internal bin: the one that owns the block. Both are −1 if the
 * block came from the heap or the sub-allocator. A small one has a light header:
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
 * <p>The header is only checked for having been overwritten; nothing is decided by its content.
 * Nothing in it changes from one use of a block to the next of the same size. All fields are in
 * native byte order.
 *
 * <p>Threading: the owner of the block.
 */
public final class HeaderDescriptor {

  /** Bytes of a full header, and the least distance from a block's first byte to the user's. */
  public static final int FULL_BYTES = 64;

  /** Bytes of a light header. */
  public static final int LIGHT_BYTES = 8;

  /** First word of a light header. */
  public static final int LIGHT_MARK = 0x50524D41;

  private static final boolean AGRONA = AgronaAccess.isAvailable();
  private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

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

  // A header is left as it is where the use before had the same, which was found right at its end.
  // From producer to consumer its cache line then stays with both of them; written anew in each
  // use, it had to be fetched twice for each, which took as long as all the rest. So there is no
  // number of the use in it. A check of the whole header would make a pair a fifth slower, and also
  // a step where sizes change, for it waits for a read of memory that need only be written.
  // Handles, whose users write there, leave another extent; what else may have happened meanwhile
  // is that the page was given back.

  private HeaderDescriptor() {}

  /**
   * Writes a full header.
   *
   * @param memory the region the block lies in
   * @param user offset of the user's first byte in the region
   */
  public static void writeFull(
      ByteBuffer memory,
      int user,
      int bin,
      int internalBin,
      long rawAddress,
      int headerBytes,
      long userBytes) {
    int at = user - FULL_BYTES;
    long address = rawAddress + headerBytes - FULL_BYTES;
    put(memory, at, address, BEGIN_OFFSET, 0);
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
  public static void checkFull(
      ByteBuffer memory,
      int user,
      int bin,
      int internalBin,
      long rawAddress,
      int headerBytes,
      long userBytes) {
    int at = user - FULL_BYTES;
    long address = rawAddress + headerBytes - FULL_BYTES;
    if (isFull(memory, at, address, bin, internalBin, headerBytes, userBytes)) {
      return;
    }
    check(memory.getLong(at + BEGIN_OFFSET), "begin", 0);
    check(memory.getLong(at + END_OFFSET), "end", 0);
    check(memory.getLong(at + BIN_OFFSET), "bin", bin);
    check(memory.getLong(at + INTERNAL_BIN_OFFSET), "internal bin", internalBin);
    check(memory.getLong(at + RAW_ADDRESS_OFFSET), "raw address", rawAddress);
    check(memory.getLong(at + USER_ADDRESS_OFFSET), "user address", rawAddress + headerBytes);
    check(memory.getLong(at + TOTAL_BYTES_OFFSET), "total bytes", userBytes + headerBytes);
    check(memory.getLong(at + USER_BYTES_OFFSET), "user bytes", userBytes);
  }

  /**
   * Whether a full header that was right is still there, and its page was not given back. That
   * makes a page zero at once (MADV_DONTNEED). With MADV_FREE it could be later, after this look.
   */
  public static boolean isStillThere(ByteBuffer memory, int user, long userAddress) {
    long address = userAddress - FULL_BYTES;
    return get(memory, user - FULL_BYTES, address, USER_ADDRESS_OFFSET) == userAddress;
  }

  /** Whether all fields are right; one branch instead of eight in the path of every address. */
  private static boolean isFull(
      ByteBuffer memory,
      int at,
      long address,
      int bin,
      int internalBin,
      int headerBytes,
      long userBytes) {
    long user = address + FULL_BYTES;
    long wrong =
        get(memory, at, address, BEGIN_OFFSET)
            | get(memory, at, address, END_OFFSET)
            | (get(memory, at, address, BIN_OFFSET) ^ bin)
            | (get(memory, at, address, INTERNAL_BIN_OFFSET) ^ internalBin)
            | (get(memory, at, address, RAW_ADDRESS_OFFSET) ^ (user - headerBytes))
            | (get(memory, at, address, USER_ADDRESS_OFFSET) ^ user)
            | (get(memory, at, address, TOTAL_BYTES_OFFSET) ^ (userBytes + headerBytes))
            | (get(memory, at, address, USER_BYTES_OFFSET) ^ userBytes);
    return wrong == 0;
  }

  // If the JVM lets Agrona access an address, each access is one instruction; a byte buffer checks
  // its bounds each time.

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

  private static void check(long found, String field, long wanted) {
    if (found != wanted) {
      throw corrupted(field, found, wanted);
    }
  }

  /** Writes a light header, if it is not there; parameters as {@link #writeFull}. */
  public static void writeLight(ByteBuffer memory, int user, long rawAddress, int headerBytes) {
    int at = user - LIGHT_BYTES;
    long address = rawAddress + headerBytes - LIGHT_BYTES;
    if (get(memory, at, address, 0) != light(headerBytes)) {
      put(memory, at, address, 0, light(headerBytes));
    }
  }

  /**
   * Checks a light header.
   *
   * @throws CorruptedHeaderException if a field differs
   */
  public static void checkLight(ByteBuffer memory, int user, long rawAddress, int headerBytes) {
    int at = user - LIGHT_BYTES;
    if (get(memory, at, rawAddress + headerBytes - LIGHT_BYTES, 0) == light(headerBytes)) {
      return;
    }
    check(memory.getInt(at + MARK_OFFSET), "mark", LIGHT_MARK);
    check(memory.getInt(at + HEADER_BYTES_OFFSET), "header bytes", headerBytes);
  }

  /** Both fields of a light header as one word of memory. */
  private static long light(int headerBytes) {
    return LITTLE_ENDIAN
        ? LIGHT_MARK | (long) headerBytes << Integer.SIZE
        : (long) LIGHT_MARK << Integer.SIZE | headerBytes;
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

  /**
   * Begins a use by address of a block that no bin owns, and writes its header.
   *
   * @param header bytes in front of the user's
   * @return the user's address
   */
  public static long openUnpooled(Block block, long bytes, int header) {
    try {
      block.openRaw(bytes, header);
      ByteBuffer memory = block.region().buffer();
      long start = block.startAddress();
      writeFull(memory, block.offset() + header, -1, -1, start, header, bytes);
      return start + header;
    } catch (Throwable e) {
      block.abandon(bytes, header);
      throw e;
    }
  }
}
