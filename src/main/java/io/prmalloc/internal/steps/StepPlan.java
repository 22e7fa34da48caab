package io.prmalloc.internal.steps;

import io.prmalloc.Allocator;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.kept.KeptStep;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * The place of every request of a step in its arena, and the blocks that must be free before it may
 * be served.
 *
 * <p>Threading: immutable.
 */
final class StepPlan {

  // One block per place and not per tensor: tensors that have exactly the same bytes never live
  // together, so they can have one block. A step then touches a few hundred blocks and not
  // thousands, and those stay in the processor's cache. (One block for all tensors that begin at
  // the same byte would be wrong: the place of a freed large tensor would count as in use because a
  // small one is at its beginning.)
  //
  // "Before": going through the requests, the bytes of the arena are divided into pieces, each of
  // the block that had them last. A request takes its pieces away from their blocks; those are the
  // blocks that must be free. A piece is taken away once, and a request makes three at most, so
  // there are no more than three such questions per request, however the plan looks.

  /** What every offset is a multiple of. */
  static final long ALIGNMENT = Allocator.DEFAULT_ALIGNMENT;

  /** By load. */
  static final Comparator<StepPlan> LARGEST_FIRST =
      Comparator.<StepPlan>comparingLong(plan -> plan.recording.loadBytes()).reversed();

  /** The most bytes of a block: what fits an int, and is such a multiple. */
  private static final long MAX_BYTES = Integer.MAX_VALUE & -ALIGNMENT;

  /** Whether a request may have a place: it has bytes, and no more than a buffer. */
  static boolean canPlan(long bytes) {
    return bytes > 0 && !Requests.isLarge(bytes);
  }

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

  KeptStep keep(Object key, boolean implicit) {
    return new KeptStep(key, implicit, recording.sizesBytes, recording.ends, offsets.offsets());
  }

  /** What it has places for: the most bytes and the longest life of each request. */
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

  /** The other blocks that must be free before a request is served, or null for none. */
  int[] before(int request) {
    return before[request];
  }

  /** The blocks that imply, if they are free after the last request, that all are. */
  int[] last() {
    return last;
  }

  /**
   * What was used of this plan.
   *
   * @param largest the most bytes that each block was asked for, 0 if it was not
   */
  Recording used(long[] largest) {
    long[] sizes = new long[requests()];
    int used = 0;
    for (int request = 0; request < sizes.length; request++) {
      long bytes = largest[blockOf[request]];
      used = bytes > 0 ? request + 1 : used;
      // No request has no bytes. Requests between others that were used stay in the plan.
      sizes[request] = Math.max(1, bytes);
    }
    return new Recording(sizes, recording.ends, recording.roomBytes).first(used);
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
    /** In steps of one order, one of so many requests may be freed at another time. */
    private static final int MOVED_PART = 8;

    private final long[] sizesBytes;
    private final int[] ends;
    private final int roomBytes;

    /**
     * @param sizesBytes bytes of each request, from 1; not copied
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

    /** The bytes that a request's block must have. */
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

    /** The most bytes that live at once, each block whole. */
    long loadBytes() {
      long[] endingBytes = new long[requests() + 1];
      long now = 0;
      long most = 0;
      for (int request = 0; request < requests(); request++) {
        long bytes = blockBytes(request);
        endingBytes[ends[request]] += bytes;
        now += bytes - endingBytes[request];
        most = Math.max(most, now);
      }
      return most;
    }

    /** The first requests, at most so many; a life that is longer ends with them. */
    Recording first(int most) {
      if (most >= requests()) {
        return this;
      }
      int[] shorter = Arrays.copyOf(ends, most);
      Arrays.setAll(shorter, request -> Math.min(shorter[request], most));
      return new Recording(Arrays.copyOf(sizesBytes, most), shorter, roomBytes);
    }

    /** Whether the requests have the same sizes in the same order. */
    boolean repeats(Recording other) {
      return Arrays.equals(sizesBytes, other.sizesBytes);
    }

    /** Whether another step has as many requests, nearly all of which lived as long as here. */
    boolean hasOrderOf(Recording other) {
      int most = requests() / MOVED_PART;
      int moved = requests() == other.requests() ? 0 : most + 1;
      for (int request = 0; moved <= most && request < requests(); request++) {
        moved += ends[request] == other.ends[request] ? 0 : 1;
      }
      return moved <= most;
    }

    /** Whether a plan for this has a place for each request of another step. */
    boolean fits(Recording other) {
      boolean fits = other.requests() <= requests();
      for (int request = 0; fits && request < other.requests(); request++) {
        fits = other.sizesBytes[request] <= sizesBytes[request];
      }
      return fits;
    }

    /** Whether a plan for this serves another step. */
    boolean covers(Recording other) {
      boolean covers = fits(other);
      for (int request = 0; covers && request < other.requests(); request++) {
        covers = other.ends[request] <= ends[request];
      }
      return covers;
    }

    /**
     * The requests of both, each as large and as long-lived as in the one where it is more so. If
     * one of them has fewer requests, the rest is as in the other.
     */
    Recording envelope(Recording other) {
      Recording longer = other.requests() > requests() ? other : this;
      Recording shorter = longer == this ? other : this;
      long[] sizes = longer.sizesBytes.clone();
      int[] latest = longer.ends.clone();
      for (int request = 0; request < shorter.requests(); request++) {
        sizes[request] = Math.max(sizes[request], shorter.sizesBytes[request]);
        latest[request] = Math.max(latest[request], shorter.ends[request]);
      }
      return new Recording(sizes, latest, roomBytes);
    }

    /** The same with every size times a factor, from 1, and rounded up to {@link #ALIGNMENT}. */
    Recording times(double factor) {
      long[] sizes = sizesBytes.clone();
      for (int request = 0; request < sizes.length; request++) {
        long larger = ((long) (sizes[request] * factor) + ALIGNMENT - 1) & -ALIGNMENT;
        sizes[request] = Math.max(sizes[request], Math.min(larger, MAX_BYTES - roomBytes));
      }
      return new Recording(sizes, ends, roomBytes);
    }
  }
}
