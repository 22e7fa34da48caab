package io.prmalloc.internal.jfr;

import java.util.List;
import java.util.Objects;
import jdk.jfr.Event;

/**
 * Writes the events of Flight Recorder.
 *
 * <p>Threading: any thread.
 */
public final class FlightEvents {

  // A run-time image may lack the recorder, and then no class that extends its Event can be loaded.
  // So they are named in methods that are not called there.

  private static final boolean PRESENT = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

  /** Whose plan was made. */
  public enum PlanKind {
    /** That of a pool, by lifetimes. */
    POOL,
    /** That of a kind of steps, by offsets. */
    STEP
  }

  /** Which limit was hit. */
  public enum LimitKind {
    /** A soft one: nothing was refused. */
    SOFT,
    /** A sub-allocator's. */
    HARD,
    /** The system's, or that of the JVM. */
    SYSTEM
  }

  private FlightEvents() {}

  /**
   * Initializes the events' classes, so that none is when something happens, and the heap may be
   * exhausted.
   *
   * <p>Threading: any thread.
   */
  public static void initialize() {
    if (PRESENT) {
      Recorded.initialize();
    }
    Objects.requireNonNull(PlanKind.POOL);
    Objects.requireNonNull(LimitKind.SOFT);
  }

  /**
   * Before memory is taken from a sub-allocator.
   *
   * <p>Threading: any thread.
   *
   * @return what to hand to {@link #outsideAllocation}: 0 if it is not recorded, else a time
   */
  public static long outsideAllocationStart() {
    return PRESENT && Recorded.isOutsideAllocation() ? Math.max(1, System.nanoTime()) : 0;
  }

  /**
   * Memory was taken from a sub-allocator for one request.
   *
   * <p>Threading: any thread.
   *
   * @param start what {@link #outsideAllocationStart} said
   */
  public static void outsideAllocation(long start, long bytes, long alignment) {
    if (start != 0) {
      Recorded.outsideAllocation(System.nanoTime() - start, bytes, alignment);
    }
  }

  /**
   * A planned request found no block.
   *
   * <p>Threading: any thread.
   *
   * @param known whether the plan has a bin for its size
   */
  public static void unservedRequest(long bytes, boolean known) {
    if (PRESENT) {
      Recorded.unservedRequest(bytes, known);
    }
  }

  /** A plan is made. Threading: any thread. */
  public static void planMade(PlanKind kind, long bytes, int blocks) {
    if (PRESENT) {
      Recorded.planMade(kind, bytes, blocks);
    }
  }

  /**
   * An attempt to learn a plan was given up.
   *
   * <p>Threading: any thread.
   *
   * @param reason why, for people
   * @param failures how many attempts of this planner failed so far
   */
  public static void learningFailed(String reason, int failures) {
    if (PRESENT) {
      Recorded.learningFailed(reason, failures);
    }
  }

  /** A pool serves from its plan. Threading: any thread. */
  public static void switchOver(long arenaBytes, long reserveNanos) {
    if (PRESENT) {
      Recorded.switchOver(arenaBytes, reserveNanos);
    }
  }

  /**
   * A limit was hit.
   *
   * <p>Threading: any thread.
   *
   * @param requestedBytes what was asked for
   * @param reservedBytes what was reserved then
   * @param limitBytes the limit, −1 if none is known
   */
  public static void limitHit(
      LimitKind kind, long requestedBytes, long reservedBytes, long limitBytes) {
    if (PRESENT) {
      Recorded.limitHit(kind, requestedBytes, reservedBytes, limitBytes);
    }
  }

  /**
   * Before a run of an engine outside of Java.
   *
   * <p>Threading: any thread.
   *
   * @return what to hand to {@link #engineRun}: 0 if it is not recorded, else a time
   */
  public static long engineRunStart() {
    return PRESENT && Recorded.isEngineRun() ? Math.max(1, System.nanoTime()) : 0;
  }

