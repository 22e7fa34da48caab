package io.prmalloc.internal.slab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.pool.Threads;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Exhausted slabs that their thread retains, because other threads close what it allocates. */
class RetainedSlabsTest extends SlotFixture {

  private static final int SPARE_SLOTS = SlabClass.spareSlots(BYTES);

  private List<PooledBlock> takeAll(int count) {
    List<PooledBlock> taken = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      taken.add(take());
    }
    assertEquals(count, new HashSet<>(taken).size(), "each has one user");
    return taken;
  }

  /** Takes some, which another thread closes; what that was. */
  private List<PooledBlock> handOver(int count) throws Exception {
    List<PooledBlock> taken = takeAll(count);
    elsewhere(() -> taken.forEach(SlotFixture::giveBack));
    return taken;
  }

  private static long freeInFront(List<PooledBlock> blocks) {
    return blocks.stream().filter(PooledBlock::isFree).count();
  }

  @Test
  void shouldStayInFrontWhenAnotherThreadClosesThem() throws Exception {
    int count = 3 * SLOTS;
    List<PooledBlock> first = handOver(count);
    assertTrue(freeInFront(first) <= SLOTS, "all but those of the last slab are on stacks");
    for (int lap = 0; lap < 4; lap++) {
      handOver(count);
    }
    int slabs = grown.get();
    List<PooledBlock> last = handOver(count);
    assertEquals(count, freeInFront(last));
    assertEquals(new HashSet<>(last), new HashSet<>(handOver(count)), "they serve again");
    assertEquals(slabs, grown.get());
  }

  @Test
  void shouldGoToTheStackWhenItsOwnThreadClosesThem() {
    for (int lap = 0; lap < 3; lap++) {
      List<PooledBlock> taken = takeAll(3 * SLOTS);
      taken.forEach(SlotFixture::giveBack);
      assertTrue(freeInFront(taken) <= 2L * SLOTS, () -> freeInFront(taken) + " in front");
    }
  }

  @Test
  void shouldRestNoMoreThanMayBeSpareWhenManyAreOut() throws Exception {
    for (int lap = 0; lap < 4; lap++) {
      List<PooledBlock> taken = handOver(5 * SPARE_SLOTS);
      // Beside those that rest, the one that serves, which has 64 slots at most.
      assertTrue(freeInFront(taken) <= SPARE_SLOTS + 64, () -> freeInFront(taken) + " in front");
      long most = (SPARE_SLOTS + 2L * 64) * SizeClasses.slotBytes(SizeClasses.classOf(BYTES));
      assertTrue(source.bytesReserved() <= most, () -> source.bytesReserved() + " bytes are kept");
    }
  }

  @Test
  void shouldServeAnotherStripeBeforeThereIsANewOne() throws Exception {
    int count = 3 * SLOTS;
    for (int lap = 0; lap < 4; lap++) {
      handOver(count);
    }
    int slabs = grown.get();
    List<PooledBlock> theirs = new ArrayList<>();
    elsewhere(() -> theirs.addAll(takeAll(count - SLOTS)));
    assertEquals(slabs, grown.get(), "it took what rested");
    List<PooledBlock> both = takeAll(count);
    both.addAll(theirs);
    assertEquals(2 * count - SLOTS, new HashSet<>(both).size(), "each has one user");
    both.forEach(SlotFixture::giveBack);
    assertTrue(small.retire(), "all are free");
    small.reopen();
  }

  @Test
  void shouldBeGivenBackByATrimWhenTheyAreFree() throws Exception {
    for (int lap = 0; lap < 4; lap++) {
      handOver(3 * SLOTS);
    }
    PooledBlock out = take();
    small.trim();
    assertEquals(1, small.slabs(), "that of which one is out");
    giveBack(out);
    assertTrue(small.trim() > 0);
    assertEquals(0, source.bytesReserved());
    assertEquals(3 * SLOTS, handOver(3 * SLOTS).size());
  }

  @Test
  void shouldGoOnWhenItCouldNotBeRetired() throws Exception {
    int count = 3 * SLOTS;
    for (int lap = 0; lap < 4; lap++) {
      handOver(count);
    }
    PooledBlock out = take();
    assertFalse(small.retire());
    int slabs = grown.get();
    List<PooledBlock> taken = takeAll(count - 1);
    assertFalse(taken.contains(out));
    assertEquals(slabs, grown.get(), "what it had sent to the stacks is found there");
    giveBack(out);
    taken.forEach(SlotFixture::giveBack);
  }

  /**
   * Threads that take and others that close, some of which take as well, and somebody trims. No
   * slot has two users, and in the end all are free.
   */
  @Test
  void shouldLoseNothingAndOverlapNothingWhenSlotsAreHandedOver() throws Exception {
    int pairs = 3;
    AtomicBoolean overlap = new AtomicBoolean();
    List<BlockingQueue<PooledBlock>> queues = new ArrayList<>();
    for (int i = 0; i < pairs; i++) {
      queues.add(new LinkedBlockingQueue<>(SPARE_SLOTS));
    }
    Threads.run(
        2 * pairs,
        thread -> {
          BlockingQueue<PooledBlock> queue = queues.get(thread / 2);
          SplittableRandom random = new SplittableRandom(thread);
          if (thread % 2 == 0) {
            for (int i = 0; i < 20_000; i++) {
              PooledBlock block = take();
              write(block);
              queue.put(block);
              if (thread == 0 && i % 1000 == 0) {
                small.trim();
              }
            }
          } else {
            Set<PooledBlock> own = new HashSet<>();
            for (int i = 0; i < 20_000; i++) {
              PooledBlock block = queue.take();
              overlap.compareAndSet(false, !isWritten(block));
              giveBack(block);
              if (random.nextInt(100) < thread - 1 && own.size() < 2 * SLOTS) {
                own.add(take());
              } else if (random.nextInt(5_000) == 0) {
                own.forEach(SlotFixture::giveBack);
                own.clear();
              }
            }
            own.forEach(SlotFixture::giveBack);
          }
        });
    assertFalse(overlap.get(), "two users of one slot");
    PoolCounts counts = new PoolCounts();
    small.addTo(counts);
    assertEquals(0, counts.liveBlocks);
    assertTrue(small.retire(), "every slot is free");
    small.reopen();
  }

  private static long pattern(PooledBlock block) {
    return System.identityHashCode(block) * 31L + block.uses();
  }

  private static void write(PooledBlock block) {
    block.region().buffer().putLong(block.offset(), pattern(block));
  }

  private static boolean isWritten(PooledBlock block) {
    return block.region().buffer().getLong(block.offset()) == pattern(block);
  }
}
