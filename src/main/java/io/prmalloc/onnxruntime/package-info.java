/**
 * The adapter for ONNX Runtime: {@link io.prmalloc.onnxruntime.OnnxModel} runs a session with
 * inputs and outputs that lie in an allocator's memory, without a copy on either side.
 *
 * <p>{@link io.prmalloc.onnxruntime.InferenceBuilder} settles the shapes of one request, {@link
 * io.prmalloc.onnxruntime.Inference} holds its tensors and runs, {@link
 * io.prmalloc.onnxruntime.TensorView} shows one of them. {@link
 * io.prmalloc.onnxruntime.TensorMemory} is implemented where memory comes from elsewhere.
 *
 * <p>{@link io.prmalloc.onnxruntime.OrtEnvironmentAllocator} gives the engine the pool's memory for
 * the tensors between its operators, and {@link io.prmalloc.onnxruntime.EngineRun} makes each run a
 * step of the pool; {@link io.prmalloc.onnxruntime.OrtSharedArena} gives the engine its own arena
 * with settings.
 *
 * <p>May use: {@code io.prmalloc}, {@code .pool}, {@code .lifetime}, {@code .internal.os} and
 * {@code .internal.jfr}, JNA, Agrona's collections, and {@code
 * com.microsoft.onnxruntime:onnxruntime} (1.17 or later), which is optional: nothing else in this
 * project imports ONNX Runtime.
 *
 * <p>Conventions: shapes are counted in elements, outermost dimension first; a size of −1 is a
 * dimension that each request settles for itself.
 */
package io.prmalloc.onnxruntime;
