package io.prmalloc.internal.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.internal.os.AgronaAccess;
import io.prmalloc.internal.os.ChildJvm;
import io.prmalloc.pool.Threads;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StripesTest {

  private static final int THREADS = 2000;
  private static final int ROUNDS = 20;
  private static final int SPINS = 200;

  /** The JDK makes no more carriers unless it is told to. */
  private static final int MOST_CARRIERS = 256;

  @TempDir private Path directory;

  @Test
  void shouldTakeThePowerOfTwoThatIsNotMoreWhenMade() {
    assertEquals(1, new Stripes(0).count());
    assertEquals(1, new Stripes(1).count());
    assertEquals(4, new Stripes(7).count());
    assertEquals(64, new Stripes(64).count());
  }

  @Test
  void shouldGoInACircleWhenStripesFollow() {
    Stripes stripes = new Stripes(4);
    assertEquals(3, stripes.after(1, 2));
    assertEquals(0, stripes.after(3, 1));
  }

  @Test
  void shouldGoByTheThreadsNumberWhenItIsNotVirtual() throws Exception {
    Stripes stripes = new Stripes(8);
    int[] stripe = new int[1];
    Thread thread = new Thread(() -> stripe[0] = stripes.current());
    thread.start();
    thread.join();
    assertEquals(thread.getId() & 7, stripe[0]);
  }

  @Test
  void shouldGoByTheCarrierWhenThreadsAreVirtual() throws Exception {
    assumeTrue(AgronaAccess.isAvailable(), "our flag shows who carries a thread");
    AtomicIntegerArray running = new AtomicIntegerArray(MOST_CARRIERS);
    Set<Integer> numbers = ConcurrentHashMap.newKeySet();
    int met = 0;
    for (int each : onVirtualThreads(() -> meetings(running, numbers))) {
      met += each;
    }
    assertEquals(0, met, "two that ran at a time had one number");
    assertTrue(numbers.size() <= MOST_CARRIERS, () -> numbers.size() + " numbers");
  }

  /** How often another thread with the same number was running. */
  @SuppressWarnings("ThreadPriorityCheck") // so that another carrier goes on with it
  private static int meetings(AtomicIntegerArray running, Set<Integer> numbers) {
    int met = 0;
    for (int round = 0; round < ROUNDS; round++) {
      // Nothing from here to the end of its run lets go of the carrier.
      int number = Stripes.callerNumber();
      int place = number & (MOST_CARRIERS - 1);
      boolean alone = running.compareAndSet(place, 0, 1);
      for (int spin = 0; spin < SPINS; spin++) {
        Thread.onSpinWait();
      }
      if (alone) {
        running.set(place, 0);
      } else {
        met++;
      }
      numbers.add(number);
      Thread.yield();
    }
    return met;
  }

  @Test
  void shouldGoByTheThreadsNumberWhenNoCarrierIsSeen() throws Exception {
    Threads.virtual().shutdown(); // or there are none here
    ChildJvm.Result result = new ChildJvm(directory).run(WithoutFlag.class);
    assertEquals("done", result.output(), result.errors());
    assertEquals("", result.errors());
  }

  /** In a JVM without the flag. */
  static final class WithoutFlag {
    private WithoutFlag() {}

    public static void main(String[] arguments) throws Exception {
      assertFalse(AgronaAccess.isAvailable());
      for (int difference :
          onVirtualThreads(() -> Stripes.callerNumber() - (int) Thread.currentThread().getId())) {
        assertEquals(0, difference);
      }
      System.out.print("done");
    }
  }

  private static List<Integer> onVirtualThreads(Callable<Integer> task) throws Exception {
    ExecutorService virtual = Threads.virtual();
    List<Future<Integer>> futures = new ArrayList<>();
    for (int thread = 0; thread < THREADS; thread++) {
      futures.add(virtual.submit(task));
    }
    List<Integer> results = new ArrayList<>();
    for (Future<Integer> future : futures) {
      results.add(future.get());
    }
    virtual.shutdown();
    return results;
  }
}
