package io.prmalloc;

import java.nio.ByteBuffer;
import java.util.Locale;

/**
 * Keeps the users of a shared pool apart: none reads what another left, and writes beyond the end
 * are found. Start from {@link #NONE} and add what you need; each costs time, see {@code
 * docs/isolation.md}.
 *
 * <p>Guard pages are a matter of the memory, not of the pool: {@link MmapOptions#withGuardPages}.
 *
 * <p>Threading: immutable.
 *
 * @param fill what overwrites memory when it comes back
 * @param canaries whether known bytes are put behind what was asked for, and looked at when it
 *     comes back
 */
public record Isolation(Fill fill, boolean canaries) {

  // All of it happens while one thread has the block alone: when a use begins, before the handle is
  // there, and when it has ended, before the block is free. The views that are written through are
  // the block's own.
  //
  // Canaries take room: the allocator adds it to what is asked for, so that there is a canary even
  // where a request fills its size class. One is right behind the bytes asked for, and one at the
  // end of the block, which a write in front of the next block hits.

  /** What overwrites memory when it comes back. */
  public enum Fill {
    /** Nothing: the next user finds what the last one left. */
    NONE,
    /** Zeros. */
    ZERO,
    /** {@link #POISON}, so that a read after the release finds nonsense. */
    POISON
  }

  /** Nothing is done, and nothing is paid. */
  public static final Isolation NONE = new Isolation(Fill.NONE, false);

  /** The byte that {@link Fill#POISON} writes. As a float or double it is a large negative one. */
  public static final byte POISON = (byte) 0xDB;

  private static final byte CANARY = (byte) 0xC5;
  private static final int CANARY_BYTES = 16;
  private static final int CHUNK_BYTES = 16 << 10;

  /** Whether this is {@link #NONE}. Threading: any thread. */
  public boolean isNone() {
    // Not by equals: that of a record leaves a soft reference to our classes in one of the JDK's.
    return fill == Fill.NONE && !canaries;
  }

  /** The same with another {@link #fill}. Threading: any thread. */
  public Isolation withFill(Fill value) {
    return new Isolation(value, canaries);
  }

  /** The same with or without {@link #canaries}. Threading: any thread. */
  public Isolation withCanaries(boolean value) {
    return new Isolation(fill, value);
  }

  /**
   * Reads what {@code -Dprmalloc.isolation} and command lines hold: {@code none}, or {@code zero},
   * {@code poison} and {@code canaries}, separated by commas.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if a word is another, or if both {@code zero} and {@code
   *     poison} are wanted
   */
  public static Isolation parse(String words) {
    Isolation result = NONE;
    for (String word : words.split(",", -1)) {
      Isolation before = result;
      result =
          switch (word.strip().toLowerCase(Locale.ROOT)) {
            case "none" -> before;
            case "zero" -> before.withFillOf(Fill.ZERO, words);
            case "poison" -> before.withFillOf(Fill.POISON, words);
            case "canaries" -> before.withCanaries(true);
            default ->
                throw new IllegalArgumentException(
                    "isolation '"
                        + words
                        + "': '"
                        + word
                        + "' is not none, zero, poison or canaries");
          };
    }
    return result;
  }

  private Isolation withFillOf(Fill wanted, String words) {
    if (fill != Fill.NONE && fill != wanted) {
      throw new IllegalArgumentException(
          "isolation '" + words + "' wants memory filled with zeros and with poison");
    }
    return withFill(wanted);
  }

  /** Bytes that a block needs beside those asked for; 0 without canaries. Threading: any thread. */
  public int roomBytes() {
    return canaries ? CANARY_BYTES : 0;
  }

  /**
   * Tells that a use begins: its first {@code end} bytes are the user's, or the allocator's header.
   * For the library's own blocks. Threading: the thread that has the block alone.
   */
  public void begin(ByteBuffer block, int end) {
    if (canaries) {
      // The last user may have left a limit.
      block.clear();
      Filler.fill(Filler.CANARIES, block, end, CANARY_BYTES);
      Filler.fill(Filler.CANARIES, block, block.capacity() - CANARY_BYTES, CANARY_BYTES);
    }
  }

  /**
   * Tells that a use has ended. For the library's own blocks. Threading: as {@link #begin}.
   *
   * @return the position of the first byte that was overwritten and must not be, or −1
   */
  public int end(ByteBuffer block, int end) {
    block.clear();
    int overwritten = canaries ? overwritten(block, end) : -1;
    if (fill != Fill.NONE) {
      ByteBuffer source = fill == Fill.ZERO ? Filler.ZEROS : Filler.POISONS;
      // Code that raised the limit, or has an address, may have written behind what was asked for.
      Filler.fill(source, block, 0, block.capacity());
    }
    return overwritten;
  }

  private static int overwritten(ByteBuffer block, int end) {
    int behind = firstOther(block, end);
    return behind >= 0 ? behind : firstOther(block, block.capacity() - CANARY_BYTES);
  }

  private static int firstOther(ByteBuffer block, int from) {
    for (int at = from; at < from + CANARY_BYTES; at++) {
      if (block.get(at) != CANARY) {
        return at;
      }
    }
    return -1;
  }

  /** Bytes to copy from: a copy in bulk is the fastest way to write without an address. */
  private static final class Filler {
    static final ByteBuffer ZEROS = of((byte) 0);
    static final ByteBuffer POISONS = of(POISON);
    static final ByteBuffer CANARIES = of(CANARY);

    private Filler() {}

    private static ByteBuffer of(byte content) {
      ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
      for (int at = 0; at < CHUNK_BYTES; at++) {
        chunk.put(at, content);
      }
      return chunk;
    }

    static void fill(ByteBuffer source, ByteBuffer target, int from, int bytes) {
      for (int done = 0; done < bytes; done += CHUNK_BYTES) {
        int count = Math.min(CHUNK_BYTES, bytes - done);
        try {
          target.put(from + done, source, 0, count);
        } catch (OutOfMemoryError noHeap) {
          // A copy in bulk makes views of both.
          for (int at = 0; at < count; at++) {
            target.put(from + done + at, source.get(at));
          }
        }
      }
    }
  }
}
