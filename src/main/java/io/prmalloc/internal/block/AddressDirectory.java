package io.prmalloc.internal.block;

import io.prmalloc.MemoryRegion;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Finds the block in which an address lies, without reading memory at the address. So a foreign
 * address is safe to look up.
 *
 * <p>Threading: any thread.
 */
public final class AddressDirectory {

  private static final Logger LOGGER = SafeLog.logger(AddressDirectory.class);

  // Every deallocateRaw makes a lookup; changes happen only when a slab or an arena is added or
  // removed. So the spans lie sorted by address in an immutable snapshot that is copied on change
  // and published by a volatile write.
  //
  // Reading an address may cost a native call, and users of handles alone never need one: until
  // enable() the spans are a plain set.

  /** A region whose blocks can be told by offset. */
  public interface Span {
    MemoryRegion region();

    /** The block that contains the offset, or null if there is none. */
    Block blockAt(long offset);
  }

  /** The spans by address. Once it is made a span may go, and nothing else changes. */
  private static final class Snapshot {
    private final long[] starts;
    private final long[] ends;
    private final Span[] spans;

    Snapshot(long[] starts, long[] ends, Span[] spans) {
      this.starts = starts;
      this.ends = ends;
      this.spans = spans;
    }

    /** Where a span is that is there. Not by its address, for a user's region may throw. */
    int indexOf(Span span) {
      int at = 0;
      while (spans[at] != span) {
        at++;
      }
      return at;
    }

    /** Without the places of removed spans. */
    Snapshot compact() {
      Snapshot dense = this;
      for (int i = spans.length - 1; i >= 0; i--) {
        if (spans[i] == null) {
          dense = without(dense, i);
        }
      }
      return dense;
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Set<Span> all = new LinkedHashSet<>();
  private volatile Snapshot snapshot;

  public boolean isEnabled() {
    return snapshot != null;
  }

  /**
   * Learns the addresses of all spans.
   *
   * @throws IllegalStateException if this JVM cannot tell addresses; nothing has changed then
   */
  public void enable() {
    lock.lock();
    try {
      if (snapshot == null) {
        Snapshot learnt = new Snapshot(new long[0], new long[0], new Span[0]);
        for (Span span : all) {
          learnt = with(learnt, span);
        }
        snapshot = learnt;
      }
    } finally {
      lock.unlock();
    }
  }

  public void add(Span span) {
    lock.lock();
    try {
      // Made before anything changes: it takes heap, which may be exhausted.
      Snapshot next = snapshot == null ? null : with(snapshot.compact(), span);
      all.add(span);
      snapshot = next;
    } finally {
      lock.unlock();
    }
  }

  public void remove(Span span) {
    lock.lock();
    try {
      // A span that could not be added is not in the directory.
      if (all.remove(span) && snapshot != null) {
        remove(snapshot, span);
      }
    } finally {
      lock.unlock();
    }
  }

  private void remove(Snapshot old, Span span) {
    int at = old.indexOf(span);
    // So that it is not found whether there is heap for another snapshot or not.
    old.spans[at] = null;
    try {
      snapshot = without(old, at);
    } catch (OutOfMemoryError noHeap) {
      SafeLog.log(LOGGER, Level.DEBUG, "a span leaves its place in the directory later", noHeap);
    }
  }

  /** The block that contains an address, or null if it is in none of the spans. */
  public Block find(long address) {
    Snapshot seen = snapshot;
    if (seen == null) {
      return null;
    }
    int low = 0;
    int high = seen.starts.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      if (seen.starts[middle] > address) {
        high = middle - 1;
      } else if (seen.ends[middle] <= address) {
        low = middle + 1;
      } else {
        Span span = seen.spans[middle];
        return span == null ? null : span.blockAt(address - seen.starts[middle]);
      }
    }
    return null;
  }

  private static Snapshot with(Snapshot old, Span span) {
    long start = span.region().address();
    int at = -Arrays.binarySearch(old.starts, start) - 1;
    int size = old.starts.length;
    long[] starts = Arrays.copyOf(old.starts, size + 1);
    long[] ends = Arrays.copyOf(old.ends, size + 1);
    Span[] spans = Arrays.copyOf(old.spans, size + 1);
    System.arraycopy(old.starts, at, starts, at + 1, size - at);
    System.arraycopy(old.ends, at, ends, at + 1, size - at);
    System.arraycopy(old.spans, at, spans, at + 1, size - at);
    starts[at] = start;
    ends[at] = start + span.region().sizeBytes();
    spans[at] = span;
    return new Snapshot(starts, ends, spans);
  }

  private static Snapshot without(Snapshot old, int at) {
    int size = old.starts.length;
    long[] starts = Arrays.copyOf(old.starts, size - 1);
    long[] ends = Arrays.copyOf(old.ends, size - 1);
    Span[] spans = Arrays.copyOf(old.spans, size - 1);
    System.arraycopy(old.starts, at + 1, starts, at, size - 1 - at);
    System.arraycopy(old.ends, at + 1, ends, at, size - 1 - at);
    System.arraycopy(old.spans, at + 1, spans, at, size - 1 - at);
    return new Snapshot(starts, ends, spans);
  }
}
