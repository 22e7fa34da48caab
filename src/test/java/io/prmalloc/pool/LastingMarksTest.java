package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Allocation;
import io.prmalloc.Block;
import io.prmalloc.os.ProcessBarrier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a producer marks for good, and how others get it all the same. */
class LastingMarksTest {

  private static final int STRIPES = 16;
  private static final int BLOCKS = 150;
  private static final long LONG_NANOS = 100_000_000;

  private final Stripes stripes = new Stripes(STRIPES);
  private final Buffer buffer = Buffers.buffer(0, BLOCKS);
  private final ReadyChunks ready = Buffers.ready(STRIPES, buffer);
  private final List<ExecutorService> workers = new ArrayList<>();
  private final Set<Integer> taken = new HashSet<>(Set.of(stripes.current()));

  /** A thread whose stripe is nobody else's. */
  private final class Worker {
    private final ExecutorService thread = nextThread();

    private ExecutorService nextThread() {
      while (true) {
        ExecutorService next = Executors.newSingleThreadExecutor();
        workers.add(next);
        if (taken.add(on(next, stripes::current))) {
          return next;
        }
      }
    }

    <T> T get(Callable<T> work) {
      return on(thread, work);
    }

    void closeAll(List<Allocation> handles) {
      on(thread, Executors.callable(() -> handles.forEach(Allocation::close)));
    }

    private <T> T on(ExecutorService executor, Callable<T> work) {
      try {
        return executor.submit(work).get();
      } catch (Exception e) {
        throw new AssertionError("on a thread: " + e, e);
      }
    }
  }

  @BeforeEach
  void needBarrier() {
    assumeTrue(ProcessBarrier.isSupported(), "this platform has no process-wide barrier");
  }

  @AfterEach
  void stopWorkers() {
    workers.forEach(ExecutorService::shutdownNow);
  }

  /** As many as there are, up to a number; as the pool looks for them before it asks all blocks. */
  private List<Allocation> take(int most) {
    List<Allocation> handles = new ArrayList<>();
    for (PooledBlock block = next(); block != null; block = handles.size() < most ? next() : null) {
      handles.add(block.open(1));
    }
    return handles;
  }

  /** All there are, with those that were noted and not to be had. */
  private List<Allocation> takeAll() {
    List<Allocation> handles = new ArrayList<>();
    for (PooledBlock block = claim(); block != null; block = claim()) {
      handles.add(block.open(1));
    }
    return handles;
  }

  private PooledBlock claim() {
    return Buffers.claim(ready, buffer);
  }

  private PooledBlock next() {
    PooledBlock block = ready.take(Buffers.bytesOf(0));
    block = block != null ? block : ready.takeFurther(Buffers.bytesOf(0));
    return block != null ? block : ready.takeFromAny(buffer.firstNumber(), buffer.count());
  }

  private long marked() {
    return buffer.blocks().stream().filter(b -> isHomeAndMarked(b.stamp())).count();
  }

  private static boolean isHomeAndMarked(long stamp) {
    return Block.isHome(stamp) && Block.isMarked(stamp);
  }

  /** Hands all blocks to a thread that closes them, again and again. */
  private void handOver(Worker consumer, int times) {
    for (int i = 0; i < times; i++) {
      List<Allocation> handles = take(BLOCKS);
      assertEquals(BLOCKS, handles.size());
      consumer.closeAll(handles);
    }
  }

  @Test
  void shouldComeHomeWithItsMarkWhenAThreadClosesThatClaimsNothing() {
    Worker consumer = new Worker();
    ready.takeHold();
    handOver(consumer, 1);
    assertEquals(0, marked(), "as from anybody who may want them");
    handOver(consumer, 2);
    List<Allocation> handles = take(BLOCKS);
    consumer.closeAll(handles);
    assertEquals(BLOCKS, marked());
    assertThrows(IllegalStateException.class, handles.get(7)::close);
    assertEquals(BLOCKS, marked(), "as before");
    buffer.blocks().forEach(block -> assertEquals(4, block.uses()));
    assertTrue(ready.front(Buffers.bytesOf(0)).isHeldByCaller());
    assertEquals(BLOCKS, take(BLOCKS).size(), "and nobody else need be asked");
    assertTrue(ready.front(Buffers.bytesOf(0)).isHeldByCaller());
  }

  @Test
  void shouldLoseItsMarkWhenTheThreadThatClosesClaimsSome() {
    Worker consumer = new Worker();
    ready.takeHold();
    for (int i = 0; i < 10; i++) {
      handOver(consumer, 1);
      assertEquals(0, marked(), "round " + i);
      assertTrue(
          consumer.get(
              () -> {
                PooledBlock block = ready.take(Buffers.bytesOf(0));
                block.open(1).close();
                return block != null;
              }));
    }
  }

