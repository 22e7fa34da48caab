package io.prmalloc.pool;

import io.prmalloc.os.AgronaAccess;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.concurrent.ForkJoinWorkerThread;
import org.agrona.UnsafeApi;

/**
 * Tells virtual threads from others, and who carries them, on a Java that has them.
 *
 * <p>Threading: any thread.
 */
final class VirtualThreads {

  /** {@code Thread.isVirtual}, or null before Java 21; our bytecode is of 17. */
  private static final MethodHandle IS_VIRTUAL = findIsVirtual();

  /**
   * The field that has the carrier; null before Java 21, in a JVM without the flag that Agrona
   * needs, or where it has another name. There is no public way to the carrier.
   */
  private static final Field CARRIER = findCarrier();

  private static final Class<?> CARRIED = CARRIER == null ? null : CARRIER.getDeclaringClass();
  private static final long OFFSET = CARRIER == null ? 0 : UnsafeApi.objectFieldOffset(CARRIER);

  private VirtualThreads() {}

  private static MethodHandle findIsVirtual() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
    } catch (ReflectiveOperationException noVirtualThreads) {
      return null;
    }
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

  /** Whether the calling thread is virtual. */
  static boolean isCurrent() {
    try {
      return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** Whether a thread is virtual, and it can be seen who carries it. */
  static boolean isCarried(Thread thread) {
    return thread.getClass() == CARRIED;
  }

  /**
   * The place of the carrier among all carriers, from 0; the thread's own number if others than the
   * JDK's carry it.
   *
   * @param carried the calling thread, which {@link #isCarried is carried}
   */
  static int placeOfCarrier(Thread carried) {
    // Not the carrier's number: virtual threads are numbered in between, so those are in no row.
    Object carrier = UnsafeApi.getReference(carried, OFFSET);
    return carrier instanceof ForkJoinWorkerThread worker
        ? worker.getPoolIndex()
        : (int) carried.getId();
  }
}
