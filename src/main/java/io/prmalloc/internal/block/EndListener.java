package io.prmalloc.internal.block;

/** Is told when the use of one block ends. Threading: any thread. */
public interface EndListener {

  /** The use is over; called once. */
  void end();
}
