/**
 * A server that takes request bodies of several MiB, whose one difference from run to run is which
 * allocator its network buffers come from: how many requests it answers, and what it has in memory.
 *
 * <p>May use: Netty's HTTP codec, {@code io.prmalloc.netty}, {@code io.prmalloc.internal.os} and
 * {@code io.prmalloc.trace.replay}, which has Netty's allocators.
 *
 * <p>Conventions: the server has a JVM of its own, the clients are threads of the process that
 * started it.
 */
package io.prmalloc.jmh.server;
