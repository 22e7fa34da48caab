/**
 * The arena planner: places the tensors of a graph, known before the first step runs, into one
 * buffer, node by node or all at once, and keeps that buffer.
 *
 * <p>{@link io.prmalloc.plan.arena.Graph} is what is placed; {@link
 * io.prmalloc.plan.arena.ArenaPlanner} works out how long each tensor lives and places it; {@link
 * io.prmalloc.plan.arena.SimpleMemoryArena} finds the gaps and holds the memory. The behaviour is
 * TensorFlow Lite's.
 *
 * <p>May use: {@code io.prmalloc}, {@code io.prmalloc.plan}, {@code io.prmalloc.internal.os}.
 *
 * <p>Conventions: tensors and nodes are indices from 0; a node is a point in time, and lives are
 * {@code firstNode} to {@code lastNode}, both included; offsets and sizes are bytes in a {@code
 * long} and may pass 2^31 on paper, while a buffer holds less than 2 GiB. Nothing here is safe for
 * threads.
 */
package io.prmalloc.plan.arena;
