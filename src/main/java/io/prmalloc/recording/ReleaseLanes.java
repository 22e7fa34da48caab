package io.prmalloc.recording;

/**
 * Releases that need no tick of their own.
 *
 * <p>Threading: any thread adds; one takes.
 */
final class ReleaseLanes {

  // A tick costs an atomic instruction on a line that all threads fight for. A release can do
  // without, because only its place among the allocations matters. It notes how many ticks had been
  // claimed (a read) and goes on a lane of its thread's own (a store).
  //
  // Where it belongs. Let the release note position p, and let the writer be about to write tick c
  // when it finds it.
  //   - What happened before the release claimed its tick before, so has one below p. Right as long
  //     as the release is not written before tick p - 1.
  //   - What happened after it, and after the memory's next allocation above all, claimed a tick
  //     from p on, and was published after the lane's entry was. So a writer that first looks how
  //     far ticks are published, up to c, and then what the lanes hold, sees every release that
  //     happened before one of those. It puts them before tick p.
  //   - A release that it sees later with p below c, because its thread was held up between the
  //     read and the store, happened before none of the ticks below c: it is written at once, and
  //     that is no lie.
  //
  // Releases among each other. If one happened before another, and the writer saw the second and
  // not yet the first, then ticks between must not be written meanwhile. So it looks again until
  // there is nothing new from before c; those that begin meanwhile are of c or later. Releases
  // between which there is no tick may change places.
  //
  // A thread has the lane of its number, as it has a stripe of a pool, if no other thread had it
  // first. The others, and those whose lane is full, use the ring.

  private static final int LANES_PER_PROCESSOR = 4;
  private static final int MIN_LANES = 8;
  private static final int MAX_LANES = 64;

  private final ReleaseLane[] lanes;
  private final int mask;

  /** Of the writer. */
  private long rival;

  /**
   * @param events about how many events all lanes hold together
   */
  ReleaseLanes(int events) {
    int wanted = LANES_PER_PROCESSOR * Runtime.getRuntime().availableProcessors();
    int count = Integer.highestOneBit(Math.min(MAX_LANES, Math.max(MIN_LANES, wanted)));
    lanes = new ReleaseLane[count];
    mask = count - 1;
    int capacity = Integer.highestOneBit(Math.max(1, events / count));
    for (int i = 0; i < count; i++) {
      lanes[i] = new ReleaseLane(capacity);
    }
  }

  private ReleaseLane laneOf(Thread thread) {
    return lanes[(int) thread.getId() & mask];
  }

  /** {@link ReleaseLane#add} to the calling thread's lane. Threading: any thread. */
  boolean add(long id, long position) {
    Thread caller = Thread.currentThread();
    return laneOf(caller).add(caller, id, position);
  }

  /** Gives the calling thread a lane if its own is free. Threading: any thread. */
  void own() {
    laneOf(Thread.currentThread()).own();
  }

  /** How many were ever added. Threading: any thread. */
  long added() {
    long sum = 0;
    for (ReleaseLane lane : lanes) {
      sum += lane.added();
    }
    return sum;
  }

  // ---- the writer's

  /** Sees all that happened before what has a tick below this one. Threading: the writer. */
  void look(long tick) {
    boolean again;
    do {
      again = false;
      for (ReleaseLane lane : lanes) {
        again |= lane.look(tick);
      }
    } while (again);
  }

  /**
   * Finds the lane whose first release comes before all other lanes'.
   *
   * @return null if there is none of this position or one before
   */
  ReleaseLane first(long position) {
    ReleaseLane first = null;
    long least = position + 1;
    rival = least;
    for (ReleaseLane lane : lanes) {
      long its = lane.position();
      if (its < least) {
        rival = least;
        least = its;
        first = lane;
      } else {
        rival = Math.min(rival, its);
      }
    }
    return first;
  }

  /** Releases of the lane found that come before this position come before other lanes', too. */
  long rival() {
    return rival;
  }

  /** Makes room by what was taken. */
  void free() {
    for (ReleaseLane lane : lanes) {
      lane.free();
    }
  }
}
