package io.prmalloc.lifetime;

/** A step that a planner looks at. Threading: any thread. */
interface OpenStep {

  /** The step is over; a second time changes nothing. */
  void end();
}
