/**
 * Measures memory and run time of ONNX Runtime on shapes that vary. The arms differ only in where
 * the tensors between the operators come from.
 *
 * <p>May use: ONNX Runtime, {@code io.prmalloc.onnxruntime}, {@code io.prmalloc.internal.os},
 * {@code ChildJava}, and Jackson for the results that a process sends to the one that started it.
 *
 * <p>Conventions: each arm has a JVM of its own.
 */
package io.prmalloc.jmh.engine;