  @Test
  void shouldBeHadByTheConsumerWhenItWantsSome() {
    Worker consumer = new Worker();
    ready.takeHold();
    handOver(consumer, 4);
    assertEquals(BLOCKS, marked());
    List<Allocation> theirs = consumer.get(this::takeAll);
    assertEquals(BLOCKS, theirs.size());
    assertFalse(ready.front(Buffers.bytesOf(0)).isHeldByCaller(), "the hold had to end");
    theirs.forEach(Allocation::close);
    assertEquals(BLOCKS, take(BLOCKS).size());
  }

  @Test
  void shouldBeHadByAnybodyWhenTheProducerHasEnded() throws Exception {
    Worker consumer = new Worker();
    Worker other = new Worker();
    Thread producer =
        new Thread(
            () -> {
              PooledBlock first = next();
              assertNotNull(first, "and with it all that this test's thread had");
              first.open(1).close();
              ready.takeHold();
              handOver(consumer, 4);
            });
    producer.start();
    producer.join();
    assertEquals(BLOCKS, marked());
    assertEquals(BLOCKS, other.<List<Allocation>>get(() -> take(BLOCKS)).size());
  }

  @Test
  void shouldLeaveEachProducerItsOwnWhenTwoHaveOneConsumer() {
    Worker consumer = new Worker();
    Worker second = new Worker();
    ready.takeHold();
    List<Allocation> mine = take(BLOCKS / 2);
    mine.forEach(Allocation::close);
    List<Allocation> theirs = second.get(this::beginAsSecond);
    mine = take(BLOCKS / 2);
    for (int i = 0; i < 8; i++) {
      consumer.closeAll(mine);
      if (i < 4) {
        mine = take(BLOCKS / 2);
        consumer.closeAll(theirs);
      } else {
        consumer.closeAll(theirs);
        assertEquals(BLOCKS, marked());
        mine = take(BLOCKS / 2);
      }
      theirs = second.get(() -> take(BLOCKS / 2));
      assertEquals(List.of(BLOCKS / 2, BLOCKS / 2), List.of(mine.size(), theirs.size()));
    }
    consumer.closeAll(mine);
    assertTrue(ready.front(Buffers.bytesOf(0)).isHeldByCaller(), "nobody took it for a block");
    assertTrue(second.get(() -> ready.front(Buffers.bytesOf(0)).isHeldByCaller()));
    List<Allocation> all = take(BLOCKS);
    assertEquals(BLOCKS / 2, all.size(), "the others are out");
    consumer.closeAll(theirs);
    all.addAll(take(BLOCKS));
    assertEquals(BLOCKS, all.size(), "what nobody uses is anybody's");
  }

  private List<Allocation> beginAsSecond() {
    List<Allocation> handles = new ArrayList<>();
    for (PooledBlock block : buffer.blocks()) {
      if (handles.size() < BLOCKS / 2 && block.claim()) {
        handles.add(block.open(1));
      }
    }
    ready.takeHold();
    return handles;
  }

  @Test
  void shouldLastAgainOnlyLaterWhenAHoldWasShort() {
    Worker consumer = new Worker();
    Worker other = new Worker();
    for (boolean quick = false; !quick; ) {
      long start = System.nanoTime();
      ready.takeHold();
      handOver(consumer, 4);
      PooledBlock block = buffer.blocks().get(0);
      assertTrue(other.get(block::claimFromAny));
      block.giveUp();
      ready.takeHold();
      handOver(consumer, 4);
      assertEquals(BLOCKS, buffer.freeBlocks());
      quick = System.nanoTime() - start < LONG_NANOS;
      assertTrue(!quick || marked() == 0, "of the second hold");
    }
    while (marked() == 0) {
      handOver(consumer, 1); // until the hold is old
    }
    assertEquals(BLOCKS, take(BLOCKS).size());
  }

  @Test
  void shouldKeepItsHoldWhenItAsksForItsOwnBlock() {
    Worker consumer = new Worker();
    ready.takeHold();
    handOver(consumer, 4);
    PooledBlock block = buffer.blocks().get(0);
    assertTrue(block.claimFromAny());
    block.open(1).close();
    assertTrue(ready.front(Buffers.bytesOf(0)).isHeldByCaller());
    assertSame(block, ready.take(Buffers.bytesOf(0)));
    assertNull(ready.take(Buffers.bytesOf(0)), "the rest is still where it was closed");
    assertEquals(BLOCKS - 1, take(BLOCKS).size());
  }
}
