package io.prmalloc.pool;

import java.util.List;

/**
 * The stacks that a request tries, in order, as a chain. No candidate is null.
 *
 * <p>Threading: immutable.
 *
 * @param stack what to try
 * @param next what to try when that is exhausted, or null
 */
record Candidate(BlockStack stack, Candidate next) {

  // A chain and not an array, because the JIT triples the body of a loop over an array (before,
  // within and after the range that needs no checks), and what it makes of Allocator.allocate must
  // stay small: see OutOfLine.

  static Candidate chain(List<BlockStack> stacks) {
    Candidate first = null;
    for (int i = stacks.size() - 1; i >= 0; i--) {
      first = new Candidate(stacks.get(i), first);
    }
    return first;
  }

  /** Takes a block from the first that has one, or gives null. */
  static PooledBlock allocate(Candidate first, int alignment) {
    for (Candidate candidate = first; candidate != null; candidate = candidate.next) {
      PooledBlock block = candidate.stack.allocate(alignment);
      if (block != null) {
        return block;
      }
    }
    return null;
  }
}
