package io.prmalloc.internal.jfr;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The plan of a pool, or of a kind of steps, is made. Threading: one thread. */
@Name("io.prmalloc.PlanMade")
@Label("Plan made")
@Category("PRMalloc")
@Description("The plan of a pool, or of a kind of steps, is made.")
@StackTrace(false)
final class PlanMadeEvent extends Event {

  @Label("Kind")
  String kind;

  @DataAmount
  @Label("Bytes of the plan")
  long bytes;

  @Label("Blocks")
  int blocks;
}
