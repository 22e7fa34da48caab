package io.prmalloc.internal.planner.index;

/**
 * An index that takes the smallest gap. Among gaps of equal size it takes the first that begins
 * where a tensor ends; if all of them begin with padding, it takes the last.
 *
 * <p>Threading: not safe.
 */
public final class PaddedGapIndex implements OffsetIndex {

  private final Lives lives;
  private final EdgeMap ends;
  private final GapIndex gaps;

  /**
   * Nothing is placed.
   *
   * @param least the smallest size that will be asked for, from 1
   */
  public PaddedGapIndex(Lives lives, long least) {
    this.lives = lives;
    ends = new EdgeMap(lives);
    gaps =
        new GapIndex(
            lives,
            least,
            GapIndex.AUTOMATIC,
            (start, first, last) -> start > 0 && !ends.isEdge(start, first, last));
  }

  @Override
  public long find(int tensor, long size) {
    return gaps.find(tensor, size);
  }

  @Override
  public void occupy(int tensor, long offset, long size) {
    gaps.occupy(tensor, offset, size);
    ends.add(offset + lives.size(tensor), tensor);
  }
}
