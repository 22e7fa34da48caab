package io.prmalloc.internal.jfr;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** One run of an engine outside of Java. Threading: one thread. */
@Name("io.prmalloc.EngineRun")
@Label("Run of an engine")
@Category("PRMalloc")
@Description("A run of an engine outside of Java whose memory comes from a pool has ended.")
@StackTrace(false)
final class EngineRunEvent extends Event {

  @Label("Engine")
  String engine;

  @Timespan(Timespan.NANOSECONDS)
  @Label("Time of the run")
  long runTime;

  @DataAmount
  @Label("Bytes of tensors then")
  long tensors;

  @DataAmount
  @Label("Bytes of weights")
  long weights;

  @DataAmount
  @Label("Bytes beyond the limit at the peak so far")
  long overrunPeak;

  @Label("Refused")
  boolean refused;
}
