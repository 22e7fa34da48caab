package io.prmalloc.pool.raw;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Pointer;
import io.prmalloc.Allocation;
import io.prmalloc.AllocatorStats;
import io.prmalloc.CorruptedHeaderException;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.HeaderDescriptor;
import io.prmalloc.pool.Pools;
import io.prmalloc.pool.Steps;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RawHeaderTest {

  private static final List<String> FIELDS =
      List.of(
          "begin",
          "end",
          "bin",
          "internal bin",
          "raw address",
          "user address",
          "total bytes",
          "user bytes");

  private SubAllocator source;
  private TensorPoolAllocator pool;

  @BeforeEach
  void open() {
    open(SubAllocator.direct());
  }

  private void open(SubAllocator memory) {
    source = memory;
    pool = TensorPoolAllocator.builder().subAllocator(source).planner(Steps.planner(1)).build();
  }

  @AfterEach
  void close() {
    pool.close();
    assertEquals(0, source.bytesReserved());
  }

  /** Makes a plan with a block for each of these sizes, header included. */
  private void switchOver(long... totals) {
    Pools.learn(pool, totals);
    assertTrue(pool.isPooling());
  }

  private String refusal(long address) {
    AllocatorStats before = pool.stats();
    String message =
        assertThrows(CorruptedHeaderException.class, () -> pool.deallocateRaw(address))
            .getMessage();
    assertEquals(before, pool.stats(), "nothing has changed");
    return message;
  }

  private void checkEveryField(long address) {
    Pointer header = new Pointer(address - HeaderDescriptor.FULL_BYTES);
    for (int field = 0; field < FIELDS.size(); field++) {
      long right = header.getLong(8L * field);
      for (int bit : new int[] {0, 17, 63}) {
        header.setLong(8L * field, right ^ 1L << bit);
        String wanted =
            "header in front of a raw address is overwritten: "
                + FIELDS.get(field)
                + " is 0x"
                + Long.toHexString(right ^ 1L << bit)
                + ", was 0x"
                + Long.toHexString(right);
        assertEquals(wanted, refusal(address));
      }
      header.setLong(8L * field, right);
    }
    long bytesBefore = pool.stats().bytesInUse();
    pool.deallocateRaw(address);
    assertEquals(bytesBefore - 40_000, pool.stats().bytesInUse());
    assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(address));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 64, 4096})
  void shouldNameTheFieldWhenAPooledHeaderIsOverwritten(long alignment) {
    switchOver(40_000 + Math.max(64, alignment));
    long address = pool.allocateRaw(64, 40_000);
    assertEquals(1, pool.poolStats().hits());
    checkEveryField(address);
    assertEquals(address, pool.allocateRaw(64, 40_000), "the block is there again");
    pool.deallocateRaw(address);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 64, 4096, 1 << 20})
  void shouldNameTheFieldWhenAnUnpooledHeaderIsOverwritten(long alignment) {
    long address = pool.allocateRaw(alignment, 40_000);
    checkEveryField(address);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 8, 64, 4096})
  void shouldNameTheFieldWhenALightHeaderIsOverwritten(long alignment) {
    long address = pool.allocateRaw(alignment, 1000);
    Pointer header = new Pointer(address - HeaderDescriptor.LIGHT_BYTES);
    for (int field = 0; field < 2; field++) {
      int right = header.getInt(4L * field);
      header.setInt(4L * field, right ^ 0x100);
      String message = refusal(address);
      assertTrue(message.contains(field == 0 ? "mark is " : "header bytes is "), message);
      header.setInt(4L * field, right);
    }
    pool.deallocateRaw(address);
    assertEquals(0, pool.stats().bytesInUse());
    long again = pool.allocateRaw(alignment, 1000);
    assertEquals(address, again);
    pool.deallocateRaw(again);
  }

  @Test
  void shouldWriteTheFieldsWhereTheDesignSaysWhenPooled() {
    switchOver(40_064, 40_064);
    pool.deallocateRaw(pool.allocateRaw(64, 40_000));
    long address = pool.allocateRaw(64, 39_000);
    Pointer header = new Pointer(address - 64);
    assertEquals(0, header.getLong(0), "begin");
    assertEquals(0, header.getLong(8), "end");
    assertEquals(1, header.getLong(16), "bin of 39,064 bytes: chunks of 40 KiB");
    assertEquals(1, header.getLong(24), "internal bin");
    assertEquals(address - 64, header.getLong(32), "raw address");
    assertEquals(address, header.getLong(40), "user address");
    assertEquals(39_064, header.getLong(48), "total bytes");
    assertEquals(39_000, header.getLong(56), "user bytes");
    pool.deallocateRaw(address);
  }

  @Test
  void shouldNameTheFieldWhenItWasOverwrittenBetweenTwoUsesOfASize() {
    switchOver(40_064);
    long address = pool.allocateRaw(64, 40_000);
    pool.deallocateRaw(address);
    Pointer header = new Pointer(address - 64);
    header.setLong(48, 12);
    assertEquals(address, pool.allocateRaw(64, 40_000));
    String message = refusal(address);
    assertTrue(message.contains("total bytes is 0xc, was 0x9c80"), message);
    header.setLong(48, 40_064);
    pool.deallocateRaw(address);
  }

  @ParameterizedTest
  @ValueSource(strings = {"handle", "size", "lost", "nothing"})
  void shouldHaveARightHeaderWhateverHappenedSinceTheLastUseOfASize(String what) {
    switchOver(40_064);
    long address = pool.allocateRaw(64, 40_000);
    Pointer header = new Pointer(address - 64);
    long[] before = header.getLongArray(0, 8);
    for (int round = 0; round < 1000; round++) {
      pool.deallocateRaw(address);
      switch (what) {
        case "handle" -> {
          Allocation handle = pool.allocate(40_000);
          header.setLong(0, round);
          handle.close();
        }
        case "size" -> pool.deallocateRaw(pool.allocateRaw(64, 39_000));
        case "lost" -> header.setMemory(0, 64, (byte) 0);
        default -> {}
      }
      assertEquals(address, pool.allocateRaw(64, 40_000));
      assertArrayEquals(before, header.getLongArray(0, 8));
    }
    pool.deallocateRaw(address);
    assertEquals(0, pool.poolStats().unpooledRequests());
  }

  @Test
  void shouldSayWhichBinServedWhenALargerOneDid() {
    switchOver(60_064);
    long address = pool.allocateRaw(64, 40_000);
    Pointer header = new Pointer(address - 64);
    assertEquals(1, header.getLong(16));
    assertEquals(6, header.getLong(24));
    pool.deallocateRaw(address);
    assertEquals(1, pool.poolStats().hits());
  }

  @Test
  void shouldNotTakeASizeForAMarkWhenFourMillionBytesAreAsked() {
    // In DeepRec the first word of this one's header reads like the mark of a light header.
    long bytes = 4_276_545;
    pool.close();
    // Not one of the many bytes is touched there.
    open(SubAllocator.mmap(MmapOptions.DEFAULT));
    long unpooled = pool.allocateRaw(64, bytes);
    switchOver(bytes + 64);
    long pooled = pool.allocateRaw(64, bytes);
    long looksLight = pool.allocateRaw(64, HeaderDescriptor.LIGHT_MARK);
    new Pointer(pooled).setMemory(0, bytes, (byte) 7);
    new Pointer(unpooled).setMemory(0, bytes, (byte) 8);
    pool.deallocateRaw(looksLight);
    pool.deallocateRaw(pooled);
    pool.deallocateRaw(unpooled);
    assertEquals(0, pool.stats().bytesInUse());
    assertEquals(1, pool.poolStats().hits());
  }
}
