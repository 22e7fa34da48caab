/**
 * Looks at the library's memory through a C library of our own, {@code src/test/c/probe.h}: what is
 * in it, where it lies, and what the kernel says of it.
 *
 * <p>May use the library's public API, JNA and Agrona. Sizes are in bytes, addresses are plain
 * {@code long}s.
 */
package io.prmalloc.probe;
