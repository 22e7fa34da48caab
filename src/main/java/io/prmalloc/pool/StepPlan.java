package io.prmalloc.pool;

import io.prmalloc.Allocator;
import io.prmalloc.kept.KeptStep;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * Where every request of a step that repeats lies in its arena, and what must be home before it may
 * be served.
 *
 * <p>Threading: immutable.
 */
final class StepPlan {

  // One block per place and not per tensor: tensors that have exactly the same bytes never live
  // together, so they can have one block. A step then touches a few hundred blocks and not
  // thousands, and those stay in the processor's cache. (One block for all that begin at the same
  // byte would not do: the place of a large tensor that is gone would be taken for in use because
  // a small one is at its beginning.)
  //
  // "Before": going through the requests, the bytes of the arena are divided into pieces, each of
  // the block that had them last. A request takes its pieces away from their blocks; those are the
  // blocks that must be home. A piece is taken away once, and a request makes three at most, so
  // there are no more than three such questions per request, however the plan looks.

  /** What every offset is a multiple of. */
  static final long ALIGNMENT = Allocator.DEFAULT_ALIGNMENT;

  private record Place(long offset, long bytes) {}

  private record Piece(long end, int block) {}

  private final Recording recording;
  private final OffsetsAssignment offsets;
  private final int[] blockOf;
  private final long[] blockOffsets;
  private final long[] blockBytes;
  private final int[][] before;
  private final int[] last;

  /**
   * @param recording the requests and how long each lives
   * @param offsets a valid plan for {@link #records} of it
   */
  StepPlan(Recording recording, OffsetsAssignment offsets) {
    this.recording = recording;
    this.offsets = offsets;
    int requests = recording.requests();
    this.blockOf = new int[requests];
    this.before = new int[requests][];
    Map<Place, Integer> blocks = new LinkedHashMap<>();
    for (int request = 0; request < requests; request++) {
      Place place = new Place(offsets.offset(request), recording.blockBytes(request));
      blockOf[request] = blocks.computeIfAbsent(place, at -> blocks.size());
    }
    this.blockOffsets = blocks.keySet().stream().mapToLong(Place::offset).toArray();
    this.blockBytes = blocks.keySet().stream().mapToLong(Place::bytes).toArray();
    this.last = findBefore();
  }

  private int[] findBefore() {
    NavigableMap<Long, Piece> pieces = new TreeMap<>();
    for (int request = 0; request < blockOf.length; request++) {
      long start = offsets.offset(request);
      long end = start + recording.blockBytes(request);
      cut(pieces, start);
      cut(pieces, end);
      Set<Integer> taken = new LinkedHashSet<>();
      Map<Long, Piece> within = pieces.subMap(start, end);
      within.values().forEach(piece -> taken.add(piece.block));
      taken.remove(blockOf[request]);
      within.clear();
      pieces.put(start, new Piece(end, blockOf[request]));
      before[request] = taken.isEmpty() ? null : toArray(taken);
    }
    Set<Integer> remaining = new LinkedHashSet<>();
    pieces.values().forEach(piece -> remaining.add(piece.block));
    return toArray(remaining);
  }

  private static void cut(NavigableMap<Long, Piece> pieces, long at) {
    Map.Entry<Long, Piece> piece = pieces.lowerEntry(at);
    if (piece != null && piece.getValue().end > at) {
      pieces.put(at, piece.getValue());
      pieces.put(piece.getKey(), new Piece(at, piece.getValue().block));
    }
  }

  private static int[] toArray(Set<Integer> numbers) {
    return numbers.stream().mapToInt(Integer::intValue).toArray();
  }

  /** The tensors of a recording as planners want them: a task is a request. */
  static List<TensorUsageRecord> records(Recording recording) {
    List<TensorUsageRecord> records = new ArrayList<>();
    for (int request = 0; request < recording.requests(); request++) {
      records.add(
          new TensorUsageRecord(
              recording.blockBytes(request), request, recording.end(request) - 1));
    }
    return records;
  }

  /** A plan that was kept. */
  static StepPlan of(KeptStep kept) {
    return new StepPlan(
        new Recording(kept.sizesBytes(), kept.ends(), 0),
        OffsetsAssignment.of(kept.records(), kept.offsets(), ALIGNMENT));
  }

  KeptStep keep(Object key) {
    return new KeptStep(key, recording.sizesBytes, recording.ends, offsets.offsets());
  }

  Recording recording() {
    return recording;
  }

  OffsetsAssignment offsets() {
    return offsets;
  }

  int requests() {
    return blockOf.length;
  }

  int blocks() {
    return blockOffsets.length;
  }

  /** The block of a request. */
  int blockOf(int request) {
    return blockOf[request];
  }

  long blockOffset(int block) {
    return blockOffsets[block];
  }

  long blockBytes(int block) {
    return blockBytes[block];
  }

  /** The other blocks that must be home before a request is served, or null for none. */
  int[] before(int request) {
    return before[request];
  }

  /** The blocks that, if they are home after the last request, say that all are. */
  int[] last() {
    return last;
  }

  @Override
  public String toString() {
    return "StepPlan[" + requests() + " requests, " + offsets.totalBytes() + " bytes]";
  }

  /**
   * The requests of a step, in order, and how long each of them lived.
   *
   * <p>Threading: immutable.
   */
  static final class Recording {
    private final long[] sizesBytes;
    private final int[] ends;
    private final int roomBytes;

    /**
     * @param sizesBytes bytes of each request, from 1
     * @param ends how many requests had been made when each was released, its own among them; the
     *     number of all of them for one that outlived the step
     * @param roomBytes what every request needs beside its bytes
     */
    Recording(long[] sizesBytes, int[] ends, int roomBytes) {
      this.sizesBytes = sizesBytes;
      this.ends = ends;
      this.roomBytes = roomBytes;
    }

    int requests() {
      return sizesBytes.length;
    }

    long sizeBytes(int request) {
      return sizesBytes[request];
    }

    /** What a request's block must have. */
    long blockBytes(int request) {
      return sizesBytes[request] + roomBytes;
    }

    /** Not copied: for reading only. */
    long[] sizesBytes() {
      return sizesBytes;
    }

    int end(int request) {
      return ends[request];
    }

    /** Whether the same was asked for in the same order. */
    boolean repeats(Recording other) {
      return Arrays.equals(sizesBytes, other.sizesBytes);
    }

    /** The same requests, each living as long as in the one of the two where it lived longer. */
    Recording longest(Recording other) {
      int[] longest = ends.clone();
      for (int request = 0; request < longest.length; request++) {
        longest[request] = Math.max(longest[request], other.ends[request]);
      }
      return new Recording(sizesBytes, longest, roomBytes);
    }
  }
}
