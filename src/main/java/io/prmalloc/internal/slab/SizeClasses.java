package io.prmalloc.internal.slab;

/**
 * The sizes of slots for small requests: every 16 bytes up to 64, then four per doubling up to 32
 * KiB, and one more, 40 KiB, for a full 32 KiB behind a header.
 *
 * <p>Slots start at multiples of their size in page-aligned slabs, so a class serves an alignment
 * exactly if its size is a multiple of it.
 *
 * <p>Threading: stateless.
 */
public final class SizeClasses {

  /** The largest slot. */
  static final int MAX_SLOT_BYTES = 40 * 1024;

  /** The largest alignment that slots can have: that of the slabs. */
  public static final int MAX_ALIGNMENT = 4096;

  private static final int[] SLOT_BYTES = slotSizes();
  private static final byte[] BY_16 = firstAtLeast(16);
  private static final byte[] BY_64 = firstAtLeast(64);

  private SizeClasses() {}

  private static int[] slotSizes() {
    int[] sizes = new int[41];
    int n = 0;
    for (int size = 16; size <= 64; size += 16) {
      sizes[n++] = size;
    }
    for (int doubling = 64; doubling < 32 * 1024; doubling *= 2) {
      for (int quarter = 1; quarter <= 4; quarter++) {
        sizes[n++] = doubling + quarter * (doubling / 4);
      }
    }
    sizes[n] = MAX_SLOT_BYTES;
    return sizes;
  }

  /**
   * For every multiple of {@code unit} the first class that holds so much and is itself a multiple
   * of it.
   */
  private static byte[] firstAtLeast(int unit) {
    byte[] table = new byte[MAX_SLOT_BYTES / unit + 1];
    int sizeClass = 0;
    for (int units = 0; units < table.length; units++) {
      while (SLOT_BYTES[sizeClass] < units * unit || SLOT_BYTES[sizeClass] % unit != 0) {
        sizeClass++;
      }
      table[units] = (byte) sizeClass;
    }
    return table;
  }

  static int count() {
    return SLOT_BYTES.length;
  }

  static int slotBytes(int sizeClass) {
    return SLOT_BYTES[sizeClass];
  }

  /**
   * The smallest class for a request with the default alignment.
   *
   * @param bytes from 0 to {@link #MAX_SLOT_BYTES}
   */
  static int classOf(int bytes) {
    return BY_64[(bytes + 63) >>> 6];
  }

  /**
   * The smallest class for a request.
   *
   * @param bytes from 0 to {@link #MAX_SLOT_BYTES}; with an alignment over 64 at most what is left
   *     of that when rounded up to it
   * @param alignment a power of two up to {@link #MAX_ALIGNMENT}
   */
  static int classOf(int bytes, int alignment) {
    if (alignment == 64) {
      return classOf(bytes);
    }
    int sizeClass = BY_16[(bytes + 15) >>> 4];
    while ((SLOT_BYTES[sizeClass] & (alignment - 1)) != 0) {
      sizeClass++;
    }
    return sizeClass;
  }
}
