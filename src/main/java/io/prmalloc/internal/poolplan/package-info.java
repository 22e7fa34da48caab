/**
 * Which plan the pool gets: calculations without threads and without memory.
 *
 * <p>Read {@code PlanChoice} first, then the candidates {@code SizeClassPlans} (of the lifetime
 * policies) and {@code StepPacking} (of the steps' offsets, with {@code StepCopies} for steps that
 * run together), and {@code Rehearsal}, which replays the steps on paper and adds the blocks that
 * are lacking.
 *
 * <p>Invariants: equal steps give equal plans; what is rehearsed looks for a block in the same
 * order as the pool.
 */
package io.prmalloc.internal.poolplan;
