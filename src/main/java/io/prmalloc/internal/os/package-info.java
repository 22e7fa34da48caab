/**
 * The operating system and the JVM's own memory, behind a few small types.
 *
 * <p>All native calls are made here: page size, huge pages, page faults, resident memory, {@code
 * mmap}, {@code munmap}, {@code madvise}. They go through JNA's direct mapping, behind the
 * interface {@code NativeCalls}. Where the platform lacks them, {@code FallbackCalls} in plain Java
 * answers as far as it can.
 *
 * <p>Read {@code Natives} first (which implementation this JVM uses), then {@code NativeCalls},
 * {@code DirectRegion}, {@code MappedRegion}, {@code MallocRegion} and {@code OperatingSystem};
 * {@code CgroupMemory} reads the control group's limit.
 *
 * <p>May use: JNA, Agrona, and of this project the root package.
 *
 * <p>Conventions: sizes are bytes in a {@code long}; an address is a {@code long} and never 0 for
 * live memory.
 */
package io.prmalloc.internal.os;
