package io.prmalloc.internal.lifecycle;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * Warns, once for each pool, when what the pool would reserve and the JVM's heap together exceed
 * the memory limit of the control group: the kernel ends a process that uses more. Changes nothing
 * else.
 *
 * <p>Threading: any thread.
 */
public final class CgroupCheck {

  private static final Logger LOGGER = System.getLogger(CgroupCheck.class.getName());

  private final Supplier<OptionalLong> limit;
  private boolean warned;

  /**
   * @param limit tells the limit in bytes, empty for none; asked at each check, since it may be
   *     changed while the process runs
   */
  public CgroupCheck(Supplier<OptionalLong> limit) {
    this.limit = limit;
  }

  /**
   * Looks whether so much fits. Reads files, so it is not for a request's thread.
   *
   * @param poolBytes the most bytes that the pool will have reserved
   * @param what they are, for the message
   */
  public synchronized void check(long poolBytes, String what) {
    if (warned) {
      return;
    }
    OptionalLong most = limit.get();
    long heapBytes = Runtime.getRuntime().maxMemory();
    if (most.isPresent() && poolBytes > most.getAsLong() - heapBytes) {
      warned = true;
      LOGGER.log(
          Level.WARNING,
          "the pool does not fit into its control group: "
              + what
              + " "
              + poolBytes
              + " bytes and the heap up to "
              + heapBytes
              + " (-Xmx) exceed the group's memory limit of "
              + most.getAsLong()
              + " by "
              + (poolBytes + heapBytes - most.getAsLong())
              + ", and the JVM needs some more: raise the limit, lower -Xmx, or give the pool's"
              + " sub-allocator a lower limit");
    }
  }
}
