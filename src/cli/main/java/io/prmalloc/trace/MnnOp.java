package io.prmalloc.trace;

import java.util.List;

/**
 * One operator of a profiled step. Tensors are named as in the profile: {@code 12} is a tensor of
 * the graph, {@code 18:0} scratch memory of operator 18.
 *
 * <p>Threading: immutable.
 *
 * @param name what the profiler calls the operator
 * @param inputs tensors it reads
 * @param outputs tensors it writes, and which are allocated for it
 * @param released tensors not needed after it
 * @param scratch its scratch memory, in the order the profiler saw it come and go
 */
public record MnnOp(
    String name,
    List<String> inputs,
    List<String> outputs,
    List<String> released,
    List<ScratchEvent> scratch) {

  /**
   * Scratch memory comes or goes.
   *
   * <p>Threading: immutable.
   *
   * @param allocate whether it comes
   * @param id which memory
   */
  public record ScratchEvent(boolean allocate, String id) {}
}
