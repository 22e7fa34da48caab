/**
 * How a plan comes into force, is replaced, and gives memory back.
 *
 * <p>Read {@code SwitchOverMemory} first (how little memory the switch-over takes), then {@code
 * Replanner} and {@code ReplanObserver} (when statistics are collected anew), {@code DrainingPlans}
 * (plans that were replaced and still have blocks in use), {@code PoolTrim}, {@code IdleTrimmer}
 * and {@code Maintenance} (the thread that looks after all pools).
 *
 * <p>Invariants: no user call waits for any of it; an exception ends nothing for good.
 */
package io.prmalloc.internal.lifecycle;
