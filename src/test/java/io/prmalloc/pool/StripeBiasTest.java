package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Allocation;
import io.prmalloc.Block;
import io.prmalloc.os.ProcessBarrier;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who holds a stripe, what that means for its blocks, and what others can do about it. */
class StripeBiasTest {

  private static final int STRIPES = 16;
  private static final int FIRST_WAIT = 64;
  private static final int LATE_ROUNDS = 400_000;
  private static final int LATE_WRITES = 30;
  private static final int LONGEST_PAUSE = 100;
  private static final int FAR_BYTES = 64 << 20;

  private final Stripes stripes = new Stripes(STRIPES);
  private final Buffer buffer = Buffers.buffer(0, 3);
  private final ReadyChunks ready = Buffers.ready(STRIPES, buffer);
  private final PooledBlock block = buffer.blocks().get(0);

  @BeforeEach
  void needBarrier() {
    assumeTrue(ProcessBarrier.isSupported(), "this platform has no process-wide barrier");
  }

  private Allocation pair() {
    Allocation handle = ready.take(Buffers.bytesOf(0)).open(1);
    handle.close();
    return handle;
  }

  private void pairs(int count) {
    for (int i = 0; i < count; i++) {
      pair();
    }
  }

  private boolean isMarked() {
    return Block.isMarked(block.stamp());
  }

  /** Claims the block, on a thread of another stripe. */
  private boolean claimElsewhere() throws Exception {
    return Buffers.onAnotherStripe(stripes, block::claimFromAny);
  }

  @Test
  void shouldMarkWhatAThreadClosesWhenItHasClaimedForAWhile() {
    pairs(FIRST_WAIT);
    assertFalse(isMarked());
    pairs(2);
    assertTrue(isMarked());
    assertFalse(block.claim(), "not without the mark");
    assertSame(block, ready.take(Buffers.bytesOf(0)));
    assertTrue(block.uses() >= FIRST_WAIT, "and its uses are counted as ever");
  }

  @Test
  void shouldBeginTheUseAtOnceWhenTheBlockIsMarked() {
    ready.takeHold();
    pair();
    long uses = block.uses();
    PooledBlock found = ready.find(Buffers.bytesOf(0));
    assertSame(block, found);
    assertTrue(isMarked() && block.isAtHome(), "found is not claimed");
    long stamp = ready.front(Buffers.bytesOf(0)).open(found, 7);
    assertEquals(block.stamp(), stamp);
    assertTrue(Block.isOut(stamp) && isMarked());
    assertEquals(7, block.sizeBytes());
    assertEquals(uses + 1, block.uses());
    Allocation handle = block.handle(7);
    assertEquals(7, handle.byteBuffer().remaining());
    handle.close();
    assertTrue(block.isAtHome() && isMarked());
    assertThrows(IllegalStateException.class, handle::close);
    assertEquals(0, ready.front(Buffers.bytesOf(0)).open(null, 7), "nothing found, nothing opened");
  }

  @Test
  void shouldNotBeginAUseWhenAnotherThreadHasTheBlock() throws Exception {
    ready.takeHold();
    pair();
    PooledBlock found = ready.find(Buffers.bytesOf(0));
    assertTrue(claimElsewhere());
    long stamp = block.stamp();
    assertEquals(0, ready.front(Buffers.bytesOf(0)).open(found, 7));
    assertEquals(stamp, block.stamp());
    assertEquals(1, block.sizeBytes(), "of the use before");
  }

  @Test
  void shouldBeginAUseLikeTheLastWithoutLookingAtWhatIsReady() {
    ready.takeHold();
    pair();
    assertTrue(block.isHeldByCaller());
    long uses = block.uses();
    assertEquals(0, block.reopen(7), "of other bytes");
    assertTrue(isHomeAndMarked(block));
    long stamp = block.reopen(1);
    assertEquals(block.stamp(), stamp);
    assertEquals(uses + 1, block.uses());
    assertEquals(0, block.reopen(1), "it is out");
    assertSame(block, ready.find(Buffers.bytesOf(0)), "it is still noted");
    block.handle(1).close();
    assertSame(block, ready.find(Buffers.bytesOf(0)), "noted again");
  }

