/**
 * The operating system and the JVM's own memory, behind a few small types.
 *
 * <p>Everything native lives here: page size, huge pages, page faults, resident memory, {@code
 * mmap} and its kin. Native calls go through JNA's direct mapping behind a package-private
 * interface; where the platform lacks them a plain Java stand-in answers as far as it can.
 *
 * <p>May use: JNA, Agrona. Knows no other package of this project.
 *
 * <p>Conventions: sizes are bytes in a {@code long}; an address is a {@code long} and never 0 for
 * live memory.
 */
package io.prmalloc.internal.os;
