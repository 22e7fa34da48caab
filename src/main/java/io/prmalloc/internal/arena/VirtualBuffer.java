package io.prmalloc.internal.arena;

import java.util.List;

/**
 * The larger bins from which a bin may borrow, because the plan saw their blocks free whenever it
 * needed one.
 *
 * <p>Threading: immutable.
 *
 * @param targets the buffers to borrow from, smallest chunks first; all of them are tried
 */
record VirtualBuffer(List<Buffer> targets) {

  // DeepRec's VirtualBuffer is a stack with an entry per use the packing ever made; an allocation
  // looks at the top entry alone, gives up if that bin is empty, and holds the entry until the
  // block comes back. Two things follow: allocations miss although another entry could serve, and
  // the stack grows with every step of warm-up.
  //
  // As many entries can be in use at once as the target has blocks, and no more. So an entry per
  // block of the target limits nothing that the target's own stack does not limit already, and the
  // entries of one target can be one reference to it. What is left of the stack is the list of
  // distinct targets, all of which are tried, smallest chunks first to waste least.

  VirtualBuffer {
    targets = List.copyOf(targets);
  }
}
