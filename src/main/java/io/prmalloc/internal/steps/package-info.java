/**
 * Planned steps: each step leases an arena, laid out by a plan for all sizes that were seen.
 *
 * <p>Read in this order:
 *
 * <ol>
 *   <li>{@code PlannedSteps}: all of them, and what they share; {@code StepSettings}.
 *   <li>{@code StepKinds} and {@code KeyedSteps}: the steps of one key are learnt, planned or
 *       shared.
 *   <li>{@code StepSequence}: the plan of one structure is made, raised and lowered.
 *   <li>{@code StepArena}: the memory of one step at a time.
 *   <li>{@code StepPlan} and {@code StepPlacer}: the plan, and the places in it.
 *   <li>{@code LearningStep} with {@code StepRecorder}, and {@code SharedStep}: steps that have no
 *       arena.
 *   <li>{@code ImplicitSteps} with {@code ImplicitStepObserver}: steps whose thread asks the pool
 *       and not the step.
 *   <li>{@code StepCounts}, {@code StepStatsSum} and {@code StepKind}: counters, their sums, and
 *       what a report has of one kind.
 * </ol>
 *
 * <p>Invariants: an arena serves one step at a time, and no next step while a tensor of it is in
 * use; plans are made on the executor, and no step waits for one.
 */
package io.prmalloc.internal.steps;
