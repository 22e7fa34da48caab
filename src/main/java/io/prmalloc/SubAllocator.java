package io.prmalloc;

import io.prmalloc.internal.memory.DirectSubAllocator;
import io.prmalloc.internal.memory.LimitedSubAllocator;
import io.prmalloc.internal.memory.MallocSubAllocator;
import io.prmalloc.internal.memory.MmapSubAllocator;
import io.prmalloc.internal.memory.SoftLimitSubAllocator;
import io.prmalloc.internal.memory.VisitedSubAllocator;
import io.prmalloc.internal.os.MallocHeap;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Executor;

/**
 * The source of an allocator's memory: few, large regions, straight from the system.
 *
 * <p>Modelled on TensorFlow's {@code SubAllocator}; here a region is a {@link MemoryRegion} and not
 * an address, because a direct byte buffer can be used, and given back, without its address being
 * known.
 *
 * <p>Threading: every method may be called from any thread.
 */
public interface SubAllocator {

  /**
   * Memory from direct byte buffers, the default kind: zeroed, needs no JVM flag, and is limited by
   * the JVM's {@code MaxDirectMemorySize} alone.
   *
   * <p>Room to align a region, at most its alignment − 1 bytes, is not counted as reserved.
   *
   * <p>Threading: any thread.
   */
  static SubAllocator direct() {
    return new DirectSubAllocator(LimitedSubAllocator.NO_LIMIT);
  }

  /**
   * As {@link #direct()}, with a limit of its own.
   *
   * <p>Threading: any thread.
   *
   * @param limitBytes the most bytes reserved at a time; 0 grants nothing
   * @throws IllegalArgumentException if {@code limitBytes} is negative
   */
  static SubAllocator direct(long limitBytes) {
    return new DirectSubAllocator(LimitedSubAllocator.checkLimit(limitBytes));
  }

  /**
   * Memory from anonymous private mappings of whole pages: not zeroed by us, outside {@code
   * MaxDirectMemorySize}, with huge pages and pre-touch on request. Regions are rounded up to whole
   * pages and counted so.
   *
   * <p>Its {@link #alloc} throws {@link UnsupportedOperationException} where native calls do not
   * work: they need 64-bit Linux and JNA. {@link #checkUsable} tells beforehand.
   *
   * <p>Threading: any thread.
   */
  static SubAllocator mmap(MmapOptions options) {
    return new MmapSubAllocator(options);
  }

  /**
   * Memory from the C library's {@code posix_memalign}, or from that of the malloc which the
   * process was started with in its place: not zeroed, outside {@code MaxDirectMemorySize}.
   *
   * <p>Regions are exactly as large as asked; what malloc sets aside beyond that is not counted as
   * reserved, nor is what it keeps of freed regions.
   *
   * <p>Its {@link #alloc} throws {@link UnsupportedOperationException} where native calls do not
   * work: they need 64-bit Linux and JNA.
   *
   * <p>Threading: any thread.
   */
  static SubAllocator posixMemalign() {
    return new MallocSubAllocator(MallocHeap::ofCLibrary, LimitedSubAllocator.NO_LIMIT);
  }

  /**
   * As {@link #posixMemalign()}, with a limit of its own.
   *
   * <p>Threading: any thread.
   *
   * @param limitBytes the most bytes reserved at a time; 0 grants nothing
   * @throws IllegalArgumentException if {@code limitBytes} is negative
   */
  static SubAllocator posixMemalign(long limitBytes) {
    return new MallocSubAllocator(
        MallocHeap::ofCLibrary, LimitedSubAllocator.checkLimit(limitBytes));
  }

