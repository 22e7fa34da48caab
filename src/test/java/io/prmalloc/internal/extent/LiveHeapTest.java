package io.prmalloc.internal.extent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.prmalloc.Allocation;
import io.prmalloc.MemoryRegion;
import io.prmalloc.MmapOptions;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.RegionVisitor;
import io.prmalloc.RegionWrapper;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.pool.Threads;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LiveHeapTest {

  private static final long MIB = 1L << 20;

  private final List<Object> released = new ArrayList<>();

  private LiveHeap heapOf(SubAllocator source) {
    return new LiveHeap(source, BlockIsolation.NONE, new AddressDirectory(), released::add);
  }

  private static Allocation take(LiveHeap heap, long bytes) {
    return heap.acquire(bytes, 64, 0, null).open(bytes);
  }

  static Stream<SubAllocator> sources() {
    return Stream.of(
        SubAllocator.direct(),
        SubAllocator.mmap(MmapOptions.DEFAULT),
        SubAllocator.mmap(MmapOptions.DEFAULT.withGuardPages(true)),
        SubAllocator.posixMemalign());
  }

  /** A tensor with a pattern of its own in every byte. */
  private record Patterned(Allocation handle, int bytes, long mark) {

    static Patterned in(LiveHeap heap, int bytes, long alignment, long mark) {
      Allocation handle = heap.acquire(bytes, alignment, 0, null).open(bytes);
      ByteBuffer memory = handle.byteBuffer();
      assertEquals(bytes, memory.remaining());
      assertEquals(0, handle.address() % alignment);
      for (int at = 0; at + 8 <= bytes; at += 8) {
        memory.putLong(at, mark + at);
      }
      return new Patterned(handle, bytes, mark);
    }

    void closeChecked() {
      ByteBuffer memory = handle.byteBuffer();
      for (int at = 0; at + 8 <= bytes; at += 8) {
        if (memory.getLong(at) != mark + at) {
          assertEquals(mark + at, memory.getLong(at), "byte " + at + " of " + bytes);
        }
      }
      handle.close();
    }
  }

  @ParameterizedTest
  @MethodSource("sources")
  void shouldKeepEveryByteWhileThreadsTakeHandOverPurgeAndTrim(SubAllocator source)
      throws Exception {
    LiveHeap heap = heapOf(source);
    LinkedBlockingQueue<Patterned> handedOver = new LinkedBlockingQueue<>();
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<?>> done = new ArrayList<>();
      for (int thread = 0; thread < 3; thread++) {
        long seed = thread;
        done.add(threads.submit(() -> churn(heap, handedOver, seed)));
      }
      done.add(
          threads.submit(
              () -> {
                for (int i = 0; i < 60; i++) {
                  heap.purge(2);
                  if (i % 20 == 0) {
                    heap.trim();
                  }
                  Thread.onSpinWait();
                }
              }));
      for (Future<?> each : done) {
        each.get();
      }
    } finally {
      threads.shutdown();
    }
    handedOver.forEach(Patterned::closeChecked);
    assertEquals(0, heap.liveBlocks());
    assertEquals(0, heap.stats().bytesInUse());
    assertEquals(source.bytesReserved(), heap.heldBytes());
    heap.trim();
    assertEquals(0, source.bytesReserved());
    assertTrue(heap.retire());
  }

  private static void churn(LiveHeap heap, LinkedBlockingQueue<Patterned> handedOver, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Deque<Patterned> mine = new ArrayDeque<>();
    for (int i = 0; i < 600; i++) {
      int kind = random.nextInt(10);
      if (kind < 5) {
        int bytes = 1 + random.nextInt(1 + random.nextInt(400_000));
        long alignment = random.nextInt(8) == 0 ? 1L << random.nextInt(17) : 64;
        mine.add(Patterned.in(heap, bytes, alignment, random.nextLong()));
      } else if (kind == 5 && !mine.isEmpty()) {
        handedOver.add(mine.pollLast());
      } else if (kind == 6) {
        Patterned others = handedOver.poll();
        if (others != null) {
          others.closeChecked();
        }
      } else if (!mine.isEmpty()) {
        mine.poll().closeChecked();
      }
    }
    mine.forEach(Patterned::closeChecked);
  }

  @Test
  void shouldAskTheSubAllocatorForFewRegionsOnly() {
    SubAllocator source = SubAllocator.mmap(MmapOptions.DEFAULT);
    List<Long> regions = new ArrayList<>();
    LiveHeap heap =
        heapOf(
            source.withVisitors(
                0,
                new RegionVisitor() {
                  @Override
                  public void allocated(MemoryRegion region, int index, long bytes) {
                    regions.add(bytes);
                  }

                  @Override
                  public void freeing(MemoryRegion region, int index, long bytes) {}
                }));
    SplittableRandom random = new SplittableRandom(1);
    for (int step = 0; step < 50; step++) {
      List<Allocation> tensors = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        tensors.add(take(heap, 40_000 + random.nextInt(2_000_000)));
      }
      tensors.forEach(Allocation::close);
    }
    assertTrue(regions.size() <= 6, "regions: " + regions);
    heap.retire();
  }

  /** For there may be none, and the memory is free already. */
  @Test
  void shouldTakeNoHeapWhenExtentsAreFreed() {
    // The first heap initialises classes.
    bytesOfHeapThatFreesTake();
    assertEquals(0, bytesOfHeapThatFreesTake());
  }

  private long bytesOfHeapThatFreesTake() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    LiveHeap heap = heapOf(SubAllocator.mmap(MmapOptions.DEFAULT));
    Allocation[] tensors = new Allocation[600];
    Arrays.setAll(tensors, i -> take(heap, 40_000));
    threads.getCurrentThreadAllocatedBytes();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (Allocation tensor : tensors) {
      tensor.close();
    }
    long after = threads.getCurrentThreadAllocatedBytes();
    assertTrue(heap.retire());
    return after - before;
  }

  @Test
  void shouldServeManyThreadsOneAfterTheOtherFromTheSameRegions() throws Exception {
    SubAllocator source = SubAllocator.mmap(MmapOptions.DEFAULT);
    LiveHeap heap = heapOf(source);
    take(heap, 10 * MIB).close();
    long held = source.bytesReserved();
    for (int i = 0; i < 40; i++) {
      Thread thread = new Thread(() -> take(heap, 10 * MIB).close());
      thread.start();
      thread.join();
    }
    assertEquals(held, source.bytesReserved());
    heap.retire();
  }

  @Test
  void shouldReserveForEachThreadByItsOwnNeeds() throws Exception {
    SubAllocator source = SubAllocator.direct();
    LiveHeap heap = heapOf(source);
    List<Allocation> tensors = new ArrayList<>();
    int bytes = 600_000;
    for (int i = 0; i < 16; i++) {
      // One after the other, so in every shard there is.
      Thread thread = new Thread(() -> tensors.add(take(heap, bytes)));
      thread.start();
      thread.join();
    }
    assertEquals(16, tensors.size());
    assertTrue(source.bytesReserved() <= 3L * 16 * bytes, source.bytesReserved() + " reserved");
    tensors.forEach(Allocation::close);
    heap.retire();
  }

  @Test
  void shouldLeaveLargeRegionsIdleWhenAnotherThreadNeedsLittle() throws Exception {
    SubAllocator source = SubAllocator.direct();
    LiveHeap heap = heapOf(source);
    try (Allocation small = take(heap, 100_000);
        Allocation large = take(heap, 10 * MIB)) {
      assertTrue(source.bytesReserved() > small.sizeBytes() + large.sizeBytes());
    }
    List<Allocation> tensors = new ArrayList<>();
    Thread other = new Thread(() -> tensors.add(take(heap, 100_000)));
    while (((other.getId() ^ Thread.currentThread().getId()) & 3) == 0) {
      other = new Thread(() -> tensors.add(take(heap, 100_000)));
    }
    other.start();
    other.join();
    heap.releaseUnused();
    assertTrue(source.bytesReserved() <= MIB, source.bytesReserved() + " reserved");
    tensors.forEach(Allocation::close);
    heap.retire();
  }

  @Test
  void shouldReplaceRegionsThatAreFreeAndTooSmallByALargerOne() {
    SubAllocator source = SubAllocator.direct();
    LiveHeap heap = heapOf(source);
    for (long size = 4 * MIB; size <= 16 * MIB; size += MIB) {
      take(heap, size).close();
    }
    assertTrue(source.bytesReserved() < 24 * MIB, source.bytesReserved() + " bytes");
    Allocation small = take(heap, MIB);
    take(heap, 40 * MIB).close();
    assertTrue(source.bytesReserved() > 40 * MIB, "the one in use stays");
    small.close();
    heap.trim();
    assertEquals(0, source.bytesReserved());
  }

  /**
   * As a server gathers bodies: each in a buffer that is replaced by a larger one when it is full.
   */
  @Test
  void shouldHoldLittleMoreThanBodiesThatGrowNeed() {
    SubAllocator source = SubAllocator.direct();
    LiveHeap heap = heapOf(source);
    Random random = new Random(1);
    Allocation[] bodies = new Allocation[4];
    long[] wanted = new long[bodies.length];
    long inUse = 0;
    long most = 0;
    for (int i = 0; i < 2_000; i++) {
      int body = random.nextInt(bodies.length);
      Allocation before = bodies[body];
      long had = before == null ? 0 : before.sizeBytes();
      if (before == null) {
        wanted[body] = (4 + random.nextInt(13)) * MIB;
      }
      bodies[body] = null;
      if (had < wanted[body]) {
        // Up to 4 MiB it doubles, as Netty's buffers do.
        long size = had < 4 * MIB ? Math.max(MIB / 16, 2 * had) : had + 4 * MIB;
        bodies[body] = take(heap, size);
        inUse += size;
        most = Math.max(most, inUse);
      }
      Allocation read = take(heap, MIB / 16);
      if (before != null) {
        before.close();
        inUse -= had;
      }
      read.close();
    }
    long held = source.bytesReserved();
    assertTrue(held < 1.4 * most, held + " bytes for " + most + " in use at most");
    for (Allocation body : bodies) {
      if (body != null) {
        body.close();
      }
    }
    assertTrue(heap.retire());
  }

  @Test
  void shouldRefuseWithTheBooksAsBeforeAndServeAgainAfterwardsUnderALimit() {
    SubAllocator source = SubAllocator.direct(41 * MIB);
    LiveHeap heap = heapOf(source);
    Allocation first = take(heap, 20 * MIB);
    Allocation second = take(heap, 20 * MIB);
    assertThrows(OutOfNativeMemoryException.class, () -> take(heap, 20 * MIB));
    assertEquals(2, heap.liveBlocks());
    assertEquals(40 * MIB, heap.stats().bytesInUse());
    first.close();
    Allocation third = take(heap, 20 * MIB);
    third.close();
    second.close();
    // What is empty goes back first, so that one may have it all.
    take(heap, 40 * MIB).close();
    assertTrue(heap.retire());
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldServeAsManyRequestsUnderALimitAsIfEachHadARegion() {
    for (int limit = 41; limit <= 128; limit++) {
      SubAllocator source = SubAllocator.mmap(MmapOptions.DEFAULT.withLimitBytes(limit * MIB));
      LiveHeap heap = heapOf(source);
      List<Allocation> out = new ArrayList<>();
      for (int i = 0; i < limit / 20; i++) {
        out.add(take(heap, 20 * MIB - 64));
      }
      out.forEach(Allocation::close);
      assertTrue(heap.retire());
    }
  }

  @Test
  void shouldGiveBackPagesAndEmptyRegionsAfterSoManyTicks() {
    assumeTrue(OperatingSystem.callsNativeSilently(), "no native calls without a warning here");
    SubAllocator source = SubAllocator.mmap(MmapOptions.DEFAULT);
    LiveHeap heap = heapOf(source);
    Allocation large = take(heap, 40 * MIB);
    Allocation stays = take(heap, MIB);
    large.close();
    long clean = heap.cleanBytes();
    for (int i = 0; i < 3; i++) {
      assertEquals(0, heap.purge(4));
    }
    assertEquals(clean, heap.cleanBytes());
    heap.purge(4);
    heap.purge(4);
    assertEquals(clean + 40 * MIB, heap.cleanBytes());
    stays.byteBuffer().put(0, (byte) 1);
    stays.close();
    long reserved = source.bytesReserved();
    for (int i = 0; i < 5; i++) {
      heap.purge(4);
    }
    assertTrue(reserved > 0);
    assertEquals(0, source.bytesReserved());
    heap.retire();
  }

  @Test
  void shouldDiscardPagesBeforeARegionGoesBackToALibraryThatKeepsThem() {
    assumeTrue(OperatingSystem.callsNativeSilently(), "no native calls without a warning here");
    int bytes = (int) (40 * MIB);
    AtomicInteger written = new AtomicInteger();
    LiveHeap heap =
        heapOf(
            SubAllocator.direct()
                .withVisitors(
                    0,
                    new RegionVisitor() {
                      @Override
                      public void allocated(MemoryRegion region, int index, long regionBytes) {}

                      @Override
                      public void freeing(MemoryRegion region, int index, long regionBytes) {
                        // Not the first and the last page, which the region shares with others.
                        for (int at = 64 << 10; at < bytes; at += 64 << 10) {
                          if (region.buffer().get(at) != 0) {
                            written.incrementAndGet();
                          }
                        }
                      }
                    }));
    Allocation all = take(heap, bytes);
    for (int at = 0; at < bytes; at += 64 << 10) {
      all.byteBuffer().put(at, (byte) 1);
    }
    all.close();
    assertTrue(heap.releaseUnused() >= bytes);
    assertEquals(0, written.get());
    heap.retire();
  }

  @Test
  void shouldFindABlockByItsAddressOnlyWhileItIsOut() {
    LiveHeap heap = heapOf(SubAllocator.posixMemalign());
    Allocation handle = take(heap, 50_000);
    long address = handle.address();
    assertEquals(50_000, heap.chunkAt(address).requestedBytes());
    assertTrue(heap.usableBytesAt(address) >= 50_000);
    assertNull(heap.chunkAt(address + 64));
    long id = heap.chunkAt(address).allocationId();
    assertEquals(id, heap.chunkAt(address).allocationId());
    handle.close();
    assertNull(heap.chunkAt(address));
    assertEquals(0, heap.usableBytesAt(address));
    heap.retire();
  }

  @Test
  void shouldRefuseAClosedHandleWhenItsBlockServesAnother() {
    LiveHeap heap = heapOf(SubAllocator.direct());
    Allocation first = take(heap, 50_000);
    first.close();
    Allocation second = take(heap, 60_000);
    assertThrows(IllegalStateException.class, first::close);
    assertThrows(IllegalStateException.class, first::byteBuffer);
    assertThrows(IllegalStateException.class, first::address);
    assertEquals(60_000, second.byteBuffer().remaining());
    second.close();
    heap.retire();
  }

  @Test
  void shouldShowEachUseAViewOfItsOwnBytes() {
    LiveHeap heap = heapOf(SubAllocator.direct());
    for (int bytes : new int[] {50_000, 40_000, 50_000, 200_000, 33_000}) {
      Allocation handle = take(heap, bytes);
      ByteBuffer view = handle.byteBuffer();
      assertEquals(0, view.position());
      assertEquals(bytes, view.limit());
      assertTrue(view.capacity() - bytes < 16 * 1024, "capacity " + view.capacity());
      view.position(5).limit(10);
      handle.close();
    }
    heap.retire();
  }

  @Test
  void shouldTellTheListenerOnceWhenABlockWithATicketComesBack() {
    LiveHeap heap = heapOf(SubAllocator.direct());
    heap.acquire(10, 64, 0, "first").open(10).close();
    heap.acquire(10, 64, 0, null).open(10).close();
    Allocation second = heap.acquire(10, 64, 0, "second").open(10);
    second.close();
    assertThrows(IllegalStateException.class, second::close);
    assertEquals(List.of("first", "second"), released);
    heap.retire();
  }

  @ParameterizedTest
  @MethodSource("sources")
  void shouldCloseEveryHandleWhenClosedForcibly(SubAllocator source) {
    LiveHeap heap = heapOf(source);
    List<Allocation> handles = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      handles.add(heap.acquire(100_000, 64, 0, i).open(100_000));
    }
    handles.get(2).close();
    assertFalse(heap.retire());
    heap.closeForcibly();
    assertEquals(0, heap.liveBlocks());
    assertEquals(0, heap.stats().bytesInUse());
    assertEquals(0, source.bytesReserved());
    for (Allocation handle : handles) {
      assertThrows(IllegalStateException.class, handle::close);
    }
    assertEquals(5, released.size());
    assertThrows(IllegalStateException.class, () -> take(heap, 100_000));
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldTellOfTheBlocksThatWereOutWhenTheyComeBack() {
    LiveHeap heap = heapOf(SubAllocator.direct());
    List<Allocation> before = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      before.add(take(heap, 100_000));
    }
    before.remove(0).close();
    List<Boolean> told = new ArrayList<>();
    heap.watchDrain(250_000, told::add);
    Allocation later = take(heap, 1_000_000);
    later.close();
    before.get(0).close();
    before.get(1).close();
    assertEquals(List.of(), told);
    before.get(2).close();
    assertEquals(List.of(false), told);
    before.get(3).close();
    assertEquals(List.of(false, true), told);
    take(heap, 1_000_000).close();
    assertEquals(2, told.size());
    heap.watchDrain(1, told::add);
    assertEquals(List.of(false, true, true), told);
    heap.retire();
  }

  @Test
  void shouldGiveARequestLargerThanARegionOneOfItsOwn() {
    SubAllocator source = SubAllocator.mmap(MmapOptions.DEFAULT);
    LiveHeap heap = heapOf(source);
    long bytes = Integer.MAX_VALUE - 4096L;
    Block block = heap.acquire(bytes, 64, 0, null);
    Allocation handle = block.open(bytes);
    assertTrue(source.bytesReserved() >= bytes);
    handle.byteBuffer().put((int) bytes - 1, (byte) 1);
    handle.close();
    assertEquals(0, source.bytesReserved());
    Allocation aligned = heap.acquire(100, 1 << 30, 0, null).open(100);
    assertEquals(0, aligned.address() % (1 << 30));
    aligned.close();
    assertEquals(0, source.bytesReserved());
    heap.retire();
  }

  private static class WrappingSource extends SubAllocatorWrapper {
    private final UnaryOperator<MemoryRegion> wrapper;

    WrappingSource(SubAllocator inner, UnaryOperator<MemoryRegion> wrapper) {
      super(inner);
      this.wrapper = wrapper;
    }

    @Override
    public MemoryRegion alloc(long alignment, long bytes) {
      return wrapper.apply(super.alloc(alignment, bytes));
    }

    @Override
    public void free(MemoryRegion region) {
      super.free(((RegionWrapper) region).wrapped());
    }
  }

  /** Tells its address once, and then cannot for once. */
  private static final class ShyRegion extends RegionWrapper {
    private int asked;

    ShyRegion(MemoryRegion region) {
      super(region);
    }

    @Override
    public long address() {
      if (++asked == 2) {
        throw new IllegalStateException("the address cannot be told");
      }
      return super.address();
    }
  }

  @Test
  void shouldKeepARegionWhosePagesArePurgedWhileTheHeapCloses() throws Exception {
    assumeTrue(OperatingSystem.callsNativeSilently(), "no native calls without a warning here");
    SubAllocator inner = SubAllocator.mmap(MmapOptions.DEFAULT);
    AtomicReference<Runnable> whenPurged = new AtomicReference<>(() -> {});
    LiveHeap heap =
        heapOf(
            new WrappingSource(
                inner,
                region ->
                    new RegionWrapper(region) {
                      @Override
                      public long discard(long offset, long bytes) {
                        whenPurged.getAndSet(() -> {}).run();
                        assertFalse(isFreed(), "the pages may be somebody else's");
                        return super.discard(offset, bytes);
                      }
                    }));
    Allocation before = take(heap, MIB);
    Allocation last = take(heap, MIB);
    before.close();
    Thread closer = new Thread(heap::retire);
    whenPurged.set(
        () -> {
          last.close();
          closer.start();
          Threads.awaitWaiting(closer);
        });
    assertEquals(MIB, heap.trim());
    closer.join();
    assertEquals(0, inner.bytesReserved());
  }

  @Test
  void shouldNotFindARegionOfItsOwnThatWentBackAfterAFailure() {
    SubAllocator inner = SubAllocator.direct();
    List<ShyRegion> shy = new ArrayList<>();
    SubAllocator source =
        new WrappingSource(
            inner,
            region -> {
              shy.add(new ShyRegion(region));
              return shy.get(0);
            }) {
          @Override
          public boolean isGuarded() {
            return true;
          }
        };
    AddressDirectory directory = new AddressDirectory();
    directory.enable();
    LiveHeap heap = new LiveHeap(source, BlockIsolation.NONE, directory, released::add);
    assertThrows(IllegalStateException.class, () -> heap.acquire(1000, 64, 64, null));
    assertNull(directory.find(shy.get(0).address()));
    assertEquals(0, inner.bytesReserved());
    // A watch counts the regions that the heap has.
    List<Boolean> drained = new ArrayList<>();
    heap.watchDrain(1, drained::add);
    assertEquals(List.of(true), drained);
    assertTrue(heap.retire());
    assertEquals(0, inner.bytesReserved());
  }
}
