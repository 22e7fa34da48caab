/**
 * Measures throughput and memory of a server that takes request bodies of several MiB. The runs
 * differ only in the allocator of the network buffers.
 *
 * <p>May use: Netty's HTTP codec, {@code io.prmalloc.netty}, {@code io.prmalloc.internal.os},
 * {@code ChildJava} and {@code io.prmalloc.trace.replay}, which has Netty's allocators.
 *
 * <p>Conventions: the server has a JVM of its own, the clients are threads of the process that
 * started it.
 */
package io.prmalloc.jmh.server;
