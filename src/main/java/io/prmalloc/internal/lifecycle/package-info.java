/**
 * Plan switch-over, re-planning, trim and maintenance.
 *
 * <p>Read {@code SwitchOverMemory} first (how the switch-over keeps its peak of memory low), then
 * {@code Replanner} and {@code ReplanObserver} (when statistics are collected anew), {@code
 * DrainingPlans} (plans that were replaced and still have blocks in use), {@code PoolTrim}, {@code
 * IdleTrimmer}, {@code Maintenance} (one thread that does the periodic work of all pools), {@code
 * BackgroundExecutor} (where a pool makes plans and arenas) and {@code CgroupCheck} (the warning
 * where a pool cannot fit into its control group).
 *
 * <p>Invariants: no user call waits for this work; after an exception it is tried again.
 */
package io.prmalloc.internal.lifecycle;
