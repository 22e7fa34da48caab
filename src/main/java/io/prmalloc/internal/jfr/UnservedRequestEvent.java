package io.prmalloc.internal.jfr;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A planned request that found no block in the pool. Threading: one thread. */
@Name("io.prmalloc.UnservedRequest")
@Label("Request without a block")
@Category("PRMalloc")
@Description("A planned request that found no block in the pool.")
@StackTrace(true)
final class UnservedRequestEvent extends Event {

  @DataAmount
  @Label("Bytes asked for, header included")
  long bytes;

  @Label("Whether the plan knows the size")
  boolean known;
}
