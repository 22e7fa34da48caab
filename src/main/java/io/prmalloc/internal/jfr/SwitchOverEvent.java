package io.prmalloc.internal.jfr;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** A pool serves from its plan from now on. Threading: one thread. */
@Name("io.prmalloc.SwitchOver")
@Label("Switch-over")
@Category("PRMalloc")
@Description("A pool serves from its plan from now on.")
@StackTrace(false)
final class SwitchOverEvent extends Event {

  @DataAmount
  @Label("Bytes of the arena")
  long arenaBytes;

  @Timespan(Timespan.NANOSECONDS)
  @Label("Time to reserve it")
  long reserveTime;
}
