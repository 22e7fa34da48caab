/**
 * The choice of the pool's plan: calculations without threads and without off-heap memory.
 *
 * <p>Read {@code PlanChoice} first, then the candidates {@code SizeClassPlans} (of the lifetime
 * policies) and {@code StepPacking} (of the steps' offsets, with {@code StepCopies} for steps that
 * run together), and {@code Rehearsal}, which replays the steps on paper and adds the blocks that
 * are lacking.
 *
 * <p>Invariants: equal steps give equal plans; a rehearsal looks for a block in the same order as
 * the pool.
 */
package io.prmalloc.internal.poolplan;
