package io.prmalloc.internal.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** An attempt to learn a plan was given up. Threading: one thread. */
@Name("io.prmalloc.LearningFailed")
@Label("Learning failed")
@Category("PRMalloc")
@Description("An attempt to learn a plan was given up; there will be another one.")
@StackTrace(false)
final class LearningFailedEvent extends Event {

  @Label("Reason")
  String reason;

  @Label("Failed attempts so far")
  int failures;
}
