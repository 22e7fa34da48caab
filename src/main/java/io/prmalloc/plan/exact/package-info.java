/**
 * The exact planner: searches for the smallest plan of offsets, within a limit of time or steps.
 *
 * <p>{@link io.prmalloc.plan.exact.ExactPlanner} answers two questions: how small a plan can be,
 * and whether there is one of a given capacity. {@link io.prmalloc.plan.exact.ExactOptions} says
 * for how long it may search, with how many threads and by which techniques; a {@link
 * io.prmalloc.plan.exact.PlanWatcher} sees each better plan and may stop it.
 *
 * <p>May use: {@code io.prmalloc}, {@code io.prmalloc.plan}, {@code io.prmalloc.internal.planner}
 * and {@code internal.block} (argument checks).
 *
 * <p>Conventions: those of {@code io.prmalloc.plan}. Inside, tensors without a size are left out
 * and the others have numbers of their own; {@code Problem} translates. Time is in sections, both
 * ends of a life included.
 */
package io.prmalloc.plan.exact;
