/**
 * The operating system and the JVM's own memory, behind a few small types.
 *
 * <p>All native calls are made here: page size, huge pages, page faults, resident memory, {@code
 * mmap}, {@code munmap}, {@code madvise}. They go through JNA's direct mapping, behind the
 * interface {@code NativeCalls}. Where the platform lacks them, {@code FallbackCalls} in plain Java
 * answers as far as it can.
 *
 * <p>Read in this order:
 *
 * <ol>
 *   <li>{@code Natives}: which implementation of {@code NativeCalls} this JVM uses, {@code
 *       JnaCalls} or {@code FallbackCalls}. {@code NativeBindings} lists the classes that JNA has
 *       bound.
 *   <li>{@code SystemRegion}, and its kinds {@code DirectRegion}, {@code MappedRegion} and {@code
 *       MallocRegion}.
 *   <li>{@code DirectMemory}: direct buffers that are given back at once, by {@code CleanedBuffers}
 *       or by {@code ArenaBuffers}.
 *   <li>{@code MallocHeap} and {@code MallocCalls}: the C library's malloc, or another one by
 *       {@code MallocLibrary}, {@code LoadedLibrary} and {@code LoadedMalloc}.
 *   <li>{@code OperatingSystem}: figures of the system and of the process, with {@code
 *       ResourceUsage}, {@code ResidentPeak}, {@code HugePageMode} and {@code ProcFiles}. {@code
 *       CgroupMemory} reads the control group's limit.
 *   <li>{@code AgronaAccess} (whether Agrona's buffers work in this JVM), {@code NativeBytes}
 *       (copies by address), {@code JvmCommands} (commands of the JVM's tools), {@code
 *       FileReplacement} (a file is written as a whole), {@code Rethrow}.
 * </ol>
 *
 * <p>May use: JNA, Agrona, and of this project the root package.
 *
 * <p>Invariants: sizes are bytes in a {@code long}; an address is a {@code long} and never 0 for
 * live memory; code that uses only direct buffers and handles never loads JNA's library.
 */
package io.prmalloc.internal.os;
