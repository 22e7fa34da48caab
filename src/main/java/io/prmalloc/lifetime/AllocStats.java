package io.prmalloc.lifetime;

/**
 * The life of one allocation, in logical ticks: it was taken at {@code beginTick} and given back at
 * {@code endTick}.
 *
 * <p>Threading: immutable.
 *
 * @param beginTick when it was taken
 * @param endTick when it was given back, at least {@code beginTick}
 * @param sizeBytes its size in bytes, header included
 * @param alignment what its address had to be a multiple of, a power of two
 */
public record AllocStats(long beginTick, long endTick, long sizeBytes, long alignment) {

  /**
   * Whether one block cannot serve both: any two of their end points are equal, or one begins or
   * ends strictly inside the other. That is, their closed intervals of ticks meet; ticks are
   * distinct in practice, so lives that merely follow each other do not.
   *
   * <p>Threading: any thread.
   */
  public boolean overlaps(AllocStats other) {
    return beginTick <= other.endTick && other.beginTick <= endTick;
  }

  // Not a record's own, for of the class that used that last the JDK keeps a reference in a static
  // field, and with it our class loader.
  @Override
  public boolean equals(Object other) {
    return other instanceof AllocStats life
        && beginTick == life.beginTick
        && endTick == life.endTick
        && sizeBytes == life.sizeBytes
        && alignment == life.alignment;
  }

  @Override
  public int hashCode() {
    int ticks = 31 * Long.hashCode(beginTick) + Long.hashCode(endTick);
    return 31 * (31 * ticks + Long.hashCode(sizeBytes)) + Long.hashCode(alignment);
  }
}
