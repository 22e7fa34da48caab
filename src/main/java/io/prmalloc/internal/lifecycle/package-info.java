/**
 * Plan switch-over, re-planning, trim and maintenance.
 *
 * <p>Read in this order:
 *
 * <ol>
 *   <li>{@code PlannerBinding} and {@code PlanListener}: how a planner gets its allocator, which is
 *       called when there is a plan.
 *   <li>{@code SwitchOverMemory}: how the switch-over keeps its peak of memory low. {@code
 *       CgroupCheck} warns where a pool cannot fit into its control group.
 *   <li>{@code Replanner} with {@code ReplanSettings} and {@code ReplanObserver}: when statistics
 *       are collected anew, and how.
 *   <li>{@code DrainingPlans}: plans that were replaced and still have blocks in use.
 *   <li>{@code PlanSharing} and {@code PlanMerge}: plans that replicas share through a store.
 *   <li>{@code PoolTrim} and {@code IdleTrimmer}: memory that a pool does not use goes back, on
 *       request or when the pool is idle.
 *   <li>{@code Maintenance}: one thread that does the periodic work of all pools.
 *   <li>{@code BackgroundExecutor}: where a pool makes plans and arenas.
 * </ol>
 *
 * <p>Invariants: requests, closes and steps do not wait for this work, unless the request would be
 * refused; after an exception the work is tried again.
 */
package io.prmalloc.internal.lifecycle;
