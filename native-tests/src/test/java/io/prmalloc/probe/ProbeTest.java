package io.prmalloc.probe;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.os.OperatingSystem;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The C library itself, on memory that is not our allocator's: it must find what is wrong. */
@NeedsProbe
class ProbeTest {

  private final ByteBuffer memory =
      ByteBuffer.allocateDirect(64 << 10).order(ByteOrder.nativeOrder());
  private final long address = Probe.addressOf(memory);

  @AfterEach
  void free() {
    BufferUtil.free(memory);
  }

  @Test
  void shouldWriteSplitMixWhenFilling() {
    // The first outputs for this seed as published with many implementations.
    long[] published = {
      6457827717110365317L, 3203168211198807973L, Long.parseUnsignedLong("9817491932198370423")
    };
    Probe.probe_fill(address, 24, 1234567);
    long[] written = new long[3];
    memory.asLongBuffer().get(written);
    assertArrayEquals(published, written);
  }

  @Test
  void shouldAgreeWithJavaWhenEitherSideWrites() {
    for (int bytes = 0; bytes < 70; bytes++) {
      for (int start = 0; start < 9; start++) {
        ByteBuffer part = memory.slice(start, bytes).order(ByteOrder.nativeOrder());
        Probe.probe_fill(address + start, bytes, bytes);
        assertEquals(-1, Pattern.firstDifference(part, bytes));
        assertEquals(-1, Pattern.firstDifference(new UnsafeBuffer(part), bytes));
        Pattern.fill(part, start);
        assertEquals(-1, Probe.probe_first_difference(address + start, bytes, start));
        Pattern.fill(new UnsafeBuffer(part), ~start);
        assertEquals(-1, Probe.probe_first_difference(address + start, bytes, ~start));
      }
    }
  }

  @Test
  void shouldFindTheByteWhenOneIsWrong() {
    int bytes = 29;
    for (int wrong = 0; wrong < bytes; wrong++) {
      Probe.probe_fill(address, bytes, 5);
      memory.put(wrong, (byte) ~memory.get(wrong));
      ByteBuffer part = memory.slice(0, bytes).order(ByteOrder.nativeOrder());
      assertEquals(wrong, Probe.probe_first_difference(address, bytes, 5));
      // Java tells the word only, and the byte in the last one.
      int word = wrong < 24 ? wrong & -8 : wrong;
      assertEquals(word, Pattern.firstDifference(part, 5));
      assertEquals(word, Pattern.firstDifference(new UnsafeBuffer(part), 5));
    }
  }

  @Test
  void shouldSeeOtherWordsWhenJavasOrderIsNotNative() {
    ByteOrder other =
        ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
            ? ByteOrder.LITTLE_ENDIAN
            : ByteOrder.BIG_ENDIAN;
    Pattern.fill(memory.slice(0, 64).order(other), 5);
    assertEquals(0, Probe.probe_first_difference(address, 64, 5));
  }

  @Test
  void shouldLeaveNeighboursAloneWhenFilling() {
    for (int bytes = 0; bytes < 20; bytes++) {
      memory.clear().put(new byte[64]);
      Probe.probe_fill(address + 8, bytes, 7);
      assertEquals(0, memory.getLong(0));
      for (int i = 8 + bytes; i < 64; i++) {
        assertEquals(0, memory.get(i));
      }
    }
  }

  @Test
  void shouldCountPagesWhenTouching() {
    int page = OperatingSystem.pageSizeBytes();
    long aligned = (address + page - 1) & -page;
    assertEquals(0, Probe.probe_touch(aligned, 0));
    assertEquals(1, Probe.probe_touch(aligned, 1));
    assertEquals(1, Probe.probe_touch(aligned, page));
    assertEquals(2, Probe.probe_touch(aligned, page + 1));
    assertEquals(2, Probe.probe_touch(aligned + page - 1, 2));
    assertEquals(4, Probe.probe_touch(aligned + 1, 3L * page));
  }

  @Test
  void shouldFindTheFirstWhenSpansAreMisaligned() {
    long[] spans = {4096, 10, 4096, 128, 10, 64, 192, 10, 128, 32, 10, 64};
    assertEquals(2, Probe.probe_first_misaligned(spans, 4));
    assertEquals(-1, Probe.probe_first_misaligned(spans, 2));
    assertEquals(0, Probe.probe_first_misaligned(new long[] {0, 10, 64}, 1));
  }

  @Test
  void shouldFindThePairWhenSpansOverlap() {
    assertEquals(-1, Probe.probe_first_overlap(new long[] {200, 56, 1, 100, 100, 1}, 2));
    long[] spans = {300, 1, 1, 200, 56, 1, 100, 101, 1};
    assertEquals(1, Probe.probe_first_overlap(spans, 3));
    assertArrayEquals(new long[] {100, 101, 1, 200, 56, 1, 300, 1, 1}, spans);
    assertEquals(1, Probe.probe_first_overlap(new long[] {64, 0, 1, 64, 0, 1}, 2));
    // Addresses are unsigned.
    assertEquals(1, Probe.probe_first_overlap(new long[] {-64, 64, 1, -32, 16, 1}, 2));
  }

  @Test
  void shouldAgreeWithProcWhenAskedForMemory() {
    long resident = Probe.probe_resident_bytes();
    assertTrue(resident > 0 && resident <= Probe.probe_peak_resident_bytes());
    assertTrue(
        Math.abs(resident - OperatingSystem.residentBytes()) < 16 << 20,
        () -> resident + " differs much from " + OperatingSystem.residentBytes());
    assertTrue(Probe.probe_mapping_bytes(address, memory.capacity(), "Rss") >= 60 << 10);
    assertEquals(0, Probe.probe_mapping_bytes(address, memory.capacity(), "NoSuchField"));
    // The first page of the address space is never mapped.
    assertEquals(0, Probe.probe_mapping_bytes(8, 8, "Rss"));
  }
}