  /**
   * A run of an engine outside of Java has ended.
   *
   * <p>Threading: any thread.
   *
   * @param start what {@link #engineRunStart} said, not 0
   * @param refused whether memory was refused
   */
  public static void engineRun(
      long start, String engine, long tensors, long weights, long overrunPeak, boolean refused) {
    Recorded.engineRun(System.nanoTime() - start, engine, tensors, weights, overrunPeak, refused);
  }

  /**
   * A leak was found.
   *
   * <p>Threading: any thread.
   *
   * @param thread that took the memory
   * @param step in which step, −1 for none
   * @param ageNanos how long it has been out
   * @param reason why it is taken for leaked
   * @param stack where it was taken; turned to text only if it is recorded
   */
  public static void leakFound(
      long bytes,
      long alignment,
      String thread,
      long step,
      long ageNanos,
      String reason,
      List<StackTraceElement> stack) {
    if (PRESENT) {
      Recorded.leakFound(bytes, alignment, thread, step, ageNanos, reason, stack);
    }
  }

  /** What needs the recorder. */
  private static final class Recorded {

    static void initialize() {
      List<Event> all =
          List.of(
              new EngineRunEvent(),
              new LeakFoundEvent(),
              new LearningFailedEvent(),
              new LimitHitEvent(),
              new OutsideAllocationEvent(),
              new PlanMadeEvent(),
              new SwitchOverEvent(),
              new UnservedRequestEvent());
      all.forEach(Event::isEnabled);
    }

    static boolean isEngineRun() {
      return new EngineRunEvent().isEnabled();
    }

    static void engineRun(
        long nanos, String engine, long tensors, long weights, long overrunPeak, boolean refused) {
      EngineRunEvent event = new EngineRunEvent();
      event.engine = engine;
      event.runTime = nanos;
      event.tensors = tensors;
      event.weights = weights;
      event.overrunPeak = overrunPeak;
      event.refused = refused;
      event.commit();
    }

    static boolean isOutsideAllocation() {
      return new OutsideAllocationEvent().isEnabled();
    }

    static void outsideAllocation(long nanos, long bytes, long alignment) {
      OutsideAllocationEvent event = new OutsideAllocationEvent();
      event.bytes = bytes;
      event.alignment = alignment;
      event.systemTime = nanos;
      event.commit();
    }

    static void unservedRequest(long bytes, boolean known) {
      UnservedRequestEvent event = new UnservedRequestEvent();
      if (event.isEnabled()) {
        event.bytes = bytes;
        event.known = known;
        event.commit();
      }
    }

    static void planMade(PlanKind kind, long bytes, int blocks) {
      PlanMadeEvent event = new PlanMadeEvent();
      if (event.isEnabled()) {
        event.kind = kind.name();
        event.bytes = bytes;
        event.blocks = blocks;
        event.commit();
      }
    }

    static void learningFailed(String reason, int failures) {
      LearningFailedEvent event = new LearningFailedEvent();
      if (event.isEnabled()) {
        event.reason = reason;
        event.failures = failures;
        event.commit();
      }
    }

    static void switchOver(long arenaBytes, long reserveNanos) {
      SwitchOverEvent event = new SwitchOverEvent();
      if (event.isEnabled()) {
        event.arenaBytes = arenaBytes;
        event.reserveTime = reserveNanos;
        event.commit();
      }
    }

    static void limitHit(LimitKind kind, long requestedBytes, long reservedBytes, long limitBytes) {
      LimitHitEvent event = new LimitHitEvent();
      if (event.isEnabled()) {
        event.kind = kind.name();
        event.requestedBytes = requestedBytes;
        event.reservedBytes = reservedBytes;
        event.limitBytes = limitBytes;
        event.commit();
      }
    }

    static void leakFound(
        long bytes,
        long alignment,
        String thread,
        long step,
        long ageNanos,
        String reason,
        List<StackTraceElement> stack) {
      LeakFoundEvent event = new LeakFoundEvent();
      if (event.isEnabled()) {
        event.bytes = bytes;
        event.alignment = alignment;
        event.allocatingThread = thread;
        event.step = step;
        event.age = ageNanos;
        event.reason = reason;
        event.allocationStack = String.join("\n", stack.stream().map(String::valueOf).toList());
        event.commit();
      }
    }
  }
}
