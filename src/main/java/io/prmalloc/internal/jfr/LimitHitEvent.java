package io.prmalloc.internal.jfr;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** Memory was refused, or more is reserved than there should be. Threading: one thread. */
@Name("io.prmalloc.LimitHit")
@Label("Limit hit")
@Category("PRMalloc")
@Description("Memory was refused, or more is reserved than there should be.")
@StackTrace(true)
final class LimitHitEvent extends Event {

  @Label("Kind")
  String kind;

  @DataAmount
  @Label("Bytes asked for")
  long requestedBytes;

  @DataAmount
  @Label("Bytes reserved")
  long reservedBytes;

  @DataAmount
  @Label("Limit")
  long limitBytes;
}
