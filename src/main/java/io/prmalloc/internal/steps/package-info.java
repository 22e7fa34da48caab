/**
 * Planned steps: each step leases an arena, laid out by a plan for all sizes that were seen.
 *
 * <p>Read {@code PlannedSteps} first, then {@code StepKinds} and {@code KeyedSteps} (the steps of
 * one key: learn, plan, share), {@code StepSequence} (the steps of one structure: raise and lower
 * its plan), {@code StepArena} (the memory of one step), {@code StepPlan} and {@code StepPlacer}
 * (the plan). {@code LearningStep} and {@code SharedStep} serve steps that have no arena; {@code
 * ImplicitSteps} serves steps whose thread asks the pool and not the step.
 *
 * <p>Invariants: an arena serves one step at a time, and no next step while a tensor of it is in
 * use; plans are made on the executor, and no step waits for one.
 */
package io.prmalloc.internal.steps;
