package io.prmalloc.recording;

/**
 * The queues of events from the threads that allocate to the thread that writes the file.
 *
 * <p>Threading: any thread adds; one takes.
 */
final class EventLanes {

  // Two threads that write to one place for each event pay for it each time: an atomic instruction,
  // and the journey of its cache line. So each thread has a lane, which it alone adds to. What is
  // lost by that is the order of all events. It comes back by Lamport's clock:
  //
  //   the stamp of an event is one more than the highest of the last stamps of all lanes.
  //
  // An event that happened before another, in the sense of the Java memory model, has published its
  // stamp before the other one reads it, and so has the lower stamp. Events with no order between
  // them may have the same or any, and go to the file in any order that is right for the rest. To
  // ask all lanes is to read one word of each; of a thread that does nothing it stays in the cache.
  // There are few lanes for that reason.
  //
  // What may be written. The writer chooses a stamp, and looks at all lanes again and again until
  // one look finds nothing new that may have that stamp or a lower one. (That is soon so: what is
  // added meanwhile has read the stamps published before, and has a higher one.) Whatever has that
  // stamp or a lower one then was there before the last look began, and what happened before it was
  // there earlier, so that look found it, with a lower stamp. So what was found, up to that stamp
  // and in the order of stamps, is right, though more may come: a thread can be held up between
  // reading the stamps and adding its event. That event goes to the file when it is found. It
  // happened before none that are there.
  //
  // A thread owns the lane of its number, as it has a stripe of a pool, if no other thread had it
  // first. The others share lanes that one has for one event at a time.
  //
  // When the lanes are sealed, what passed the question before and is added after the last look is
  // not written. It happened before nothing that is.

  private static final int OWN_LANES = 8;
  private static final int SHARED_LANES = 4;

  /** How often a thread that finds all shared lanes in use looks again at once. */
  private static final int SPINS = 100;

  private final EventLane[] lanes = new EventLane[OWN_LANES + SHARED_LANES];

  /** The first of a list of all lanes that were ever used. */
  private volatile EventLane newest;

  private volatile boolean sealed;

  // Of the writer.
  private long until;
  private long rival;

  /**
   * @param capacity how many words a lane holds
   */
  EventLanes(int capacity) {
    for (int number = 0; number < lanes.length; number++) {
      lanes[number] = new EventLane(number, capacity);
    }
  }

  /**
   * {@link EventLane#add} to the calling thread's own lane. Threading: any thread.
   *
   * @return {@link EventLane#NOT_ADDED} also if it has none, or the lanes are sealed
   */
  long add(int what, long value) {
    Thread caller = Thread.currentThread();
    EventLane lane = ownLane(caller);
    return lane.isOf(caller) && !sealed
        ? lane.add(caller, what, value, newest)
        : EventLane.NOT_ADDED;
  }

  private EventLane ownLane(Thread caller) {
    return lanes[(int) caller.getId() & (OWN_LANES - 1)];
  }

  /**
   * Adds an event wherever there is room.
   *
   * <p>Threading: any thread.
   *
   * @return its id, or {@link EventLane#NOT_ADDED}
   */
  long addAnywhere(int what, long value) {
    Thread caller = Thread.currentThread();
    EventLane own = ownLane(caller);
    if (own.isOf(caller) || own.own(caller)) {
      return addTo(own, caller, what, value);
    }
    int first = (int) caller.getId() & (SHARED_LANES - 1);
    for (int i = 0; i < SPINS * SHARED_LANES; i++) {
      EventLane shared = lanes[OWN_LANES + ((first + i) & (SHARED_LANES - 1))];
      if (shared.own(caller)) {
        try {
          return addTo(shared, caller, what, value);
        } finally {
          shared.disown();
        }
      }
      Thread.onSpinWait();
    }
    return EventLane.NOT_ADDED;
  }

  private long addTo(EventLane lane, Thread caller, int what, long value) {
    use(lane);
    return sealed ? EventLane.NOT_ADDED : lane.add(caller, what, value, newest);
  }

  private void use(EventLane lane) {
    if (!isUsed(lane)) {
      synchronized (this) {
        lane.putBefore(newest);
        // Before its first event, so that threads that add after that ask this lane, too.
        newest = lane;
      }
    }
  }

  private boolean isUsed(EventLane lane) {
    EventLane each = newest;
    while (each != null && each != lane) {
      each = each.next();
    }
    return each == lane;
  }

  /** Lets nothing more be added. Threading: any thread. */
  void seal() {
    sealed = true;
  }

  boolean isSealed() {
    return sealed;
  }

  /** How many events were ever added. Threading: any thread; exact when none is being added. */
  long events() {
    long sum = 0;
    for (EventLane lane = newest; lane != null; lane = lane.next()) {
      sum += lane.events();
    }
    return sum;
  }

  // ---- the writer's

  /**
   * Finds what may be written.
   *
   * @param most how many stamps more than the last time
   * @return up to which stamp
   */
  long look(int most) {
    long latest = 0;
    for (EventLane lane = newest; lane != null; lane = lane.next()) {
      lane.look(until);
      latest = Math.max(latest, lane.stampSeen());
    }
    until = Math.max(until, Math.min(until + most, latest));
    boolean again;
    do {
      again = false;
      for (EventLane lane = newest; lane != null; lane = lane.next()) {
        again |= lane.look(until);
      }
    } while (again);
    return until;
  }

  /**
   * Finds the lane whose first event comes before all other lanes'.
   *
   * @return null if there is none up to this stamp
   */
  EventLane first(long last) {
    EventLane first = null;
    long least = last + 1;
    rival = least;
    for (EventLane lane = newest; lane != null; lane = lane.next()) {
      long its = lane.firstStamp();
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

  /** Events of the lane found that have lower stamps than this come before other lanes', too. */
  long rival() {
    return rival;
  }

  /** Whether all that was found is taken. */
  boolean areTaken() {
    boolean taken = true;
    for (EventLane lane = newest; lane != null; lane = lane.next()) {
      taken &= lane.isTaken();
    }
    return taken;
  }

  /** Makes room by what was taken. */
  void free() {
    for (EventLane lane = newest; lane != null; lane = lane.next()) {
      lane.free();
    }
  }
}
