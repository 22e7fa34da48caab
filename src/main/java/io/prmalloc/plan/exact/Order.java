package io.prmalloc.plan.exact;

/**
 * In which order a search tries tensors that have the same floor.
 *
 * <p>Threading: immutable.
 *
 * @param places by tensor its place, 0 for the first; not to be changed
 * @param slackFirst whether those come first that could move the least, and places decide between
 *     equals only
 * @param looksAtSections whether the search may go on where a section leaves few choices, which
 *     costs time where there are many tensors
 */
// Not public, and orders are not compared: a component that is an array does no harm.
@SuppressWarnings("ArrayRecordComponent")
record Order(int[] places, boolean slackFirst, boolean looksAtSections) {}
