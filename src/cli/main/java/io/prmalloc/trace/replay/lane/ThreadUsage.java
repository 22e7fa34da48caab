package io.prmalloc.trace.replay.lane;

import com.sun.management.ThreadMXBean;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.internal.os.ResourceUsage;
import java.lang.management.ManagementFactory;

/**
 * What a thread takes of the system between two moments: Java heap and page faults.
 *
 * <p>Threading: begun and ended by the thread that is looked at; read after that.
 */
public final class ThreadUsage {

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private long heapBytes;
  private long minorFaults;
  private long majorFaults;

  public ThreadUsage() {}

  public void begin() {
    // Once in vain: what the first calls touch and make must not count.
    OperatingSystem.threadUsage();
    THREADS.getCurrentThreadAllocatedBytes();
    ResourceUsage usage = OperatingSystem.threadUsage();
    minorFaults = -usage.minorFaults();
    majorFaults = -usage.majorFaults();
    heapBytes = -THREADS.getCurrentThreadAllocatedBytes();
  }

  public void end() {
    heapBytes += THREADS.getCurrentThreadAllocatedBytes();
    ResourceUsage usage = OperatingSystem.threadUsage();
    minorFaults += usage.minorFaults();
    majorFaults += usage.majorFaults();
  }

  public long heapBytes() {
    return heapBytes;
  }

  public long minorFaults() {
    return minorFaults;
  }

  public long majorFaults() {
    return majorFaults;
  }
}