  @Test
  void shouldForgetWhatIsNotedAndOut() {
    ready.takeHold();
    pair();
    long stamp = block.reopen(1);
    block.forgetIfOut();
    assertNotSame(block, ready.find(Buffers.bytesOf(0)));
    assertEquals(stamp, block.stamp());
    block.handle(1).close();
    block.forgetIfOut();
    assertSame(block, ready.find(Buffers.bytesOf(0)), "it is home");
  }

  @Test
  void shouldNotChangeWhatAnotherStripeHasNoted() throws Exception {
    ready.takeHold();
    pair();
    long stamp = block.reopen(1);
    Buffers.onAnotherStripe(stripes, Executors.callable(block::forgetIfOut));
    assertSame(block, ready.find(Buffers.bytesOf(0)), "still noted");
    assertEquals(stamp, block.stamp());
  }

  @Test
  void shouldNotBeginAUseLikeTheLastWhenTheHoldWasRevoked() throws Exception {
    ready.takeHold();
    pair();
    assertTrue(claimElsewhere());
    long claimed = block.stamp();
    assertEquals(0, block.reopen(1));
    assertEquals(claimed, block.stamp());
    block.giveUp();
    long home = block.stamp();
    assertEquals(0, block.reopen(1), "it has no mark any more");
    assertEquals(home, block.stamp());
    assertFalse(Buffers.onAnotherStripe(stripes, () -> block.reopen(1) != 0), "nor for others");
  }

  @Test
  void shouldBeginTheUseByACompareAndSetWhenTheHoldWasRevoked() throws Exception {
    ready.takeHold();
    pair();
    PooledBlock found = ready.find(Buffers.bytesOf(0));
    assertTrue(claimElsewhere());
    block.giveUp();
    long stamp = ready.front(Buffers.bytesOf(0)).open(found, 7);
    assertTrue(Block.isOut(stamp));
    assertEquals(stamp, block.stamp());
  }

  @Test
  void shouldTakeTheMarkOffWhenAnotherThreadCloses() throws Exception {
    ready.takeHold();
    pair();
    Allocation handle = ready.take(Buffers.bytesOf(0)).open(1);
    assertTrue(isMarked());
    Buffers.onAnotherStripe(
        stripes,
        () -> {
          handle.close();
          return true;
        });
    assertTrue(block.isAtHome());
    assertFalse(isMarked());
  }

  @Test
  void shouldRefuseASecondCloseWhenTheBlockIsMarked() {
    ready.takeHold();
    Allocation handle = pair();
    assertTrue(isMarked());
    String message = assertThrows(IllegalStateException.class, handle::close).getMessage();
    assertEquals("allocation of 1 bytes was closed before", message);
    assertTrue(block.isAtHome());
  }

  @Test
  void shouldGiveAMarkedBlockToAnotherThreadWhenThatWantsIt() throws Exception {
    ready.takeHold();
    Allocation first = ready.take(Buffers.bytesOf(0)).open(1);
    Allocation second = ready.take(Buffers.bytesOf(0)).open(1);
    second.close();
    first.close();
    assertTrue(claimElsewhere());
    assertFalse(buffer.blocks().stream().anyMatch(StripeBiasTest::isHomeAndMarked));
    assertNull(ready.take(Buffers.bytesOf(0)), "it is out, and that took a look");
    assertSame(buffer.blocks().get(1), ready.take(Buffers.bytesOf(0)), "the other can be had");
  }

  private static boolean isHomeAndMarked(PooledBlock block) {
    long stamp = block.stamp();
    return Block.isHome(stamp) && Block.isMarked(stamp);
  }

  @Test
  void shouldBeHeldAgainAfterMoreClaimsWhenItWasRevokedSoon() throws Exception {
    ready.takeHold();
    pair();
    assertTrue(claimElsewhere());
    block.giveUp();
    block.claimFromAny();
    block.open(1).close();
    pairs(4 * FIRST_WAIT - 1);
    assertFalse(isMarked());
    pairs(3);
    assertTrue(isMarked());
  }

  @Test
  void shouldBeClaimedWhenItsThreadHasEnded() throws Exception {
    Thread holder =
        new Thread(
            () -> {
              ready.takeFromAny(0, 3).open(1).close();
              ready.takeHold();
              pair();
              pair();
            });
    holder.start();
    holder.join();
    assertTrue(isMarked());
    assertTrue(block.claimFromAny());
  }

