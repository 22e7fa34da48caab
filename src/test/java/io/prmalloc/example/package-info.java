/**
 * The example: an inference server that answers the KServe protocol with ONNX Runtime, each tensor
 * on the way from the pool, and a load driver that compares it with the same server on other
 * memory. See {@code docs/server.md}.
 *
 * <p>Test sources, because nobody is to depend on it; what it shows is meant to be copied.
 */
package io.prmalloc.example;
