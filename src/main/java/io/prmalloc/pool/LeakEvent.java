package io.prmalloc.pool;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** What the flight recorder sees of a leak. Threading: one thread. */
@Name("io.prmalloc.Leak")
@Label("Off-Heap Leak")
@Category({"PRMalloc"})
@Description("Memory of a pool that was out for too long")
@StackTrace(false)
final class LeakEvent extends Event {

  @DataAmount
  @Label("Size")
  long sizeBytes;

  @Label("Alignment")
  long alignment;

  @Label("Allocating Thread")
  String allocatingThread;

  @Label("Step")
  long step;

  @Label("Age in Milliseconds")
  long ageMillis;

  @Label("Reason")
  String reason;

  @Label("Allocation Stack")
  String allocationStack;

  private LeakEvent() {}

  /** Writes the event, if somebody records. */
  static void commit(Leak leak) {
    LeakEvent event = new LeakEvent();
    if (event.shouldCommit()) {
      event.sizeBytes = leak.sizeBytes();
      event.alignment = leak.alignment();
      event.allocatingThread = leak.thread();
      event.step = leak.step();
      event.ageMillis = leak.age().toMillis();
      event.reason = leak.reason().name();
      event.allocationStack =
          String.join("\n", leak.stack().stream().map(String::valueOf).toList());
      event.commit();
    }
  }
}
