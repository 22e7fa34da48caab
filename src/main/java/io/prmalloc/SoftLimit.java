package io.prmalloc;

/**
 * Is called when reserved memory exceeds a soft limit: the moment to drop a cache, to shed load, or
 * to trim a pool.
 */
@FunctionalInterface
public interface SoftLimit {

  /**
   * Reserved bytes rose above the limit. Told once; again only after they fell to nine tenths of it
   * and rose once more.
   *
   * <p>Threading: the executor given to {@link SubAllocator#withSoftLimit}; crossings follow each
   * other, but the next may come while this one is still being dealt with.
   *
   * @param bytesReserved when it was noticed, more than the limit
   * @param limitBytes the limit
   */
  void exceeded(long bytesReserved, long limitBytes);
}
