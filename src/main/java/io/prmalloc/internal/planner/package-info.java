/**
 * The strategies of static planning, behind {@link io.prmalloc.plan.MemoryStrategy}: those of
 * TensorFlow Lite, exactly.
 *
 * <p>Read {@code GreedyBySizeOffsets} (tensors at offsets of one arena) and {@code
 * GreedyBySizeStrategy} (tensors that share whole blocks) first. {@code ObjectsStrategy} and {@code
 * ShapesStrategy} are their interfaces.
 *
 * <p>Invariants: tensors are numbered as in {@code Lives}; ties are broken as in the original.
 */
package io.prmalloc.internal.planner;
