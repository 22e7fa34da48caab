package io.prmalloc.onnx;

import io.prmalloc.plan.arena.Graph;
import java.util.Optional;

/**
 * A model as a graph, and what it leaves out.
 *
 * <p>Threading: immutable.
 *
 * @param graph the values of the model, in the order in which they come to be; those of unknown
 *     size are of kind {@link io.prmalloc.plan.arena.TensorKind#DYNAMIC} with 0 bytes
 * @param warning what a plan of the graph does not hold, by name and number, and why; empty if it
 *     holds everything
 */
public record OnnxGraph(Graph graph, Optional<String> warning) {}
