/**
 * The arena planner: places the tensors of a known graph into one buffer, node by node or all at
 * once, and keeps that buffer.
 *
 * <p>A {@link io.prmalloc.plan.arena.Graph} states tensors and nodes. {@link
 * io.prmalloc.plan.arena.ArenaPlanner} computes how long each tensor lives and places it. {@link
 * io.prmalloc.plan.arena.SimpleMemoryArena} finds the gaps and holds the memory. The behaviour is
 * TensorFlow Lite's.
 *
 * <p>May use: {@code io.prmalloc}, {@code io.prmalloc.plan}, {@code io.prmalloc.internal.planner},
 * {@code internal.block} (argument checks) and {@code internal.os}.
 *
 * <p>Conventions: tensors and nodes are indices from 0; a node is a point in time, and lives are
 * {@code firstNode} to {@code lastNode}, both included; offsets and sizes are bytes in a {@code
 * long}. A plan may pass 2^31 bytes; a buffer holds less than 2 GiB. Nothing here is thread-safe.
 */
package io.prmalloc.plan.arena;
