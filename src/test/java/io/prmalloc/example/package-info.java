/**
 * The example: an inference server that answers the KServe protocol with ONNX Runtime and takes all
 * tensors from the pool. See {@code docs/server.md}.
 *
 * <p>It is in the test sources because nothing is to depend on it. Its code is meant to be copied.
 *
 * <p>Read in this order: {@link io.prmalloc.example.ServerMain}, {@link
 * io.prmalloc.example.InferenceServer}, {@code ServerHandler} (one connection), {@code Exchange}
 * (one request), {@code RequestBody}, {@code ServedModel}, {@code ResponseBody}. Where memory comes
 * from is in {@code ServerMemory} and {@code ServerEngine}. {@code model} has the models and their
 * shapes, {@code client} the programs that send requests and compare the answers.
 */
package io.prmalloc.example;
