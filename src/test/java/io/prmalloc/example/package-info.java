/**
 * The example: an inference server that answers the KServe protocol with ONNX Runtime and takes all
 * tensors from the pool, and a load driver that compares it with the same server on other memory.
 * See {@code docs/server.md}.
 *
 * <p>It is in the test sources because nothing is to depend on it. Its code is meant to be copied.
 */
package io.prmalloc.example;
