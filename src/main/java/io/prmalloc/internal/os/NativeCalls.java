package io.prmalloc.internal.os;

import java.nio.ByteBuffer;

/**
 * The calls of this package to the C library and the kernel: one implementation calls them, another
 * answers in plain Java where they are out of reach.
 *
 * <p>Failures are told as the kernel tells them, by number and not by exception, because some of
 * them are no failure to the caller: a method that returns an {@code int} gives 0 or an error
 * number, a method that returns an address gives the address or a negated error number.
 *
 * <p>Threading: any thread.
 */
public interface NativeCalls extends MallocCalls {

  /** Error number: the system is short of something just now. */
  int EAGAIN = 11;

  /** Error number: no such memory is available, or there is no room for another mapping. */
  int ENOMEM = 12;

  /** Error number: an argument is not understood, such as an advice of a later kernel. */
  int EINVAL = 22;

  /** Error number: this kernel has no such call. */
  int ENOSYS = 38;

  /** Protection: no access at all. */
  int PROT_NONE = 0;

  /** Protection: may be read. */
  int PROT_READ = 1;

  /** Protection: may be written. */
  int PROT_WRITE = 2;

  /** Advice: drop the pages; they read as zero when next touched. */
  int MADV_DONTNEED = 4;

  /** Advice: use huge pages where possible. */
  int MADV_HUGEPAGE = 14;

  /** Advice: use no huge pages. */
  int MADV_NOHUGEPAGE = 15;

  /** Advice: make all pages present and writable now; known from Linux 5.14 on. */
  int MADV_POPULATE_WRITE = 23;

  /** Advice: put huge pages in the place of these; known from Linux 6.1 on. */
  int MADV_COLLAPSE = 25;

  /** Whose resource usage is asked for. */
  enum UsageScope {
    /** All threads of this process, past and present. */
    PROCESS,
    /** The calling thread (of a virtual thread: its carrier). */
    THREAD
  }

  /**
   * Does nothing where native calls are in reach.
   *
   * @param what needs them, for the message
   * @throws UnsupportedOperationException if they are out of reach; the message says why
   */
  default void require(String what) {}

  /** Bytes of one page of memory. */
  int pageSizeBytes();

  /**
   * Maps fresh, private, readable and writable memory that belongs to no file.
   *
   * @return the address, or a negated error number
   * @throws UnsupportedOperationException if native calls are out of reach
   */
  long mmap(long lengthBytes);

  /**
   * Maps address space without any access, which takes no memory.
   *
   * @return the address, or a negated error number
   * @throws UnsupportedOperationException if native calls are out of reach
   */
  long reserve(long lengthBytes);

  /**
   * Opens a file in memory that has no name. It takes memory page by page as it is written.
   *
   * @return its descriptor, to be closed, or a negated error number; that of {@link #ENOSYS} where
   *     the kernel or the C library knows no such files
   * @throws UnsupportedOperationException if native calls are out of reach
   */
  int memoryFile(long lengthBytes);

  /**
   * Maps the beginning of a file, readable, writable and shared, in the place of what is mapped at
   * an address.
   *
   * @return 0 or an error number
   * @throws UnsupportedOperationException if native calls are out of reach
   */
  int mapFile(int file, long address, long lengthBytes);

  /**
   * Closes a file; what is mapped of it stays.
   *
   * @return 0 or an error number
   * @throws UnsupportedOperationException if native calls are out of reach
   */
  int closeFile(int file);

  /**
   * Unmaps whole pages.
   *
   * @return 0 or an error number
   * @throws UnsupportedOperationException if native calls are out of reach
   */
  int munmap(long address, long lengthBytes);

  /**
   * Tells the kernel how a mapping will be used; {@code advice} is one of the {@code MADV_}
   * constants.
   *
   * @return 0 or an error number
   * @throws UnsupportedOperationException if native calls are out of reach
   */
  int madvise(long address, long lengthBytes, int advice);

  /**
   * Sets what may be done with whole pages; {@code protection} is a sum of the {@code PROT_}
   * constants. A forbidden access ends the JVM.
   *
   * @return 0 or an error number
   * @throws UnsupportedOperationException if native calls are out of reach
   */
  int mprotect(long address, long lengthBytes, int protection);

  /**
   * The malloc of a library, loaded by name; these calls themselves are the C library's.
   *
   * @param libraryName as {@link LoadedLibrary#load} takes it
   * @throws UnsupportedOperationException if native calls are out of reach, the library cannot be
   *     loaded, or it has no malloc of its own; the message says which
   */
  MallocCalls malloc(String libraryName);

  /**
   * Asks the C library to give the free memory of its own heap back to the system.
   *
   * @return whether this C library knows how to
   */
  boolean mallocTrim();

  /** Page faults and peak resident memory; zeros where the platform does not tell. */
  ResourceUsage usage(UsageScope scope);

  /** Page faults served without reading from disk; 0 where the platform does not tell. */
  long minorFaults(UsageScope scope);

  /** What an error number means, in words. */
  String errorText(int errorNumber);

  /**
   * A direct buffer in native byte order on foreign memory. It does not keep the memory, nor free
   * it.
   *
   * @throws UnsupportedOperationException if native calls are out of reach
   */
  ByteBuffer view(long address, long bytes);

  /**
   * The address of a direct buffer's byte 0.
   *
   * @throws UnsupportedOperationException if native calls are out of reach
   */
  long address(ByteBuffer buffer);
}
