/**
 * The pool: serves tensors from the blocks that the planner worked out, without a system call, a
 * page fault or garbage.
 *
 * <p>{@link io.prmalloc.pool.TensorPoolAllocator} is what users build. Behind it: small requests
 * come from slabs of a size class each ({@code SmallBlocks}); planned ones from the {@code Arena},
 * the one reservation of a plan, which is carved into a {@code Buffer} of equal chunks per {@code
 * Bin}; everything else from the sub-allocator.
 *
 * <p>May use: {@code io.prmalloc}, {@code io.prmalloc.lifetime}, {@code io.prmalloc.os}.
 *
 * <p>Conventions: a block that is not out lies on exactly one {@code IndexStack}; whoever takes it
 * off owns it alone.
 */
package io.prmalloc.pool;
