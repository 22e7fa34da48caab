package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Block;
import io.prmalloc.os.ProcessBarrier;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a thread does whose stripe is held by another one, which may never come back. */
class ForeignHoldTest {

  private static final int FIRST_WAIT = 64;

  /** So many claims of others are bearable. */
  private static final int OTHERS_WAIT = 1024;

  private final Stripes stripes = new Stripes(16);
  private final int stripe = stripes.current();
  private final Buffer buffer = Buffers.buffer(0, 3);
  private final ReadyChunks ready = Buffers.ready(stripes.count(), buffer);

  @BeforeEach
  void needBarrier() {
    assumeTrue(ProcessBarrier.isSupported(), "this platform has no process-wide barrier");
  }

  /** Starts a thread of the caller's stripe that holds it and waits. */
  private Thread holdUntil(CountDownLatch end) throws InterruptedException {
    while (true) {
      CountDownLatch decided = new CountDownLatch(1);
      Thread thread = new Thread(() -> holdIfOnStripe(decided, end));
      // Its number decides its stripe.
      boolean isIt = (thread.getId() & (stripes.count() - 1)) == stripe;
      thread.start();
      decided.await();
      if (isIt) {
        return thread;
      }
      thread.join();
    }
  }

  private void holdIfOnStripe(CountDownLatch decided, CountDownLatch end) {
    try {
      if (stripes.current() == stripe) {
        ready.takeHold();
        decided.countDown();
        end.await();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      decided.countDown();
    }
  }

  /** Takes and closes so often; whether the block has a mark then. */
  private boolean isMarkedAfter(int pairs) {
    PooledBlock block = null;
    for (int i = 0; i < pairs; i++) {
      block = ready.take(Buffers.bytesOf(0));
      assertSame(buffer.blocks().get(0), block);
      block.open(1).close();
    }
    return Block.isMarked(block.stamp());
  }

  @Test
  void shouldGiveNoMarkWhenAnotherThreadHoldsTheStripe() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Thread holder = holdUntil(end);
    PooledBlock taken = ready.take(Buffers.bytesOf(0));
    assertFalse(Block.isMarked(taken.stamp()));
    taken.open(1).close();
    assertFalse(isMarkedAfter(OTHERS_WAIT - 1), "that is not often");
    end.countDown();
    holder.join();
  }

  @Test
  void shouldTakeTheStripeOverWhenItsHolderIsIdle() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Thread holder = holdUntil(end);
    takeOver();
    end.countDown();
    holder.join();
  }

  @Test
  void shouldTakeTheStripeOverWhenItsHolderHasEnded() throws Exception {
    CountDownLatch end = new CountDownLatch(0);
    holdUntil(end).join();
    takeOver();
  }

  private void takeOver() {
    assertFalse(isMarkedAfter(OTHERS_WAIT));
    // The claim that revokes, as many as it takes after a hold that did not last, and two to mark.
    assertTrue(isMarkedAfter(1 + 4 * FIRST_WAIT + 3));
  }
}