  @Test
  void shouldRetireWhenBlocksAreMarkedHereAndElsewhere() throws Exception {
    ready.takeHold();
    pair();
    assertTrue(isMarked());
    assertTrue(Buffers.onAnotherStripe(stripes, buffer::retire));
    assertNull(ready.take(Buffers.bytesOf(0)));
    buffer.reopen();
    ready.takeHold();
    assertEquals(3, buffer.freeBlocks());
    assertTrue(buffer.retire());
  }

  @Test
  void shouldStayTheHoldersWhenItAsksTheBlockItself() {
    ready.takeHold();
    pair();
    assertTrue(block.claimFromAny());
    block.open(1).close();
    assertTrue(isMarked());
  }

  @Test
  void shouldNotBeHeldWhenTheThreadIsVirtual() throws Exception {
    ExecutorService virtual = Threads.virtual();
    FutureTask<Boolean> task =
        new FutureTask<>(
            () -> {
              Allocation first = ready.takeFromAny(0, 3).open(1);
              first.close();
              ready.takeHold();
              pairs(3 * FIRST_WAIT);
              return isMarked();
            });
    virtual.execute(task);
    assertFalse(task.get());
  }

  @Test
  void shouldKeepTheHoldWhenTheHolderIsInTheMiddleOfAClaim() throws Exception {
    StripeHold[] told = new StripeHold[1];
    StripeBias bias = Buffers.bias((hold, stripe) -> told[stripe] = hold);
    bias.tell();
    assertSame(bias.holdOf(0), told[0], "the first one, too");
    bias.takeOrEndHold(0, 0);
    StripeHold hold = bias.holdOf(0);
    assertTrue(hold.isSomebodys());
    assertSame(hold, told[0]);
    assertTrue(hold.begin());
    assertFalse(onAnotherThread(() -> bias.revoke(0)), "it waits, and gives up");
    assertSame(hold, bias.holdOf(0));
    assertSame(hold, told[0]);
    hold.end();
    assertTrue(hold.begin(), "as if nothing had been");
    hold.end();
    assertTrue(onAnotherThread(() -> bias.revoke(0)));
    assertFalse(bias.holdOf(0).isSomebodys());
    assertSame(bias.holdOf(0), told[0]);
    assertFalse(hold.begin());
    hold.end();
  }

  @Test
  void shouldRevokeWhenTheHolderEndedInTheMiddleOfAClaim() throws Exception {
    StripeBias bias = Buffers.bias((hold, stripe) -> {});
    assertTrue(
        onAnotherThread(
            () -> {
              bias.takeOrEndHold(0, 0);
              return bias.holdOf(0).begin();
            }));
    assertTrue(bias.holdOf(0).isSomebodys());
    assertTrue(bias.revoke(0));
  }

  @Test
  void shouldEndTheHoldsOfThreadsThatEndedOnly() throws Exception {
    StripeBias bias = Buffers.bias((hold, stripe) -> {});
    bias.takeOrEndHold(0, 0);
    StripeHold mine = bias.holdOf(0);
    bias.endHoldsOfEnded();
    assertSame(mine, bias.holdOf(0));
    assertTrue(bias.revoke(0));
    assertTrue(
        onAnotherThread(
            () -> {
              bias.takeOrEndHold(0, 0);
              return bias.holdOf(0).isMine();
            }));
    assertTrue(bias.holdOf(0).isSomebodys());
    bias.endHoldsOfEnded();
    assertFalse(bias.holdOf(0).isSomebodys());
  }

  @Test
  void shouldBeAsBeforeWhenARevocationFails() {
    AtomicBoolean fails = new AtomicBoolean(true);
    StripeBias bias =
        new StripeBias(
            new Stripes(1),
            true,
            new StripeBias.Owner() {
              @Override
              public void heldBy(StripeHold hold, int stripe) {}

              @Override
              public void forEachBlock(int stripe, Consumer<PooledBlock> action) {
                if (fails.getAndSet(false)) {
                  throw new OutOfMemoryError("for a test");
                }
              }
            });
    bias.takeOrEndHold(0, 0);
    assertThrows(OutOfMemoryError.class, () -> bias.revoke(0));
    assertFalse(bias.holdOf(0).isSomebodys());
    assertTrue(bias.revoke(0), "it is not stuck");
  }

