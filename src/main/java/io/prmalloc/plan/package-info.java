/**
 * Static planning: where every tensor of a known graph lies, decided before the first step runs.
 *
 * <p>{@link io.prmalloc.plan.TensorUsageRecord} says how large a tensor is and which tasks use it.
 * A strategy turns a list of records into an {@link io.prmalloc.plan.ObjectsAssignment} (tensors
 * share whole blocks) or an {@link io.prmalloc.plan.OffsetsAssignment} (tensors lie at offsets of
 * one arena); {@link io.prmalloc.plan.LowerBounds} computes bounds that no plan can beat. {@link
 * io.prmalloc.plan.PlanValidator} checks plans and does not depend on the strategies.
 *
 * <p>Strategies find offsets by an index of free space over time and address ({@code
 * internal.planner.index}).
 *
 * <p>May use: {@code io.prmalloc}, {@code io.prmalloc.internal.planner} (the strategies), {@code
 * internal.block} (argument checks), Agrona.
 *
 * <p>Conventions: tensors are numbered from 0 in the order of the caller's list, whatever that
 * order is; tasks are inclusive at both ends; sizes are bytes in a {@code long}, and the sizes of
 * one list must fit a {@code long} together. Strategies and their tie-breaking are those of
 * TensorFlow Lite's memory management, exactly.
 */
package io.prmalloc.plan;
