/**
 * The choice of the pool's plan: calculations without threads and without off-heap memory.
 *
 * <p>Read {@code PlanChoice} first ({@code PlanCandidate} is one of the plans in reports), then the
 * plans that compete with that of the lifetime policies: {@code SizeClassPlans} (other size
 * classes), {@code StepPacking} (blocks for whole steps) and {@code StepCopies} (a packing of one
 * step, repeated for steps that run together). {@code Rehearsal} replays the steps on paper and
 * adds the blocks that a plan lacks.
 *
 * <p>Invariants: equal steps give equal plans; a rehearsal looks for a block in the same order as
 * the pool.
 */
package io.prmalloc.internal.poolplan;
