package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.prmalloc.Allocation;
import io.prmalloc.Isolation;
import io.prmalloc.Isolation.Fill;
import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.HeaderDescriptor;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pool that is closed by force while threads allocate and close handles. */
class CloseForciblyTest {

  private static final int LARGE = 100_000;
  private static final int SMALL = 1000;
  private static final int ROUNDS = 60;

  /** Neither zero nor poison nor a canary. */
  private static final byte MARK = 0x11;

  /** Marks memory that goes back, and keeps it, so that a write to it can be seen. */
  private static final class KeepingSource extends SubAllocatorWrapper {
    private final List<MemoryRegion> kept = new ArrayList<>();

    KeepingSource() {
      super(SubAllocator.direct());
    }

    @Override
    public synchronized void free(MemoryRegion region) {
      ByteBuffer memory = region.buffer().duplicate().clear();
      while (memory.hasRemaining()) {
        memory.put(MARK);
      }
      kept.add(region);
    }

    /** Gives all back, if nothing was written to it since it was marked. */
    synchronized void checkAndFree() {
      for (MemoryRegion region : kept) {
        ByteBuffer memory = region.buffer().duplicate().clear();
        while (memory.hasRemaining()) {
          if (memory.get() != MARK) {
            fail("byte " + (memory.position() - 1) + " was written after it went back");
          }
        }
      }
      kept.forEach(wrapped()::free);
      kept.clear();
    }
  }

  private final KeepingSource source = new KeepingSource();

  @AfterEach
  void nothingIsLeft() {
    source.checkAndFree();
    assertEquals(0, source.bytesReserved());
  }

  private TensorPoolAllocator open() {
    PlannerSettings settings = PlannerSettings.DEFAULTS.withStartStep(0).withMaxSteps(0);
    return TensorPoolAllocator.builder()
        .subAllocator(source)
        .executor(Runnable::run)
        .stepPlanningTime(Duration.ZERO)
        .planner(MemoryPlannerFactory.create(settings, Runnable::run))
        .isolation(Isolation.NONE.withFill(Fill.POISON).withCanaries(true))
        .build();
  }

  private TensorPoolAllocator openWithPlan() {
    TensorPoolAllocator pool = open();
    Pools.learn(pool, LARGE + 16, LARGE + 16);
    assertTrue(pool.isPooling());
    return pool;
  }

  @ParameterizedTest
  @ValueSource(ints = {SMALL, LARGE, 2 * LARGE})
  void shouldRefuseARequestThatHasItsBlockWhenThePoolIsClosed(int bytes) {
    TensorPoolAllocator pool = openWithPlan();
    pool.allocate(bytes).close();
    // As a thread that allocates and does not get on until the pool is closed.
    Block block = pool.take(bytes, 64);
    pool.closeForcibly();
    assertEquals(
        "allocator is closed",
        assertThrows(IllegalStateException.class, () -> block.open(bytes)).getMessage());
    source.checkAndFree();
    assertEquals(0, pool.stats().bytesInUse());
  }

  @Test
  void shouldFreeTheBlockOfARawRequestThatIsRefusedWhenThePoolIsClosed() {
    TensorPoolAllocator pool = open();
    int header = HeaderDescriptor.FULL_BYTES;
    Block block = pool.takeSlowly(LARGE, 64, header, header);
    pool.closeForcibly();
    assertThrows(
        IllegalStateException.class, () -> HeaderDescriptor.openUnpooled(block, LARGE, header));
    assertEquals(0, pool.stats().bytesInUse());
  }

  @ParameterizedTest
  @ValueSource(ints = {SMALL, LARGE, 2 * LARGE})
  void shouldRefuseToCloseAHandleWhenThePoolWasClosed(int bytes) {
    TensorPoolAllocator pool = openWithPlan();
    Allocation handle = pool.allocate(bytes);
    pool.closeForcibly();
    assertThrows(IllegalStateException.class, handle::close);
    assertEquals(0, pool.stats().bytesInUse());
  }

  @Test
  @Timeout(300)
  void shouldWriteToNoMemoryThatWentBackWhenThreadsGoOn() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      TensorPoolAllocator pool = openWithPlan();
      CountDownLatch begun = new CountDownLatch(2);
      Threads.run(
          3,
          thread -> {
            if (thread == 0) {
              begun.await();
              pool.closeForcibly();
            } else {
              allocateUntilClosed(pool, begun);
            }
          });
      source.checkAndFree();
      assertEquals(0, pool.stats().bytesInUse());
    }
  }

  private static void allocateUntilClosed(TensorPoolAllocator pool, CountDownLatch begun) {
    try {
      for (int i = 0; !Thread.currentThread().isInterrupted(); i++) {
        pool.allocate(i % 3 == 0 ? SMALL : LARGE).close();
        begun.countDown();
      }
      fail("interrupted");
    } catch (IllegalStateException closed) {
      begun.countDown();
    }
  }
}
