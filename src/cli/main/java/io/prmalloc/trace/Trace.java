package io.prmalloc.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The allocations and releases of one step of a program, in order.
 *
 * <p>Every allocation is a tensor, numbered from 0 in the order of allocation, and has an id, which
 * is what the file calls it: an id may come again once its tensor is released, and is another
 * tensor then. A step is closed: each tensor is allocated once and released once, so steps can
 * follow each other without end.
 *
 * <p>Threading: immutable.
 */
public final class Trace {

  /** The largest tensor a trace may hold, in bytes: 1 TiB. */
  public static final long MAX_TENSOR_BYTES = 1L << 40;

  private final String name;
  private final String[] ids;
  private final long[] sizesBytes;
  private final int[] events;
  private final long loadBytes;

  private Trace(String name, String[] ids, long[] sizesBytes, int[] events, long loadBytes) {
    this.name = name;
    this.ids = ids;
    this.sizesBytes = sizesBytes;
    this.events = events;
    this.loadBytes = loadBytes;
  }

  /**
   * Starts an empty step.
   *
   * <p>Threading: any thread; the builder is for one thread.
   *
   * @param name what people call the step, such as the path of its file
   */
  public static Builder builder(String name) {
    return new Builder(name);
  }

  /** What people call the step. Threading: any thread. */
  public String name() {
    return name;
  }

  /** How many tensors the step allocates, and so releases; 0 for an empty step. */
  public int tensorCount() {
    return sizesBytes.length;
  }

  /** How many events the step has: twice {@link #tensorCount}. Threading: any thread. */
  public int eventCount() {
    return events.length;
  }

  /**
   * What the file calls a tensor.
   *
   * <p>Threading: any thread.
   *
   * @param tensor from 0 to {@link #tensorCount} − 1
   * @throws IndexOutOfBoundsException if there is no such tensor
   */
  public String id(int tensor) {
    return ids[tensor];
  }

  /**
   * Size of a tensor in bytes, from 0 to {@link #MAX_TENSOR_BYTES}.
   *
   * <p>Threading: any thread.
   *
   * @param tensor from 0 to {@link #tensorCount} − 1
   * @throws IndexOutOfBoundsException if there is no such tensor
   */
  public long sizeBytes(int tensor) {
    return sizesBytes[tensor];
  }

  /**
   * One event: {@code t} where tensor {@code t} is allocated, {@code ~t} (which is negative) where
   * it is released.
   *
   * <p>Threading: any thread.
   *
   * @param index from 0 to {@link #eventCount} − 1
   * @throws IndexOutOfBoundsException if there is no such event
   */
  public int event(int index) {
    return events[index];
  }

  /** All events as {@link #event} has them, a new array. Threading: any thread. */
  public int[] events() {
    return events.clone();
  }

  /** The sizes of all tensors in bytes, a new array. Threading: any thread. */
  public long[] sizesBytes() {
    return sizesBytes.clone();
  }

  /**
   * The load: the most bytes that live at one time, sizes as they are. No allocator can do with
   * less. 0 for an empty step.
   *
   * <p>Threading: any thread.
   */
  public long loadBytes() {
    return loadBytes;
  }

  /**
   * The load with every size rounded up to a multiple of an alignment: no allocator that aligns so
   * can do with less.
   *
   * <p>Threading: any thread.
   *
   * @param alignment a power of two, at most {@link #MAX_TENSOR_BYTES}; 1 rounds nothing
   * @throws IllegalArgumentException if {@code alignment} is none of these
   */
  public long alignedLoadBytes(long alignment) {
    if (alignment < 1 || alignment > MAX_TENSOR_BYTES || Long.bitCount(alignment) != 1) {
      throw new IllegalArgumentException(
          "alignment " + alignment + " is not a power of two from 1 to " + MAX_TENSOR_BYTES);
    }
    long liveBytes = 0;
    long peakBytes = 0;
    for (int event : events) {
      long bytes = sizesBytes[event >= 0 ? event : ~event];
      long rounded = (bytes + alignment - 1) & -alignment;
      liveBytes = event >= 0 ? Math.addExact(liveBytes, rounded) : liveBytes - rounded;
      peakBytes = Math.max(peakBytes, liveBytes);
    }
    return peakBytes;
  }

