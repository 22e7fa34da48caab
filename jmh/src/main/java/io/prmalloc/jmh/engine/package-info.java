/**
 * ONNX Runtime on shapes that vary, whose one difference from arm to arm is where the tensors
 * between its operators come from: what it has in memory, and what a run costs.
 *
 * <p>May use: ONNX Runtime, {@code io.prmalloc.onnxruntime}, {@code io.prmalloc.internal.os}, and
 * Jackson for what a process tells the one that started it.
 *
 * <p>Conventions: each arm has a JVM of its own.
 */
package io.prmalloc.jmh.engine;
