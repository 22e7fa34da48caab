package io.prmalloc.internal.block;

import io.prmalloc.internal.os.AgronaAccess;
import java.lang.reflect.Field;
import java.util.concurrent.ForkJoinWorkerThread;
import org.agrona.UnsafeApi;

/**
 * Divides threads into a few groups by their number, so that threads of different groups write to
 * different memory.
 *
 * <p>Nothing is kept per thread: there is no {@code ThreadLocal} to fill, to find or to clear, and
 * a virtual thread costs nothing extra. Threads that were started one after the other, as those of
 * one executor are, have numbers in a row and so stripes of their own as far as there are enough.
 *
 * <p>Of virtual threads only those run that have a carrier, and there are as many carriers as
 * processors. So the carriers are divided: by their own numbers, running virtual threads would
 * share a stripe with others on other processors, with more of them the larger the server is. The
 * JVM shows carriers only with the flag that Agrona needs, {@link
 * io.prmalloc.internal.os.AgronaAccess#FLAG}; without it, virtual threads go by their own numbers.
 *
 * <p>Threading: immutable.
 */
public final class Stripes {

  /**
   * The field of a virtual thread that has its carrier; null before Java 21, in a JVM without the
   * flag that Agrona needs, or where it has another name. There is no public way to the carrier.
   */
  private static final Field CARRIER = findCarrier();

  private static final Class<?> CARRIED = CARRIER == null ? null : CARRIER.getDeclaringClass();
  private static final long OFFSET = CARRIER == null ? 0 : UnsafeApi.objectFieldOffset(CARRIER);

  private final int mask;

  /**
   * @param wanted how many there should be; the power of two that is not more is taken, at least 1
   */
  public Stripes(int wanted) {
    mask = Integer.highestOneBit(Math.max(1, wanted)) - 1;
  }

  /** A multiple of the number of processors, within bounds. */
  public static Stripes perProcessor(int times, int least, int most) {
    int wanted = times * Runtime.getRuntime().availableProcessors();
    return new Stripes(Math.min(most, Math.max(least, wanted)));
  }

  /** As many as keep nearly all threads of a busy server apart. */
  public static Stripes many() {
    return perProcessor(4, 8, 64);
  }

  public int count() {
    return mask + 1;
  }

  /** The stripe of the calling thread. */
  public int current() {
    return callerNumber() & mask;
  }

  /** The number of the calling thread, or of its carrier; of which the lowest bits count. */
  public static int callerNumber() {
    Thread thread = Thread.currentThread();
    return thread.getClass() == CARRIED ? placeOfCarrier(thread) : (int) thread.getId();
  }

  /**
   * The place of the carrier among all carriers, from 0; the thread's own number if others than the
   * JDK's carry it.
   *
   * @param carried the calling thread, which is virtual
   */
  private static int placeOfCarrier(Thread carried) {
    // Not the carrier's number: virtual threads are numbered in between, so those are in no row.
    Object carrier = UnsafeApi.getReference(carried, OFFSET);
    return carrier instanceof ForkJoinWorkerThread worker
        ? worker.getPoolIndex()
        : (int) carried.getId();
  }

  private static Field findCarrier() {
    if (!AgronaAccess.isAvailable()) {
      return null;
    }
    try {
      Field carrier =
          Class.forName("java.lang.VirtualThread", false, null).getDeclaredField("carrierThread");
      return carrier.getType() == Thread.class ? carrier : null;
    } catch (ReflectiveOperationException notToBeSeen) {
      return null;
    }
  }

  /** The stripe that is so many places after another, cyclically. */
  public int after(int stripe, int places) {
    return (stripe + places) & mask;
  }
}
