package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Block;
import io.prmalloc.os.ProcessBarrier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Slots that their thread may claim for less, and what becomes of them when others want them. */
class SlotBiasTest extends SlotFixture {

  @BeforeEach
  void needBarrier() {
    assumeTrue(ProcessBarrier.isSupported(), "this platform has no process-wide barrier");
  }

  /** Takes and closes until the calling thread holds its stripe; what it had last. */
  private PooledBlock hold() {
    PooledBlock block = null;
    for (int i = 0; i < FIRST_WAIT + 3; i++) {
      block = take();
      giveBack(block);
    }
    assertTrue(isMarkedAtHome(block));
    return block;
  }

  private static boolean isMarkedAtHome(PooledBlock block) {
    long stamp = block.stamp();
    return Block.isHome(stamp) && Block.isMarked(stamp);
  }

  private List<PooledBlock> takeSlots(int count) {
    List<PooledBlock> taken = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      taken.add(take());
    }
    return taken;
  }

  @Test
  void shouldMarkWhatItsThreadTakesAndClosesAgainAndAgain() {
    PooledBlock block = hold();
    assertFalse(block.claim(), "not without the mark");
    long uses = block.uses();
    assertSame(block, take());
    assertEquals(uses + 1, block.uses());
    assertTrue(Block.isMarked(block.stamp()));
    giveBack(block);
    assertFalse(block.closeRaw(), "once");
  }

  @Test
  void shouldHoldForAllSizesAtOnce() {
    hold();
    PooledBlock other = take(small, 100);
    giveBack(other);
    assertFalse(isMarkedAtHome(other), "it came from behind");
    assertSame(other, take(small, 100));
    giveBack(other);
    assertTrue(isMarkedAtHome(other), "without so many claims of this size");
  }

  @Test
  void shouldSendMarkedSlotsToTheStackWhenTheSlabIsExhausted() {
    PooledBlock first = hold();
    List<PooledBlock> out = takeSlots(SLOTS + 1);
    assertTrue(out.contains(first));
    assertEquals(2, small.slabs());
    assertTrue(Block.isMarked(first.stamp()), "it is of the slab that no longer serves");
    giveBack(first);
    assertFalse(Block.isHome(first.stamp()), "it is on the stack");
    out.remove(first);
    out.forEach(SlotFixture::giveBack);
    assertTrue(small.retire(), "all are home");
    small.reopen();
  }

  @Test
  void shouldGoOnHoldingWhenAnotherSlabServes() throws Exception {
    hold();
    List<PooledBlock> out = takeSlots(SLOTS + 1);
    PooledBlock last = out.get(SLOTS);
    giveBack(last);
    assertSame(last, take());
    giveBack(last);
    assertTrue(isMarkedAtHome(last), "at once");
    out.subList(0, SLOTS).forEach(SlotFixture::giveBack);
  }

  @Test
  void shouldBeTakenByAnotherThreadBeforeThatMakesASlab() throws Exception {
    PooledBlock marked = hold();
    List<PooledBlock> out = takeSlots(SLOTS);
    assertTrue(out.remove(marked));
    giveBack(marked);
    assertTrue(isMarkedAtHome(marked));
    elsewhere(
        () -> {
          // It has a slab of its own, then takes what the other stripe has.
          List<PooledBlock> own = takeSlots(SLOTS);
          assertEquals(2, grown.get());
          assertSame(marked, take());
          assertEquals(2, grown.get());
          giveBack(marked);
          own.forEach(SlotFixture::giveBack);
        });
    assertFalse(isMarkedAtHome(marked));
    out.forEach(SlotFixture::giveBack);
  }

  @Test
  void shouldHoldAgainAfterMoreClaimsWhenItWasRevokedSoon() throws Exception {
    PooledBlock marked = hold();
    elsewhere(() -> assertTrue(small.trim() > 0));
    assertEquals(0, small.slabs());
    for (int i = 0; i < 4 * FIRST_WAIT; i++) {
      marked = take();
      giveBack(marked);
    }
    assertFalse(isMarkedAtHome(marked));
    for (int i = 0; i < 4; i++) {
      marked = take();
      giveBack(marked);
    }
    assertTrue(isMarkedAtHome(marked));
  }

  @Test
  void shouldTakeTheMarkOffAllThatServesItWhenItIsRevoked() throws Exception {
    PooledBlock large = hold();
    PooledBlock tiny = take(small, 100);
    giveBack(tiny);
    giveBack(take(small, 100));
    assertTrue(isMarkedAtHome(tiny));
    elsewhere(
        () -> {
          assertTrue(large.claimFromAny());
          large.giveUp();
        });
    assertFalse(isMarkedAtHome(tiny), "or its own thread could not have it either");
    assertSame(tiny, take(small, 100));
    giveBack(tiny);
  }

  @Test
  void shouldBeTrimmedAndRetiredWhenSlotsAreMarkedHereOrElsewhere() throws Exception {
    hold();
    assertTrue(small.trim() > 0);
    assertEquals(0, small.slabs());
    PooledBlock again = hold();
    elsewhere(
        () -> {
          assertTrue(small.retire());
          small.reopen();
        });
    assertFalse(isMarkedAtHome(again));
    assertNotNull(take(), "it goes on");
    assertFalse(small.retire(), "one is out");
    assertEquals(1, small.slabs());
  }

  @Test
  void shouldNotBeTakenFromASlabThatIsGone() throws Exception {
    PooledBlock gone = hold();
    elsewhere(() -> assertTrue(small.trim() > 0));
    PooledBlock next = take();
    assertNotSame(gone, next);
    giveBack(next);
  }

  @Test
  void shouldLoseTheMarkWhenAnotherThreadCloses() throws Exception {
    PooledBlock block = hold();
    assertSame(block, take());
    assertTrue(Block.isMarked(block.stamp()));
    elsewhere(() -> giveBack(block));
    assertTrue(block.isAtHome());
    assertFalse(isMarkedAtHome(block));
    assertSame(block, take());
    giveBack(block);
  }

  @Test
  void shouldServeObserversWhenSlotsAreMarked() {
    PooledBlock marked = hold();
    small.observe(true);
    PooledBlock block = small.takeServed(BYTES, 64);
    assertSame(marked, block);
    block.openRaw(BYTES, 0);
    giveBack(block);
    small.observe(false);
    assertSame(marked, take());
    giveBack(marked);
  }

  @Test
  void shouldNotHoldAStripeByTakingFromItsSlab() throws Exception {
    List<PooledBlock> out = takeSlots(SLOTS);
    PooledBlock last = out.remove(7);
    giveBack(last);
    elsewhere(
        () -> {
          // Its own slab is exhausted, so it takes the other stripe's last slot again and again.
          List<PooledBlock> own = takeSlots(SLOTS);
          for (int i = 0; i < 2 * FIRST_WAIT; i++) {
            assertSame(last, take());
            giveBack(last);
            assertFalse(isMarkedAtHome(last), "or another thread would claim it, too");
          }
          own.forEach(SlotFixture::giveBack);
        });
    assertEquals(2, small.slabs());
    out.forEach(SlotFixture::giveBack);
  }

  /**
   * Two threads of each stripe and others that trim: holds come and go while slabs do. No slot has
   * two users, and in the end all are home.
   */
  @Test
  void shouldLoseNothingAndOverlapNothingWhenHoldsAndSlabsComeAndGo() throws Exception {
    AtomicBoolean overlap = new AtomicBoolean();
    SplittableRandom seeds = new SplittableRandom(3);
    int threads = 2 * stripes.count() + 1;
    SplittableRandom[] randoms = new SplittableRandom[threads];
    for (int i = 0; i < threads; i++) {
      randoms[i] = seeds.split();
    }
    Threads.run(
        threads,
        thread -> {
          SplittableRandom random = randoms[thread];
          Deque<PooledBlock> own = new ArrayDeque<>();
          for (int i = 0; i < 5000; i++) {
            if (thread == 0 && i % 20 == 0) {
              small.trim();
            }
            // Mostly pairs, now and then more than a slab has.
            int most = i % 1000 < 900 ? 2 : 2 * SLOTS;
            if (own.size() < most && (own.isEmpty() || random.nextBoolean())) {
              PooledBlock block = take();
              mark(block, thread);
              own.push(block);
            } else {
              overlap.compareAndSet(false, !isMarkedBy(own.peek(), thread));
              giveBack(own.pop());
            }
          }
          own.forEach(SlotFixture::giveBack);
        });
    assertFalse(overlap.get(), "two users of one slot");
    PoolCounts counts = new PoolCounts();
    small.addTo(counts);
    assertEquals(0, counts.liveBlocks);
    assertTrue(small.retire(), "every slot is home");
    small.reopen();
  }

  private static void mark(PooledBlock block, int thread) {
    block.region().buffer().putLong(block.offset(), thread * 1_000_003L + block.uses());
  }

  private static boolean isMarkedBy(PooledBlock block, int thread) {
    long written = block.region().buffer().getLong(block.offset());
    return written == thread * 1_000_003L + block.uses();
  }
}
