/**
 * Examines the library's memory through a C library of our own, {@code src/test/c/probe.h}: its
 * content, its addresses, and what the kernel reports about it.
 *
 * <p>May use the library's public API, JNA and Agrona. Sizes are in bytes, addresses are plain
 * {@code long}s.
 */
package io.prmalloc.probe;
