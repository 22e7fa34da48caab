package io.prmalloc.internal.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.freelist.Buffers;
import io.prmalloc.internal.freelist.PooledBlock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ArenaTest {

  private static final int KIB = 1024;
  private static final long GIB = 1L << 30;

  private final SubAllocator source = SubAllocator.direct();

  @Test
  void shouldPlaceChunksOneBehindTheOtherWhenTheyFit() {
    Arena.Layout layout = new Arena.Layout(Arena.MAX_CHUNK_BYTES, 1);
    assertEquals(new Arena.Place(0, 0), layout.place(100, 64));
    assertEquals(new Arena.Place(0, 128), layout.place(100, 64));
    assertEquals(new Arena.Place(0, 4096), layout.place(10, 4096));
    assertEquals(new Arena.Place(0, 4106), layout.place(10, 1));
    assertEquals(List.of(4116L), layout.regionBytes());
    assertEquals(List.of(4096L), layout.regionAlignments());
    assertEquals(4116, layout.totalBytes());
  }

  @Test
  void shouldOpenAnotherRegionWhenTheLimitIsReached() {
    Arena.Layout layout = new Arena.Layout(300, 1);
    assertEquals(new Arena.Place(0, 0), layout.place(200, 64));
    assertEquals(new Arena.Place(0, 256), layout.place(44, 64));
    assertEquals(new Arena.Place(1, 0), layout.place(1, 1));
    assertEquals(new Arena.Place(2, 0), layout.place(300, 128));
    assertEquals(List.of(300L, 1L, 300L), layout.regionBytes());
    assertEquals(List.of(64L, 1L, 128L), layout.regionAlignments());
    assertEquals(601, layout.totalBytes());
  }

  @Test
  void shouldLetWhoLooksGoOnWhenAllIsGivenBackMeanwhile() {
    Arena.Layout layout = new Arena.Layout(300, 1);
    layout.place(300, 64);
    layout.place(200, 64);
    Arena arena = Arena.reserve(source, layout, region -> {});
    List<Long> seen = new ArrayList<>();
    // What bytes() does, with the end of the arena in the middle of it.
    for (MemoryRegion region : arena.regions()) {
      arena.free();
      seen.add(region.sizeBytes());
    }
    assertEquals(List.of(300L, 200L), seen);
    assertEquals(0, arena.bytes());
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldStayWithinWhatABufferSeesWhenPlansAreLarge() {
    long seed = 3;
    SplittableRandom random = new SplittableRandom(seed);
    Arena.Layout layout = new Arena.Layout(Arena.MAX_CHUNK_BYTES, 1);
    long chunks = 0;
    for (int i = 0; i < 200; i++) {
      long bytes = random.nextLong(1, GIB);
      layout.place(bytes, 64L << random.nextInt(8));
      chunks += bytes;
    }
    assertTrue(layout.totalBytes() >= chunks);
    assertTrue(layout.regionBytes().size() > 40, "regions " + layout.regionBytes());
    assertEveryRegionCanBeHad(layout);
  }

  @Test
  void shouldLeaveRoomToAlignWhenARegionIsNearlyFull() {
    Arena.Layout layout = new Arena.Layout(Arena.MAX_CHUNK_BYTES, 1);
    layout.place(GIB, 64);
    // Ends a page before 2 GiB, but with 64 KiB to align the region would not be to be had.
    layout.place(GIB - 64 * KIB + 4096, 64 * KIB);
    layout.place(64, 64);
    assertEveryRegionCanBeHad(layout);
    assertEquals(2, layout.regionBytes().size());
  }

  private static void assertEveryRegionCanBeHad(Arena.Layout layout) {
    for (int i = 0; i < layout.regionBytes().size(); i++) {
      long bytes = layout.regionBytes().get(i);
      long alignment = layout.regionAlignments().get(i);
      assertTrue(bytes + alignment - 1 <= MemoryRegion.MAX_BYTES, bytes + " at " + alignment);
    }
  }

  @Test
  void shouldSayWhatFitsWhenChunksAreHuge() {
    assertTrue(Arena.fits(2 * GIB - 4096, 64));
    assertTrue(Arena.fits(2 * GIB - 4096, 4096));
    assertFalse(Arena.fits(2 * GIB - 4095, 64));
    assertFalse(Arena.fits(2 * GIB - 4096, 8192));
    assertTrue(Arena.fits(GIB, GIB));
    assertFalse(Arena.fits(2 * GIB, GIB));
  }

  private static Arena.Layout threeRegions() {
    Arena.Layout layout = new Arena.Layout(100 * KIB, 1);
    for (int i = 0; i < 3; i++) {
      layout.place(60 * KIB, 8192);
      layout.place(32 * KIB, 64);
    }
    return layout;
  }

  @Test
  void shouldReserveEveryRegionWhenThereAreSeveral() {
    Arena arena = Arena.reserve(source, threeRegions(), region -> {});
    assertEquals(3, arena.regions().size());
    assertEquals(3 * 92 * KIB, arena.bytes());
    assertEquals(3 * 92 * KIB, source.bytesReserved());
    for (MemoryRegion region : arena.regions()) {
      assertEquals(0, region.address() % 8192);
    }
    arena.free();
    assertEquals(0, source.bytesReserved());
    assertEquals(0, arena.bytes());
  }

  @Test
  void shouldKeepNothingWhenARegionIsNotToBeHad() {
    SubAllocator tight = SubAllocator.direct(200 * KIB);
    assertThrows(
        OutOfNativeMemoryException.class, () -> Arena.reserve(tight, threeRegions(), region -> {}));
    assertEquals(0, tight.bytesReserved());
  }

  private static PooledBlock find(ArenaSpan[] spans, long address) {
    return Arrays.stream(spans)
        .map(span -> span.find(address))
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  @Test
  void shouldFindTheBlockWhenAnAddressIsInOneOfSeveralRegions() {
    Arena.Layout layout = new Arena.Layout(100 * KIB, 1);
    List<Arena.Place> large = new ArrayList<>();
    List<Arena.Place> little = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      large.add(layout.place(60 * KIB, 64));
      little.add(layout.place(36 * KIB, 64));
    }
    Arena arena = Arena.reserve(source, layout, region -> {});
    Buffer largeBuffer = new Buffer(6, 60 * KIB, 64, large.toArray(Arena.Place[]::new), arena);
    Buffer littleBuffer = new Buffer(0, 36 * KIB, 64, little.toArray(Arena.Place[]::new), arena);
    List<PooledBlock> blocks = new ArrayList<>(largeBuffer.blocks());
    blocks.addAll(littleBuffer.blocks());
    Buffers.ready(1, largeBuffer, littleBuffer);
    ArenaSpan[] spans = ArenaSpan.over(arena.regions(), blocks, 4096);
    for (int i = 0; i < 3; i++) {
      PooledBlock first = largeBuffer.claimAny();
      PooledBlock second = littleBuffer.claimAny();
      long start = arena.region(i).address();
      for (int offset = 0; offset < 96 * KIB; offset += 512) {
        assertSame(
            offset < 60 * KIB ? first : second, find(spans, start + offset), "offset " + offset);
      }
      assertSame(second, find(spans, start + 96 * KIB - 1));
      assertEquals(first.startAddress() + 60 * KIB, second.startAddress());
    }
    assertNull(largeBuffer.claimAny());
    arena.free();
  }

  @Test
  void shouldFindNothingWhenAnAddressIsInThePaddingBetweenChunks() {
    Arena.Layout layout = new Arena.Layout(Arena.MAX_CHUNK_BYTES, 1);
    Arena.Place[] first = {layout.place(36 * KIB, 64)};
    Arena.Place[] second = {layout.place(64 * KIB, 64 * KIB)};
    Arena arena = Arena.reserve(source, layout, region -> {});
    Buffer little = new Buffer(0, 36 * KIB, 64, first, arena);
    Buffer aligned = new Buffer(7, 64 * KIB, 64 * KIB, second, arena);
    Buffers.ready(1, little, aligned);
    ArenaSpan[] spans =
        ArenaSpan.over(
            arena.regions(), List.of(little.blocks().get(0), aligned.blocks().get(0)), 4096);
    long start = arena.region(0).address();
    PooledBlock inLittle = little.claimAny();
    PooledBlock inAligned = aligned.claimAny();
    assertEquals(0, inAligned.startAddress() % (64 * KIB));
    assertSame(inLittle, find(spans, start + 36 * KIB - 1));
    assertNull(find(spans, start + 36 * KIB));
    assertNull(find(spans, start + 64 * KIB - 1));
    assertSame(inAligned, find(spans, start + 64 * KIB));
    arena.free();
  }
}