  /** The largest tensor in bytes, 0 for an empty step. Threading: any thread. */
  public long largestTensorBytes() {
    return Arrays.stream(sizesBytes).max().orElse(0);
  }

  @Override
  public String toString() {
    return "Trace[" + name + ": " + tensorCount() + " tensors, load " + loadBytes + " bytes]";
  }

  /**
   * Collects the events of one step and refuses those that cannot be. A refused event leaves the
   * builder as it was.
   *
   * <p>Threading: one thread at a time.
   */
  public static final class Builder {

    private final String name;
    private final List<String> ids = new ArrayList<>();
    private long[] sizesBytes = new long[64];
    private int[] events = new int[128];
    private int eventCount;
    // Ordered, so that closing the step releases what is left in the order it was allocated.
    private final Map<String, Integer> liveById = new LinkedHashMap<>();
    private long liveBytes;
    private long peakBytes;

    private Builder(String name) {
      this.name = name;
    }

    /**
     * Allocates a tensor.
     *
     * <p>Threading: one thread at a time.
     *
     * @param id what it is called; free to be taken again after its release
     * @param bytes its size, from 0 to {@link Trace#MAX_TENSOR_BYTES}
     * @return this builder
     * @throws IllegalArgumentException if the id is empty or alive, the size is out of its bounds,
     *     or the bytes alive at one time pass 2^63 − 1
     */
    public Builder allocate(String id, long bytes) {
      if (id.isEmpty()) {
        throw new IllegalArgumentException("a tensor's id is empty");
      }
      if (bytes < 0) {
        throw new IllegalArgumentException(
            "size " + bytes + " of tensor " + id + " is negative; the least is 0");
      }
      if (bytes > MAX_TENSOR_BYTES) {
        throw new IllegalArgumentException(
            "size " + bytes + " of tensor " + id + " exceeds " + MAX_TENSOR_BYTES);
      }
      if (liveById.containsKey(id)) {
        throw new IllegalArgumentException("tensor " + id + " is allocated while it is alive");
      }
      if (liveBytes > Long.MAX_VALUE - bytes) {
        throw new IllegalArgumentException(
            "tensor " + id + " of " + bytes + " bytes takes the live bytes over 2^63 - 1");
      }
      int tensor = ids.size();
      append(tensor);
      if (tensor == sizesBytes.length) {
        sizesBytes = Arrays.copyOf(sizesBytes, 2 * tensor);
      }
      sizesBytes[tensor] = bytes;
      ids.add(id);
      liveById.put(id, tensor);
      liveBytes += bytes;
      peakBytes = Math.max(peakBytes, liveBytes);
      return this;
    }

    /**
     * Releases a tensor.
     *
     * <p>Threading: one thread at a time.
     *
     * @param id of a tensor that is alive
     * @return this builder
     * @throws IllegalArgumentException if no such tensor is alive
     */
    public Builder release(String id) {
      Integer tensor = liveById.remove(id);
      if (tensor == null) {
        throw new IllegalArgumentException(
            ids.contains(id)
                ? "tensor " + id + " is released a second time"
                : "tensor " + id + " is released but was never allocated");
      }
      append(~tensor);
      liveBytes -= sizesBytes[tensor];
      return this;
    }

    /** Whether a tensor of this id is alive now. Threading: one thread at a time. */
    boolean isLive(String id) {
      return liveById.containsKey(id);
    }

    /**
     * Closes the step: what is still alive lives to the end and is released there, in the order of
     * allocation. The builder is used up.
     *
     * <p>Threading: one thread at a time.
     */
    public Trace build() {
      for (int tensor : liveById.values()) {
        append(~tensor);
      }
      liveById.clear();
      return new Trace(
          name,
          ids.toArray(new String[0]),
          Arrays.copyOf(sizesBytes, ids.size()),
          Arrays.copyOf(events, eventCount),
          peakBytes);
    }

    private void append(int event) {
      if (eventCount == events.length) {
        events = Arrays.copyOf(events, 2 * eventCount);
      }
      events[eventCount++] = event;
    }
  }
}
