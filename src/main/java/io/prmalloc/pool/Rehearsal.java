package io.prmalloc.pool;

import io.prmalloc.lifetime.AllocStats;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import io.prmalloc.lifetime.LifetimePolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Runs the collected steps through the pool's own choices, on paper, and finds out how many blocks
 * the plan lacks.
 *
 * <p>Threading: not safe; for one use.
 */
final class Rehearsal {

  // The packing sees a step's lives largest class first and knows all ends; the pool sees them as
  // they come. So the pool may
  // lend a large block to a small tensor when the packing had another one in mind, and then lacks
  // it: in the reference 1 to 5 %
  // of the allocations of an exactly repeating step miss.
  //
  // A rehearsal is a simulation with counters for stacks (which of several equal chunks is taken
  // makes no difference). Where an
  // allocation finds nothing, its bin gets one block more, on the spot. An added block changes what
  // was chosen before it, so the
  // steps are run again until nothing is lacking.
  //
  // Steps that were open at the same time are also run against each other in other interleavings
  // than the one that happened to
  // be seen: threads that run the collected steps over and over, in turns of random length. The
  // generator is seeded, so equal
  // warm-ups give equal pools.

  private static final int MAX_ROUNDS = 64;
  private static final int MAX_INTERLEAVINGS = 24;
  private static final long EVENTS_PER_ROUND = 2_000_000;
  private static final int STEPS_PER_THREAD = 3;
  private static final int MAX_TURN = 64;
  private static final long SEED = 0x9E3779B97F4A7C15L;

  private final LifetimePlan plan;
  private final double maxOversize;
  private final int[] binIndices;
  private final int[] blocks;
  private final int[] free;
  private final int[][] targets;
  private boolean lacking;

  /**
   * @param maxOversize as in {@link BinTable#build}
   */
  Rehearsal(LifetimePlan plan, double maxOversize) {
    this.plan = plan;
    this.maxOversize = maxOversize;
    List<BinPlan> bins = plan.bins();
    this.binIndices = bins.stream().mapToInt(BinPlan::index).toArray();
    this.blocks = bins.stream().mapToInt(BinPlan::blocks).toArray();
    this.free = new int[blocks.length];
    this.targets = new int[blocks.length][];
    for (int position = 0; position < targets.length; position++) {
      targets[position] =
          bins.get(position).virtualTargets().stream()
              .sorted()
              .mapToInt(index -> Arrays.binarySearch(binIndices, index))
              .toArray();
    }
  }

  /**
   * How many blocks each bin needs, by position in the plan: those of the plan and the ones it
   * lacks.
   */
  int[] run() {
    List<Event> asSeen = events(plan.steps());
    boolean lacked;
    int round = 0;
    do {
      lacked = rehearse(asSeen);
      if (plan.concurrentSteps() > 1) {
        lacked |= rehearseInterleaved();
      }
    } while (lacked && ++round < MAX_ROUNDS);
    return blocks.clone();
  }

  /** An allocation or a release; both of a life share one {@link Tensor}. */
  private record Event(long tick, boolean begins, Tensor tensor) {}

  private static final class Tensor {
    private final AllocStats life;

    /** The bin that serves it, while it is out. */
    private int holder;

    Tensor(AllocStats life) {
      this.life = life;
    }
  }

  private static List<Event> events(List<List<AllocStats>> steps) {
    List<Event> events = new ArrayList<>();
    for (List<AllocStats> step : steps) {
      for (AllocStats life : step) {
        Tensor tensor = new Tensor(life);
        events.add(new Event(life.beginTick(), true, tensor));
        events.add(new Event(life.endTick(), false, tensor));
      }
    }
    events.sort(Comparator.comparingLong(Event::tick));
    return events;
  }

  private boolean rehearse(List<Event> events) {
    start();
    for (Event event : events) {
      play(event);
    }
    return lacking;
  }

  private boolean rehearseInterleaved() {
    boolean lacked = false;
    SplittableRandom random = new SplittableRandom(SEED);
    for (int trial = 0; trial < interleavings(); trial++) {
      List<List<Event>> threads = new ArrayList<>();
      for (int thread = 0; thread < plan.concurrentSteps(); thread++) {
        threads.add(threadEvents(random));
      }
      start();
      playInTurns(threads, random);
      lacked |= lacking;
    }
    return lacked;
  }

  private int interleavings() {
    long lives = plan.steps().stream().mapToLong(List::size).max().orElse(0);
    long eventsPerTrial = 2 * lives * STEPS_PER_THREAD * plan.concurrentSteps();
    return (int) Math.max(2, Math.min(MAX_INTERLEAVINGS, EVENTS_PER_ROUND / eventsPerTrial));
  }

  private List<Event> threadEvents(SplittableRandom random) {
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < STEPS_PER_THREAD; i++) {
      events.addAll(events(List.of(plan.steps().get(random.nextInt(plan.steps().size())))));
    }
    // Threads do not start together: this one is somewhere in its first step, without the tensors
    // it took before.
    List<Event> missed = events.subList(0, random.nextInt(events.size() / STEPS_PER_THREAD));
    Set<Tensor> before = new HashSet<>();
    missed.forEach(event -> before.add(event.tensor()));
    events.removeIf(event -> before.contains(event.tensor()));
    return events;
  }

  private void playInTurns(List<List<Event>> threads, SplittableRandom random) {
    int[] next = new int[threads.size()];
    int running = (int) threads.stream().filter(events -> !events.isEmpty()).count();
    while (running > 0) {
      int thread = random.nextInt(threads.size());
      List<Event> events = threads.get(thread);
      int turn = Math.min(1 + random.nextInt(MAX_TURN), events.size() - next[thread]);
      for (int i = 0; i < turn; i++) {
        play(events.get(next[thread]++));
      }
      if (turn > 0 && next[thread] == events.size()) {
        running--;
      }
    }
  }

  private void start() {
    System.arraycopy(blocks, 0, free, 0, blocks.length);
    lacking = false;
  }

  private void play(Event event) {
    Tensor tensor = event.tensor();
    if (event.begins()) {
      tensor.holder = take(tensor.life);
    } else {
      free[tensor.holder]++;
    }
  }

  /** The way of {@link BinTable#allocate}, with counters for buffers. */
  private int take(AllocStats life) {
    int index = LifetimePolicy.index(life.sizeBytes(), plan.intervalBytes());
    int position = Arrays.binarySearch(binIndices, index);
    if (tryTake(position, life)) {
      return position;
    }
    for (int target : targets[position]) {
      if (tryTake(target, life)) {
        return target;
      }
    }
    long mostBytes = (long) (life.sizeBytes() * maxOversize);
    for (int above = position + 1;
        above < blocks.length && plan.bins().get(above).chunkBytes() <= mostBytes;
        above++) {
      if (tryTake(above, life)) {
        return above;
      }
    }
    blocks[position]++;
    lacking = true;
    return position;
  }

  private boolean tryTake(int position, AllocStats life) {
    if (free[position] == 0 || life.alignment() > plan.bins().get(position).alignment()) {
      return false;
    }
    free[position]--;
    return true;
  }
}
