package io.prmalloc;

/**
 * Is called for every region that a {@link SubAllocator} takes from the system, and for every
 * region that goes back: to register memory with a network card or a device, for example, and to
 * deregister it.
 *
 * <p>Modelled on the {@code Visitor} functions of TensorFlow's {@code SubAllocator}. There they are
 * two lists; here the two ends of one visitor belong together, so that if a later visitor refuses a
 * region, those before it are told that it goes.
 *
 * <p>Threading: both methods are called by whichever thread takes or frees a region, by several at
 * a time for several regions, and for one region one after the other.
 */
public interface RegionVisitor {

  /** One end of a visitor. */
  @FunctionalInterface
  interface Visit {
    /**
     * Threading: as {@link RegionVisitor} says.
     *
     * @param region the memory; it has an address and a buffer
     * @param index what was given to {@link SubAllocator#withVisitors}: in TensorFlow the number of
     *     a NUMA node or device
     * @param bytes size of the region
     */
    void visit(MemoryRegion region, int index, long bytes);
  }

  /**
   * After a region was taken, before other code sees it. If this throws, the region goes back, and
   * the exception to the caller that asked for memory.
   *
   * <p>Threading: as {@link RegionVisitor} says.
   *
   * @param region the memory
   * @param index see {@link Visit#visit}
   * @param bytes size of the region
   */
  void allocated(MemoryRegion region, int index, long bytes);

  /**
   * Before a region goes back. If this throws, the region goes back all the same, after all
   * visitors were called, and then the exception goes on.
   *
   * <p>Threading: as {@link RegionVisitor} says.
   *
   * @param region the memory, still usable
   * @param index see {@link Visit#visit}
   * @param bytes size of the region
   */
  void freeing(MemoryRegion region, int index, long bytes);

  /**
   * A visitor of both ends.
   *
   * <p>Threading: any thread.
   */
  static RegionVisitor of(Visit onAlloc, Visit onFree) {
    return new RegionVisitor() {
      @Override
      public void allocated(MemoryRegion region, int index, long bytes) {
        onAlloc.visit(region, index, bytes);
      }

      @Override
      public void freeing(MemoryRegion region, int index, long bytes) {
        onFree.visit(region, index, bytes);
      }
    };
  }

  /**
   * A visitor of regions that were taken.
   *
   * <p>Threading: any thread.
   */
  static RegionVisitor onAlloc(Visit visit) {
    return of(visit, (region, index, bytes) -> {});
  }

  /**
   * A visitor of regions that go back.
   *
   * <p>Threading: any thread.
   */
  static RegionVisitor onFree(Visit visit) {
    return of((region, index, bytes) -> {}, visit);
  }
}