  /**
   * Memory from the malloc of a library such as jemalloc or mimalloc, which is loaded next to the C
   * library: not zeroed, outside {@code MaxDirectMemorySize}, counted as in {@link
   * #posixMemalign()}. The library's own {@code posix_memalign} and {@code free} are called, which
   * may have the prefix {@code mi_} or {@code je_}.
   *
   * <p>Debian's jemalloc wants thread-local storage that the JVM must be started with: {@code
   * GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384}. Where that is missing the error says so.
   *
   * <p>Its {@link #alloc} throws {@link IllegalStateException} for an alignment that the library
   * does not know how to give.
   *
   * <p>Threading: any thread.
   *
   * @param libraryName without decoration ({@code jemalloc}), or a file name as programs are linked
   *     to it ({@code libjemalloc.so.2}), or a path
   * @throws UnsupportedOperationException if the library cannot be loaded, has no malloc of its
   *     own, or native calls do not work here; the message names the library and what was looked
   *     for
   */
  static SubAllocator malloc(String libraryName) {
    MallocHeap heap = MallocHeap.ofLibrary(libraryName);
    return new MallocSubAllocator(() -> heap, LimitedSubAllocator.NO_LIMIT);
  }

  /**
   * As {@link #malloc(String)}, with a limit of its own.
   *
   * <p>Threading: any thread.
   *
   * @param libraryName see {@link #malloc(String)}
   * @param limitBytes the most bytes reserved at a time; 0 grants nothing
   * @throws IllegalArgumentException if {@code limitBytes} is negative
   * @throws UnsupportedOperationException see {@link #malloc(String)}
   */
  static SubAllocator malloc(String libraryName, long limitBytes) {
    LimitedSubAllocator.checkLimit(limitBytes);
    MallocHeap heap = MallocHeap.ofLibrary(libraryName);
    return new MallocSubAllocator(() -> heap, limitBytes);
  }

  /**
   * This sub-allocator's memory, shown to visitors: each is told of a region after it was taken, in
   * the order given here, and before it goes back, in the reverse order. A visitor that throws
   * loses nothing: see {@link RegionVisitor}. Where the system refuses to take a region back,
   * visitors are told of it again at the next try.
   *
   * <p>Regions must go back through the sub-allocator they came from: the returned one knows only
   * its own. Bytes reserved, and the limit, are those of this one.
   *
   * <p>Threading: any thread.
   *
   * @param index handed to the visitors as it is; in TensorFlow the number of a NUMA node or device
   * @param visitors what to tell; none is allowed
   */
  default SubAllocator withVisitors(int index, RegionVisitor... visitors) {
    return new VisitedSubAllocator(this, index, List.of(visitors));
  }

  /**
   * This sub-allocator, watched: somebody is told when more than so many bytes are reserved, on a
   * daemon thread made for it.
   *
   * <p>Nothing is refused: for that there is {@link #bytesLimit}. Looked at whenever a region is
   * taken or given back through the returned one, so it costs a pool nothing on its way. Regions of
   * this and of the returned one may go back through either.
   *
   * <p>Threading: any thread.
   *
   * @param limitBytes the most bytes that should be reserved; 0 tells of the first region
   * @throws IllegalArgumentException if {@code limitBytes} is negative
   */
  default SubAllocator withSoftLimit(long limitBytes, SoftLimit told) {
    return withSoftLimit(limitBytes, SoftLimitSubAllocator::onThread, told);
  }

  /**
   * As {@link #withSoftLimit(long, SoftLimit)}, on an executor.
   *
   * <p>Threading: any thread.
   *
   * @param executor runs what is told; if it does so on the calling thread, that may hold locks of
   *     a pool, of which nothing must be asked then
   * @throws IllegalArgumentException if {@code limitBytes} is negative
   */
  default SubAllocator withSoftLimit(long limitBytes, Executor executor, SoftLimit told) {
    return new SoftLimitSubAllocator(this, limitBytes, executor, told);
  }

  /**
   * Whether its regions are in memory as a whole from the start, because every page is written when
   * they are made. What is not written costs memory only as it is used.
   *
   * <p>Threading: any thread; never changes.
   */
  default boolean isResident() {
    return false;
  }

