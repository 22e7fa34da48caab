package io.prmalloc.trace.replay;

import com.sun.management.ThreadMXBean;
import io.prmalloc.os.OperatingSystem;
import io.prmalloc.os.ResourceUsage;
import java.lang.management.ManagementFactory;

/**
 * What a thread takes of the system between two moments: Java heap and page faults.
 *
 * <p>Threading: begun and ended by the thread that is looked at; read after that.
 */
final class ThreadUsage {

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private long heapBytes;
  private long minorFaults;
  private long majorFaults;

  ThreadUsage() {}

  void begin() {
    // Once in vain: what the first calls touch and make must not count.
    OperatingSystem.threadUsage();
    THREADS.getCurrentThreadAllocatedBytes();
    ResourceUsage usage = OperatingSystem.threadUsage();
    minorFaults = -usage.minorFaults();
    majorFaults = -usage.majorFaults();
    heapBytes = -THREADS.getCurrentThreadAllocatedBytes();
  }

  void end() {
    heapBytes += THREADS.getCurrentThreadAllocatedBytes();
    ResourceUsage usage = OperatingSystem.threadUsage();
    minorFaults += usage.minorFaults();
    majorFaults += usage.majorFaults();
  }

  long heapBytes() {
    return heapBytes;
  }

  long minorFaults() {
    return minorFaults;
  }

  long majorFaults() {
    return majorFaults;
  }
}
