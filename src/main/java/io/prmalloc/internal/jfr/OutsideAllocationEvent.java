package io.prmalloc.internal.jfr;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** Memory taken from a sub-allocator for one request. Threading: one thread. */
@Name("io.prmalloc.OutsideAllocation")
@Label("Allocation outside the pool")
@Category("PRMalloc")
@Description("Memory taken from a sub-allocator for one request.")
@StackTrace(true)
@Enabled(false)
final class OutsideAllocationEvent extends Event {

  @DataAmount
  @Label("Bytes asked for")
  long bytes;

  @Label("Alignment")
  long alignment;

  @Timespan(Timespan.NANOSECONDS)
  @Label("Time in the sub-allocator")
  long systemTime;
}