  /**
   * Whether there are inaccessible guard pages around each region. An allocator that carves regions
   * gives every large block one of its own then.
   *
   * <p>Threading: any thread; never changes.
   */
  default boolean isGuarded() {
    return false;
  }

  /**
   * Makes sure that memory is available at all, and does what is else done at the first request:
   * loads JNA's native library, say. A pool asks when it is built.
   *
   * <p>Threading: any thread.
   *
   * @throws UnsupportedOperationException if {@link #alloc} would throw it whatever is asked for;
   *     the message says why, and what helps
   */
  default void checkUsable() {}

  /**
   * This sub-allocator if it can be used here, else another one, with a warning in the log that
   * says why.
   *
   * <p>Threading: any thread.
   *
   * @param other not asked whether it can be used
   */
  default SubAllocator ifUsableElse(SubAllocator other) {
    try {
      checkUsable();
      return this;
    } catch (UnsupportedOperationException e) {
      System.getLogger(SubAllocator.class.getName())
          .log(System.Logger.Level.WARNING, "memory comes from elsewhere: " + e.getMessage());
      return other;
    }
  }

  /**
   * Takes memory from the system. Whether it is zeroed depends on the kind.
   *
   * <p>Threading: any thread.
   *
   * @param alignment a power of two; the region's address is a multiple of it
   * @param bytes how many bytes, from 1 to 2^47; more than {@link MemoryRegion#MAX_BYTES} are
   *     mapped, whatever the kind
   * @return a region of at least {@code bytes} bytes
   * @throws IllegalArgumentException if an argument is out of its bounds
   * @throws UnsupportedOperationException if more than {@link MemoryRegion#MAX_BYTES} are asked for
   *     and nothing can be mapped here
   * @throws OutOfNativeMemoryException if the system or this sub-allocator's limit does not grant
   *     it
   */
  MemoryRegion alloc(long alignment, long bytes);

  /**
   * Gives a region back to the system.
   *
   * <p>Threading: any thread, when the region is no longer in use.
   *
   * @param region what {@link #alloc} of this sub-allocator returned
   * @throws IllegalArgumentException if the region is of another sub-allocator; nothing changes
   *     then
   * @throws IllegalStateException if the region was given back before, or if the system refuses to
   *     take it; nothing changes then
   */
  void free(MemoryRegion region);

  /**
   * Gives several regions back: all of them, whatever one of the frees throws. Takes no heap.
   *
   * <p>Threading: as {@link #free}.
   *
   * @param regions a null in it is no region
   * @throws RuntimeException what the last free that failed threw
   */
  default void freeAll(List<MemoryRegion> regions) {
    freeAll(regions, 0);
  }

  private void freeAll(List<MemoryRegion> regions, int first) {
    for (int i = first; i < regions.size(); i++) {
      MemoryRegion region = regions.get(i);
      try {
        if (region != null) {
          free(region);
        }
      } catch (Throwable e) {
        freeAll(regions, i + 1);
        throw e;
      }
    }
  }

  /**
   * Bytes taken from the system and not given back.
   *
   * <p>Threading: any thread.
   */
  long bytesReserved();

  /**
   * The most bytes this sub-allocator takes from the system at a time, empty if there is no limit
   * of its own.
   *
   * <p>Threading: any thread.
   */
  OptionalLong bytesLimit();

  /**
   * The most bytes that {@link #alloc} could reserve now: what is left of {@link #bytesLimit} and,
   * of direct memory, of the JVM's {@code MaxDirectMemorySize}; {@link Long#MAX_VALUE} if no limit
   * is known. The system may have less, and room to align a region comes on top.
   *
   * <p>Threading: any thread; true of the moment of the call.
   */
  default long bytesAvailable() {
    OptionalLong limit = bytesLimit();
    return limit.isPresent() ? Math.max(0, limit.getAsLong() - bytesReserved()) : Long.MAX_VALUE;
  }
}