  private static boolean onAnotherThread(Callable<Boolean> work) throws Exception {
    FutureTask<Boolean> task = new FutureTask<>(work);
    Thread thread = new Thread(task);
    thread.start();
    thread.join();
    return task.get();
  }

  /**
   * The holder's writes are late, for those before them go to memory that is in no cache: without
   * the barrier, whoever revokes would not see that the holder is about to claim.
   */
  @Test
  void shouldHaveOneUserWhenTheHoldersWritesAreLate() throws Exception {
    ByteBuffer far = ByteBuffer.allocateDirect(FAR_BYTES);
    Buffer single = Buffers.buffer(0, 1);
    ReadyChunks where = Buffers.ready(STRIPES, single);
    PooledBlock contended = single.blocks().get(0);
    AtomicBoolean failed = new AtomicBoolean();
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger revoked = new AtomicInteger();
    Thread other =
        new Thread(
            () -> {
              SplittableRandom pause = new SplittableRandom(2);
              while (!over.get()) {
                for (int spins = pause.nextInt(LONGEST_PAUSE); spins > 0; spins--) {
                  Thread.onSpinWait();
                }
                if (contended.claimFromAny()) {
                  contended.open(1);
                  revoked.incrementAndGet();
                  failed.compareAndSet(false, !contended.closeRaw());
                }
              }
            });
    other.start();
    SplittableRandom random = new SplittableRandom(1);
    int held = 0;
    for (int i = 0; i < LATE_ROUNDS && !failed.get(); i++) {
      where.takeHold();
      where.put(contended);
      for (int write = 0; write < LATE_WRITES; write++) {
        far.putInt(random.nextInt(FAR_BYTES >> 6) << 6, i);
      }
      PooledBlock taken = takeAndOpen(where, i % 3, contended);
      if (taken != null) {
        held++;
        failed.compareAndSet(false, !taken.closeRaw());
      }
    }
    over.set(true);
    other.join();
    assertFalse(failed.get(), "two users of one block");
    assertTrue(revoked.get() > 0 && held > 0, "both had it now and then");
  }

  /**
   * As an address is made (way 0); as a handle, which begins the use where it claims the block (1),
   * first of all of the block that the thread had last (2).
   *
   * @param last may be null
   */
  private static PooledBlock takeAndOpen(ReadyChunks ready, int way, PooledBlock last) {
    if (way == 2 && last != null && last.isHeldByCaller() && last.reopen(1) != 0) {
      return last;
    }
    boolean handle = way > 0;
    long bytes = Buffers.bytesOf(0);
    PooledBlock block = handle ? ready.find(bytes) : ready.take(bytes);
    if (!handle && block != null) {
      block.open(1);
    }
    return !handle || ready.front(bytes).open(block, 1) != 0 ? block : null;
  }

  /** Each block has a counter of who has it, which must never be 2. */
  @Test
  void shouldHaveOneUserWhenHoldersAndOthersWantTheSameBlocks() throws Exception {
    AtomicInteger[] users = {new AtomicInteger(), new AtomicInteger(), new AtomicInteger()};
    AtomicBoolean failed = new AtomicBoolean();
    Runnable work =
        () -> {
          PooledBlock last = null;
          for (int i = 0; i < 300_000 && !failed.get(); i++) {
            if (i % 50 == 0) {
              ready.takeHold();
            }
            PooledBlock taken = takeAndOpen(ready, i % 3, last);
            if (taken == null) {
              taken = ready.takeFromAny(0, 3);
              if (taken != null) {
                taken.open(1);
              }
            }
            if (taken != null) {
              AtomicInteger user = users[taken.number()];
              failed.compareAndSet(false, user.incrementAndGet() != 1);
              user.decrementAndGet();
              failed.compareAndSet(false, !taken.closeRaw());
            }
            last = taken;
          }
        };
    Thread[] threads = new Thread[4];
    for (int i = 0; i < threads.length; i++) {
      threads[i] = new Thread(work);
      threads[i].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertFalse(failed.get(), "two users of one block");
    assertEquals(3, Buffers.drain(ready, buffer), "and none is lost");
  }
}
