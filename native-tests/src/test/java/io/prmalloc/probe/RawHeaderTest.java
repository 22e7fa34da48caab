package io.prmalloc.probe;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Pointer;
import io.prmalloc.CorruptedHeaderException;
import io.prmalloc.SubAllocator;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The bytes in front of a raw address, read as the struct that C declares for them. */
@NeedsProbe
class RawHeaderTest {

  /** "PRMA" as a number. */
  private static final int LIGHT_MARK = 0x50524D41;

  private static final long BYTES = 300_000;

  private final TensorPoolAllocator pool = Pools.open(SubAllocator.direct());

  @AfterEach
  void close() {
    pool.close();
  }

  private void settle(long alignment) {
    Pools.warmUp(pool, () -> pool.deallocateRaw(pool.allocateRaw(alignment, BYTES)));
  }

  private static long[] fullHeader(long address) {
    long[] fields = new long[8];
    Probe.probe_read_full_header(address, fields);
    return fields;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 64, 128, 4096})
  void shouldShowFullHeaderWhenUnpooled(long alignment) {
    long header = Math.max(64, alignment);
    long address = pool.allocateRaw(alignment, BYTES);
    long[] expected = {0, 0, -1, -1, address - header, address, BYTES + header, BYTES};
    assertArrayEquals(expected, fullHeader(address));
    pool.deallocateRaw(address);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 64, 128, 4096})
  void shouldShowFullHeaderWhenPooled(long alignment) {
    settle(alignment);
    long header = Math.max(64, alignment);
    // Bin i serves 32 KiB and i + 1 intervals more.
    long interval = pool.poolStats().policyIntervalBytes();
    long bin = (BYTES + header + interval - 1) / interval - 32768 / interval - 1;
    for (int use = 1; use <= 3; use++) {
      long address = pool.allocateRaw(alignment, BYTES);
      long[] expected = {0, 0, bin, bin, address - header, address, BYTES + header, BYTES};
      assertArrayEquals(expected, fullHeader(address));
      pool.deallocateRaw(address);
    }
    assertEquals(3, pool.poolStats().hits());
  }

  @Test
  void shouldNameTheLargerBinWhenThatServes() {
    settle(64);
    long[] before = fullHeader(use(BYTES));
    long[] after = fullHeader(use(BYTES - 100_000));
    assertTrue(after[2] < before[2], "the bin asked for, " + after[2]);
    assertEquals(before[3], after[3], "the bin that serves");
    assertEquals(before[4], after[4], "the block");
    assertEquals(BYTES - 100_000, after[7]);
  }

  /** Takes and gives back; in the arena the header stays readable. */
  private long use(long bytes) {
    long address = pool.allocateRaw(64, bytes);
    pool.deallocateRaw(address);
    return address;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 16, 64, 4096})
  void shouldShowLightHeaderWhenSmall(long alignment) {
    for (long bytes = 0; bytes <= 32768; bytes += 8192) {
      long address = pool.allocateRaw(alignment, bytes);
      int[] fields = new int[2];
      Probe.probe_read_light_header(address, fields);
      assertArrayEquals(new int[] {LIGHT_MARK, (int) Math.max(8, alignment)}, fields);
      pool.deallocateRaw(address);
    }
  }

  private enum Place {
    SMALL,
    UNPOOLED,
    POOLED
  }

  @ParameterizedTest
  @EnumSource
  void shouldRefuseWhenNativeCodeWroteBeforeItsBuffer(Place place) {
    if (place == Place.POOLED) {
      settle(64);
    }
    long address = pool.allocateRaw(64, place == Place.SMALL ? 100 : BYTES);
    int headerBytes = place == Place.SMALL ? 8 : 64;
    long[] saved = fullHeader(address);
    for (int before = 1; before <= headerBytes; before++) {
      Probe.probe_fill(address - before, 1, before);
      if (!sameHeader(saved, fullHeader(address), headerBytes)) {
        assertThrows(CorruptedHeaderException.class, () -> pool.deallocateRaw(address));
      }
      restore(address, saved);
    }
    // Nothing was lost: the memory is still taken, and is freed when its header is right again.
    assertThrows(IllegalStateException.class, pool::close);
    pool.deallocateRaw(address);
  }

  private static boolean sameHeader(long[] saved, long[] found, int headerBytes) {
    return headerBytes == 8 ? saved[7] == found[7] : Arrays.equals(saved, found);
  }

  private static void restore(long address, long[] header) {
    new Pointer(address - 64).write(0, header, 0, header.length);
  }
}
