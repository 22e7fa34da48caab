package io.prmalloc.internal.slab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.ReservationGate;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.Buffers;
import io.prmalloc.internal.freelist.FreeIndex;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.pool.Threads;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SmallBlocksTest {

  private final SubAllocator source = SubAllocator.direct();
  private final AddressDirectory directory = new AddressDirectory();
  private final AtomicInteger grown = new AtomicInteger();
  private final SmallBlocks small =
      new SmallBlocks(
          source, BlockIsolation.NONE, directory, new ReservationGate(), grown::incrementAndGet);

  @AfterEach
  void giveBack() {
    small.free();
    assertEquals(0, source.bytesReserved());
  }

  private static PooledBlock take(SmallBlocks small, int bytes, int alignment) {
    PooledBlock block = Buffers.slot(small, bytes, alignment);
    block.openRaw(bytes, 0);
    return block;
  }

  private PooledBlock take(int bytes, int alignment) {
    return take(small, bytes, alignment);
  }

  private static void giveBack(PooledBlock block) {
    assertTrue(block.closeRaw());
  }

  /** Its memory goes back then, so no request may find it. */
  @Test
  void shouldHaveNoSlabWhenTheTellingOfItFails() {
    boolean[] fails = {true};
    SmallBlocks others =
        new SmallBlocks(
            source,
            BlockIsolation.NONE,
            directory,
            new ReservationGate(),
            () -> {
              if (fails[0]) {
                throw new UnsupportedOperationException("of the test");
              }
            });
    assertThrows(UnsupportedOperationException.class, () -> take(others, 100, 8));
    assertEquals(0, source.bytesReserved());
    fails[0] = false;
    PooledBlock block = take(others, 100, 8);
    assertTrue(source.bytesReserved() > 0);
    giveBack(block);
    others.free();
  }

  @Test
  void shouldFindASlotByEachOfItsAddresses() {
    directory.enable();
    List<PooledBlock> all = new ArrayList<>();
    for (int sizeClass = 0; sizeClass < SizeClasses.count(); sizeClass++) {
      for (int i = 0; i < 300; i++) {
        all.add(take(SizeClasses.slotBytes(sizeClass), 8));
      }
    }
    for (PooledBlock block : all) {
      long end = block.startAddress() + block.capacityBytes();
      assertSame(block, directory.find(block.startAddress()));
      assertSame(block, directory.find(end - 1));
      assertNotSame(block, directory.find(end));
    }
    all.forEach(SmallBlocksTest::giveBack);
  }

  @Test
  void shouldBeLargeEnoughAndAlignedWhenSizesAndAlignmentsVary() {
    for (int alignment = 8; alignment <= 4096; alignment *= 2) {
      for (int bytes = 0; bytes <= 40_960 - (alignment > 64 ? 4096 : 0); bytes += 61) {
        PooledBlock first = take(bytes, alignment);
        PooledBlock second = take(bytes, alignment);
        for (PooledBlock block : List.of(first, second)) {
          assertTrue(block.capacityBytes() >= bytes, block.capacityBytes() + " for " + bytes);
          assertEquals(0, block.startAddress() % alignment, bytes + " at " + alignment);
          assertTrue(block.isSmall());
          assertEquals(-1, block.bin());
          assertTrue(block.offset() + block.capacityBytes() <= block.region().sizeBytes());
        }
        long distance = Math.abs(first.startAddress() - second.startAddress());
        assertTrue(distance >= first.capacityBytes(), "no overlap");
        giveBack(first);
        giveBack(second);
      }
    }
  }

  @Test
  void shouldGiveSlotsThatWereUsedBeforeOthersWhenAskedAgain() {
    List<PooledBlock> used = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      used.add(take(100, 64));
    }
    PooledBlock neighbor = used.remove(70);
    used.forEach(SmallBlocksTest::giveBack);
    Set<PooledBlock> again = new HashSet<>();
    for (int i = 0; i < used.size(); i++) {
      again.add(take(100, 64));
    }
    assertEquals(new HashSet<>(used), again);
    again.forEach(SmallBlocksTest::giveBack);
    giveBack(neighbor);
  }

  @Test
  void shouldKeepAMebibyteOfSparesBesideTheCurrentSlabWhenAllSlotsAreFreed() {
    long slotBytes = 8 * 1024;
    List<PooledBlock> out = new ArrayList<>();
    for (int i = 0; i < 10 * 32; i++) {
      out.add(take(8 * 1024, 64));
    }
    // The sixth is made when four are exhausted beside the one that serves, and so is larger.
    assertEquals(5 + 3, small.slabs());
    assertEquals(8, grown.get());
    assertEquals((5 * 32 + 3 * 64) * slotBytes, source.bytesReserved());
    out.forEach(SmallBlocksTest::giveBack);
    assertEquals(64 * slotBytes + (1 << 20), source.bytesReserved());
    // All are used before another one is made.
    out.clear();
    for (int i = 0; i < 64 + 128; i++) {
      out.add(take(8 * 1024, 64));
    }
    assertEquals(8, grown.get());
    out.forEach(SmallBlocksTest::giveBack);
  }

  @Test
  void shouldMakeLargerSlabsWhenManyAreExhaustedAndLeaveNoMoreThanAThirdIdle() {
    for (int bytes : new int[] {16, 1024, 8 * 1024, 32 * 1024}) {
      int slotBytes = SizeClasses.slotBytes(SizeClasses.classOf(bytes, 16));
      int least = leastSlots(slotBytes);
      long before = source.bytesReserved();
      int slabs = small.slabs();
      List<PooledBlock> out = new ArrayList<>();
      for (int taken = 1; taken <= 600; taken++) {
        out.add(take(bytes, 16));
        long slots = (source.bytesReserved() - before) / slotBytes;
        long idle = slots - taken;
        assertTrue(
            idle <= Math.max(least, slots / 3), bytes + " bytes: " + idle + " idle of " + slots);
      }
      int largest = Math.min(64, SlabClass.spareSlots(slotBytes));
      int most = least < largest ? 600 * 4 / (3 * largest) : 1;
      assertTrue(small.slabs() - slabs <= most, bytes + " bytes: " + small.slabs() + " slabs");
      out.forEach(SmallBlocksTest::giveBack);
      small.trim();
    }
  }

  @Test
  void shouldMakeASmallerSlabWhenALargerOneIsNotToBeHad() {
    long leastBytes = 32 * 8 * 1024;
    SubAllocator tight = SubAllocator.direct(7 * leastBytes);
    SmallBlocks limited =
        new SmallBlocks(
            tight, BlockIsolation.NONE, new AddressDirectory(), new ReservationGate(), () -> {});
    List<PooledBlock> out = new ArrayList<>();
    for (int i = 0; i < 5 * 32 + 64; i++) {
      out.add(take(limited, 8 * 1024, 64));
    }
    assertEquals(7 * leastBytes, tight.bytesReserved());
    giveBack(out.remove(0));
    out.add(take(limited, 8 * 1024, 64));
    assertThrows(OutOfNativeMemoryException.class, () -> take(limited, 8 * 1024, 64));
    out.forEach(SmallBlocksTest::giveBack);
    limited.free();
    assertEquals(0, tight.bytesReserved());

    SubAllocator tighter = SubAllocator.direct(6 * leastBytes);
    SmallBlocks few =
        new SmallBlocks(
            tighter, BlockIsolation.NONE, new AddressDirectory(), new ReservationGate(), () -> {});
    out.clear();
    for (int i = 0; i < 6 * 32; i++) {
      out.add(take(few, 8 * 1024, 64));
    }
    assertThrows(OutOfNativeMemoryException.class, () -> take(few, 8 * 1024, 64));
    assertEquals(6 * leastBytes, tighter.bytesReserved());
    out.forEach(SmallBlocksTest::giveBack);
    few.free();
  }

  /** Of the first slabs of a class. */
  private static int leastSlots(int slotBytes) {
    return Math.min(Math.max(32, 32 * 1024 / slotBytes), 256 * 1024 / slotBytes);
  }

  @Test
  void shouldHaveSparesForAFullQueueOfMostSizesAndNoMoreThanAMebibyte() {
    for (int sizeClass = 0; sizeClass < SizeClasses.count(); sizeClass++) {
      int slotBytes = SizeClasses.slotBytes(sizeClass);
      long slabBytes = (long) leastSlots(slotBytes) * slotBytes;
      long spareSlots = SlabClass.spareSlots(slotBytes);
      assertTrue(slabBytes <= 1 << 20, slotBytes + " bytes: one, if it has more slots");
      assertTrue(spareSlots * slotBytes <= 1 << 20, slotBytes + " bytes: " + spareSlots);
      if (slotBytes <= 4096) {
        assertEquals(256, spareSlots, slotBytes + " bytes");
      }
    }
  }

  @Test
  void shouldPayTheSystemNothingWhenBreathingAtTheEdgeOfASlab() {
    List<PooledBlock> out = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      out.add(take(8 * 1024, 64));
    }
    for (int breath = 0; breath < 100; breath++) {
      giveBack(take(8 * 1024, 64));
    }
    assertEquals(2, grown.get());
    out.forEach(SmallBlocksTest::giveBack);
  }

  @Test
  void shouldFillHolesOfOldSlabsWhenSlotsAreFreedOneByOne() {
    List<PooledBlock> out = new ArrayList<>();
    for (int i = 0; i < 4 * 32; i++) {
      out.add(take(8 * 1024, 64));
    }
    Set<PooledBlock> holes = new HashSet<>();
    for (int i = 5; i < out.size(); i += 9) {
      holes.add(out.get(i));
      giveBack(out.get(i));
    }
    for (int i = holes.size(); i > 0; i--) {
      assertTrue(holes.remove(take(8 * 1024, 64)), "a slot that was freed");
    }
    assertEquals(4, small.slabs());
    assertNotSame(out.get(0), out.get(1));
    out.forEach(SmallBlocksTest::giveBack);
  }

  @Test
  void shouldChangeNothingWhenASlabIsNotToBeHad() {
    SubAllocator tight = SubAllocator.direct(1 << 18);
    SmallBlocks limited =
        new SmallBlocks(
            tight, BlockIsolation.NONE, new AddressDirectory(), new ReservationGate(), () -> {});
    List<PooledBlock> out = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      out.add(take(limited, 8 * 1024, 64));
    }
    assertThrows(OutOfNativeMemoryException.class, () -> take(limited, 8 * 1024, 64));
    assertThrows(OutOfNativeMemoryException.class, () -> take(limited, 16, 16));
    assertEquals(1, limited.slabs());
    giveBack(out.remove(7));
    out.add(take(limited, 8 * 1024, 64));
    assertEquals(1 << 18, tight.bytesReserved());
    out.forEach(SmallBlocksTest::giveBack);
    limited.free();
    assertEquals(0, tight.bytesReserved());
  }

  @Test
  void shouldRetireOnlyWhenAllSlotsAreFreeAndGoOnWhenReopened() {
    PooledBlock block = take(100, 64);
    PooledBlock large = take(20_000, 64);
    assertFalse(small.retire());
    giveBack(block);
    assertFalse(small.retire());
    giveBack(large);
    assertTrue(small.retire());
    small.reopen();
    assertSame(block, take(100, 64));
    giveBack(block);
  }

  @Test
  void shouldKeepCountsWhenSlabsAreGivenBack() {
    List<PooledBlock> out = new ArrayList<>();
    int uses = 7 * 32;
    for (int i = 0; i < uses; i++) {
      out.add(take(8 * 1024 - i, 64));
    }
    PoolCounts full = new PoolCounts();
    small.addTo(full);
    assertEquals(uses, full.uses);
    assertEquals(uses, full.liveBlocks);
    assertEquals(uses * (8L * 1024) - (uses - 1) * uses / 2, full.bytesInUse);
    assertTrue(full.peakBytes >= full.bytesInUse);
    out.forEach(SmallBlocksTest::giveBack);
    PoolCounts empty = new PoolCounts();
    small.addTo(empty);
    assertEquals(5, small.slabs(), "of seven");
    assertEquals(uses, empty.uses);
    assertEquals(0, empty.liveBlocks);
    assertEquals(0, empty.bytesInUse);
    assertEquals(full.peakBytes, empty.peakBytes);
    assertEquals(8 * 1024, empty.largestBytes);
  }

  @Test
  void shouldFindSlotsByAddressWhenTheyAreOut() {
    directory.enable();
    List<PooledBlock> out = new ArrayList<>();
    for (int bytes = 1; bytes <= 32 * 1024; bytes += 509) {
      out.add(take(bytes, 16));
    }
    for (PooledBlock block : out) {
      assertSame(block, directory.find(block.startAddress()));
      assertSame(block, directory.find(block.startAddress() + block.capacityBytes() - 1));
      assertNotSame(block, directory.find(block.startAddress() - 1));
      assertNotSame(block, directory.find(block.startAddress() + block.capacityBytes()));
    }
    out.forEach(SmallBlocksTest::giveBack);
  }

  @Test
  void shouldLoseNothingAndOverlapNothingWhenThreadsHandBlocksToEachOther() throws Exception {
    long seed = 7;
    int threads = 8;
    List<ConcurrentLinkedQueue<PooledBlock>> inboxes = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      inboxes.add(new ConcurrentLinkedQueue<>());
    }
    SplittableRandom seeds = new SplittableRandom(seed);
    SplittableRandom[] randoms = new SplittableRandom[threads];
    for (int i = 0; i < threads; i++) {
      randoms[i] = seeds.split();
    }
    int[] sizes = {16, 100, 3000, 20_000, 32 * 1024};
    Threads.run(
        threads,
        thread -> {
          SplittableRandom random = randoms[thread];
          ArrayDeque<PooledBlock> own = new ArrayDeque<>();
          for (int i = 0; i < 6000; i++) {
            // Tides: all threads fill for a while, then empty, so that slabs come and go.
            boolean flood = i / 500 % 2 == 0;
            if (random.nextInt(10) < (flood ? 7 : 3)) {
              PooledBlock block = take(sizes[random.nextInt(sizes.length)], 16);
              stamp(block);
              (random.nextBoolean() ? own : inboxes.get(random.nextInt(threads))).add(block);
            } else {
              PooledBlock block = own.poll();
              block = block != null ? block : inboxes.get(thread).poll();
              if (block != null) {
                checkAndGiveBack(block, seed);
              }
            }
          }
          own.forEach(block -> checkAndGiveBack(block, seed));
        });
    inboxes.forEach(inbox -> inbox.forEach(block -> checkAndGiveBack(block, seed)));
    PoolCounts counts = new PoolCounts();
    small.addTo(counts);
    assertEquals(0, counts.liveBlocks);
    assertEquals(0, counts.bytesInUse);
    assertTrue(grown.get() > small.slabs(), "slabs came and went: " + grown + ", " + small.slabs());
    int spares =
        Arrays.stream(sizes)
            .map(bytes -> SizeClasses.classOf(bytes, 16))
            .map(SizeClasses::slotBytes)
            .map(slotBytes -> Math.max(1, SlabClass.spareSlots(slotBytes) / leastSlots(slotBytes)))
            .sum();
    int most = threads * sizes.length + spares;
    assertTrue(
        small.slabs() <= most,
        small.slabs() + " slabs; one of each size for each thread, and spares: " + spares);
    assertTrue(small.retire(), "every slot is free");
    small.reopen();
  }

  /** Fills the block's first and last word with what nobody else writes: who it is. */
  private static void stamp(PooledBlock block) {
    long mark = System.identityHashCode(block) * 31L + block.uses();
    block.region().buffer().putLong(block.offset(), mark);
    block.region().buffer().putLong(block.offset() + block.capacityBytes() - 8, mark);
  }

  private static void checkAndGiveBack(PooledBlock block, long seed) {
    long mark = System.identityHashCode(block) * 31L + block.uses();
    assertEquals(mark, block.region().buffer().getLong(block.offset()), "seed " + seed);
    int last = block.offset() + block.capacityBytes() - 8;
    assertEquals(mark, block.region().buffer().getLong(last), "seed " + seed);
    giveBack(block);
  }

  @Test
  void shouldFindASlotOfWhichNoBitTellsBeforeItGrows() {
    List<PooledBlock> out = new ArrayList<>();
    for (int i = 0; i < 31; i++) {
      out.add(take(8 * 1024, 64));
    }
    PooledBlock lost = out.remove(7);
    giveBack(lost);
    // Who finds its bit finds the slot busy, and clears the bit.
    assertTrue(lost.claim());
    out.add(take(8 * 1024, 64));
    lost.giveUp();
    assertSame(lost, take(8 * 1024, 64));
    assertEquals(1, small.slabs());
    giveBack(lost);
    out.forEach(SmallBlocksTest::giveBack);
  }

  @Test
  void shouldFindItsOwnSlotOfWhichNoBitTellsBeforeItTakesFromOthers() throws Exception {
    List<PooledBlock> out = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      out.add(take(8 * 1024, 64));
    }
    PooledBlock lost = out.remove(7);
    giveBack(lost);
    assertTrue(lost.claim());
    assertNull(small.take(8 * 1024, 64), "its bit is cleared, for it is busy");
    lost.giveUp();
    Buffers.onAnotherStripe(
        small.fronts().stripes(), Executors.callable(() -> giveBack(take(8 * 1024, 64))));
    assertSame(lost, take(8 * 1024, 64));
    assertNotSame(lost.region(), take(8 * 1024, 64).region(), "then those");
    assertEquals(2, small.slabs());
  }

  @Test
  void shouldHaveASlabAtHandForEachStripeThatCameForOne() throws Exception {
    int[] sizes = {32 * 1024, 100};
    for (int bytes : sizes) {
      giveBack(take(bytes, 64));
    }
    SlabFronts fronts = small.fronts();
    Stripes stripes = fronts.stripes();
    assertTrue(stripes.count() >= 8, "eight threads keep apart on any machine");
    int own = stripes.current();
    Threads.run(
        2 * stripes.count(),
        thread -> {
          for (int bytes : sizes) {
            boolean mine = stripes.current() == own;
            assertEquals(mine, fronts.frontFor(bytes) != FreeIndex.NONE);
            PooledBlock slot = small.takeServed(bytes, 64);
            assertEquals(mine, slot != null);
            if (slot != null) {
              slot.openRaw(1, 0);
              giveBack(slot);
            }
          }
        });
  }

  @Test
  void shouldHaveSmallSlabsOfLargeSlotsAndAsManySparesAsMakeALargeOne() {
    List<PooledBlock> out = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 5 * 8 + 16; i++) {
        out.add(take(32 * 1024, 64));
      }
      assertEquals(6 + round, grown.get(), "the spares were used before another one was made");
      assertTrue(small.slabs() <= 6, "of eight slots, and from one to three of sixteen");
      long idle = source.bytesReserved() / (32 * 1024) - out.size();
      assertTrue(idle <= 8, idle + " slots are idle");
      out.forEach(SmallBlocksTest::giveBack);
      out.clear();
      long serving = 16 * 32 * 1024;
      assertEquals(serving + (1 << 20), source.bytesReserved(), "with the spares");
    }
  }

  @Test
  void shouldLookInFrontsForSmallRequestsOfSomeBytes() {
    for (long bytes : new long[] {1, 64, 32 * 1024}) {
      assertTrue(SlabFronts.areFor(bytes), () -> bytes + " bytes");
    }
    for (long bytes : new long[] {Long.MIN_VALUE, -1, 0, 32 * 1024 + 1, 1L << 32, Long.MAX_VALUE}) {
      assertFalse(SlabFronts.areFor(bytes), () -> bytes + " bytes");
    }
  }

  @Test
  void shouldHaveNothingAtHandWhileItIsObserved() {
    giveBack(take(1000, 64));
    small.observe(true);
    assertNull(small.take(1000, 64));
    List<PooledBlock> out = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      PooledBlock block = small.takeServed(1000, 64);
      out.add(block != null ? block : small.allocateSlowly(1000, 64));
      out.get(i).openRaw(1000, 0);
      assertNull(small.take(1000, 64), "nor is a slab that came to serve meanwhile");
    }
    out.forEach(SmallBlocksTest::giveBack);
    small.trim();
    assertNull(small.takeServed(1000, 64));
    PooledBlock next = small.allocateSlowly(1000, 64);
    next.openRaw(1000, 0);
    giveBack(next);
    small.observe(false);
    assertSame(next, small.take(1000, 64));
    next.giveUp();
  }
}
