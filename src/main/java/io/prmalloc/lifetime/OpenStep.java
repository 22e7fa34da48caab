package io.prmalloc.lifetime;

/** An open step, as a planner sees it. Threading: any thread. */
interface OpenStep {

  /** The step is over; a second time changes nothing. */
  void end();
}
