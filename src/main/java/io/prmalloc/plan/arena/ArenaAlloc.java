package io.prmalloc.plan.arena;

/**
 * A tensor's place in a {@link SimpleMemoryArena}.
 *
 * <p>Threading: immutable.
 *
 * @param tensor whose place it is
 * @param offset bytes from the arena's begin; 0 for a tensor of no bytes
 * @param bytes the tensor's size; 0 takes no place
 * @param firstNode the first node it lives at
 * @param lastNode the last node it lives at, {@link #FOREVER} if it is never freed
 */
public record ArenaAlloc(int tensor, long offset, long bytes, int firstNode, int lastNode) {

  /** The last node of a tensor that is never freed. */
  public static final int FOREVER = Integer.MAX_VALUE;

  /** Where it ends: the first byte behind it. Threading: any thread. */
  public long endOffset() {
    return offset + bytes;
  }
}
