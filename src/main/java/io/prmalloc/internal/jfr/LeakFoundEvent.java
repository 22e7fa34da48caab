package io.prmalloc.internal.jfr;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** Memory of a pool was allocated for too long. Threading: one thread. */
@Name("io.prmalloc.LeakFound")
@Label("Leak found")
@Category("PRMalloc")
@Description("Memory of a pool was allocated for too long. Only while leak detection is on.")
@StackTrace(false)
final class LeakFoundEvent extends Event {

  @DataAmount
  @Label("Bytes asked for")
  long bytes;

  @Label("Alignment")
  long alignment;

  @Label("Allocating thread")
  String allocatingThread;

  @Label("Step")
  long step;

  @Timespan
  @Label("Age")
  long age;

  @Label("Reason")
  String reason;

  @Label("Allocation stack")
  String allocationStack;
}
