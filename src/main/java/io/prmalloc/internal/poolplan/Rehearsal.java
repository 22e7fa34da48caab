package io.prmalloc.internal.poolplan;

import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.BlockNumbers;
import io.prmalloc.lifetime.AllocStats;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import io.prmalloc.lifetime.LifetimePolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Simulates the collected steps with the pool's own rules, and finds how many blocks the plan
 * lacks.
 *
 * <p>Threading: not safe; for one use.
 */
public final class Rehearsal {

  // The packing sees a step's lives largest class first and knows all ends; the pool sees them as
  // they come. So the pool may lend a large block to a small tensor that the packing put elsewhere,
  // and then lacks it: in the reference 1 to 5 % of the allocations of an exactly repeating step
  // miss.
  //
  // A rehearsal is a simulation with counters for blocks (which of several equal chunks is taken
  // makes no difference). If an allocation finds no block, its bin gets one block more at once. An
  // added block changes what was chosen before it, so the steps are run again until nothing is
  // lacking.
  //
  // Steps that were open at the same time are also run against each other in other interleavings
  // than the one that happened to be seen: threads that run the collected steps over and over, in
  // turns of random length. The generator is seeded, so equal warm-ups give equal pools.
  //
  // Each thread has a stripe of its own there, as it has in the pool (see ChunkIndex): it begins
  // with its share if there is one, prefers what it had before, and borrows from that before it
  // takes the right size from another. So threads lend large blocks while small ones lie ready
  // elsewhere, and need more blocks than the same lives do in the hands of one thread. Without this
  // rehearsal, steps of two threads continued to miss. Gathering (see ChunkIndex) is not rehearsed:
  // it corrects rare cases.

  private static final int MAX_ROUNDS = 64;

  /** After so many events there is no other round: half a second, and the steps are run once. */
  private static final long MAX_EVENTS = 10_000_000;

  private static final int MAX_INTERLEAVINGS = 24;
  private static final long EVENTS_PER_ROUND = 2_000_000;
  private static final int MAX_OF_SHORT_STEPS = 1_000;
  private static final long SHORT_EVENTS_PER_ROUND = 50_000;
  private static final int STEPS_PER_THREAD = 3;
  private static final int MAX_TURN = 64;
  private static final long SEED = 0x9E3779B97F4A7C15L;

  /** That of the first thread. In the one before is what no thread had yet. */
  private static final int FIRST_STRIPE = 1;

  private final LifetimePlan plan;
  private final double maxOversize;
  private final int[] binIndices;
  private final int[] blocks;

  /** By stripe and bin. */
  private int[][] free;

  /** By bin: what all stripes have, so that no search through them is in vain. */
  private final int[] freeOfAll;

  private final int[][] targets;
  private boolean lacking;
  private long eventsPlayed;

  /**
   * @param maxOversize as in {@link BinTable#build}
   */
  public Rehearsal(LifetimePlan plan, double maxOversize) {
    this.plan = plan;
    this.maxOversize = maxOversize;
    List<BinPlan> bins = plan.bins();
    this.binIndices = bins.stream().mapToInt(BinPlan::index).toArray();
    this.blocks = bins.stream().mapToInt(BinPlan::blocks).toArray();
    this.freeOfAll = new int[blocks.length];
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
    boolean concurrent = plan.concurrentSteps() > 1;
    Script asOfOne = asSeen(1);
    Script asSeen = concurrent ? asSeen(plan.concurrentSteps()) : asOfOne;
    List<Script> steps = concurrent ? plan.steps().stream().map(this::script).toList() : List.of();
    boolean lacked;
    int round = 0;
    do {
      // Blocks that cannot be divided belong to all stripes, and the order that was seen is one of
      // many: it is run with one thread, and the interleavings with several.
      lacked = rehearse(isDivided() ? asSeen : asOfOne);
      if (concurrent) {
        lacked |= rehearseInterleaved(steps);
      }
    } while (lacked && ++round < MAX_ROUNDS && eventsPlayed < MAX_EVENTS);
    return blocks.clone();
  }

  /** By life of the first step: position of the bin that serves it, if it is alone. */
  public int[] holders() {
    start();
    Player player = alone(script(plan.steps().get(0)));
    player.play(Integer.MAX_VALUE);
    return player.holders;
  }

  /** The numbers of lives that begin, or their complements where they end, in order of time. */
  public static int[] events(List<AllocStats> lives) {
    // Twice 13,000 ticks take a millisecond to sort as numbers, and fifteen with a comparator.
    long[] ticks = new long[2 * lives.size()];
    for (int i = 0; i < lives.size(); i++) {
      ticks[2 * i] = lives.get(i).beginTick();
      ticks[2 * i + 1] = lives.get(i).endTick();
    }
    long[] inOrder = ticks.clone();
    Arrays.sort(inOrder);
    int[] events = new int[ticks.length];
    int[] used = new int[ticks.length];
    for (int i = 0; i < ticks.length; i++) {
      int first = firstAtLeast(inOrder, ticks[i]);
      // At equal ticks, the order is that of the lives, and the begin of one is before its end.
      events[first + used[first]++] = i % 2 == 0 ? i / 2 : ~(i / 2);
    }
    return events;
  }

  private static int firstAtLeast(long[] sorted, long tick) {
    int low = 0;
    int high = sorted.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (sorted[middle] < tick) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** When a step's first life begins, or 0 if it has none. */
  static long firstTick(List<AllocStats> step) {
    return step.stream().mapToLong(AllocStats::beginTick).min().orElse(0);
  }

  /** When a step's last life ends, or 0 if it has none. */
  static long lastTick(List<AllocStats> step) {
    return step.stream().mapToLong(AllocStats::endTick).max().orElse(0);
  }

  /** Lives as the pool meets them, in arrays, for it is played many times. */
  private static final class Script {

    /** The number of a life that begins, or its complement where it ends. */
    private final int[] events;

    /** By life: position of its bin in the plan. */
    private final int[] bins;

    /** By life: the first position whose chunks are larger than it may be served by. */
    private final int[] aboveEnds;

    private final long[] alignments;

    /** By life: which of the threads after the player's own it belongs to, from 0. */
    private final int[] threads;

    Script(int[] events, int[] bins, int[] aboveEnds, long[] alignments, int[] threads) {
      this.events = events;
      this.bins = bins;
      this.aboveEnds = aboveEnds;
      this.alignments = alignments;
      this.threads = threads;
    }
  }

  /** All steps as they overlapped, each by the first thread that was idle, of so many. */
  private Script asSeen(int threadCount) {
    List<List<AllocStats>> steps = new ArrayList<>(plan.steps());
    steps.sort(Comparator.comparingLong(Rehearsal::firstTick));
    long[] busyUntil = new long[threadCount];
    Arrays.fill(busyUntil, Long.MIN_VALUE);
    List<AllocStats> lives = new ArrayList<>();
    IntStream.Builder threads = IntStream.builder();
    for (List<AllocStats> step : steps) {
      int thread = 0;
      while (thread < busyUntil.length - 1 && busyUntil[thread] > firstTick(step)) {
        thread++;
      }
      busyUntil[thread] = lastTick(step);
      lives.addAll(step);
      for (int i = 0; i < step.size(); i++) {
        threads.add(thread);
      }
    }
    return script(lives, threads.build().toArray());
  }

  private Script script(List<AllocStats> step) {
    return script(step, new int[step.size()]);
  }

  private Script script(List<AllocStats> lives, int[] threads) {
    int count = lives.size();
    int[] bins = new int[count];
    int[] aboveEnds = new int[count];
    long[] alignments = new long[count];
    for (int i = 0; i < count; i++) {
      AllocStats life = lives.get(i);
      int index = LifetimePolicy.index(life.sizeBytes(), plan.intervalBytes());
      bins[i] = Arrays.binarySearch(binIndices, index);
      aboveEnds[i] = aboveEnd(bins[i], (long) (life.sizeBytes() * maxOversize));
      alignments[i] = life.alignment();
    }
    return new Script(events(lives), bins, aboveEnds, alignments, threads);
  }

  private int aboveEnd(int bin, long mostBytes) {
    int above = bin + 1;
    while (above < blocks.length && plan.bins().get(above).chunkBytes() <= mostBytes) {
      above++;
    }
    return above;
  }

  private boolean rehearse(Script script) {
    start();
    alone(script).play(Integer.MAX_VALUE);
    return lacking;
  }

  /** The first thread, or, where nothing is divided, the one that has all. */
  private Player alone(Script script) {
    return new Player(List.of(script), isDivided() ? FIRST_STRIPE : 0);
  }

  private boolean rehearseInterleaved(List<Script> steps) {
    boolean lacked = false;
    SplittableRandom random = new SplittableRandom(SEED);
    for (int trial = 0; trial < interleavings() && eventsPlayed < MAX_EVENTS; trial++) {
      List<Player> threads = new ArrayList<>();
      for (int thread = 0; thread < plan.concurrentSteps(); thread++) {
        threads.add(thread(steps, random, FIRST_STRIPE + thread));
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
    long many = Math.min(MAX_INTERLEAVINGS, EVENTS_PER_ROUND / eventsPerTrial);
    // With few events it takes many trials until all threads hold what they can at one time, which
    // costs nothing, and threads that the system stops do it often.
    long ofShort = Math.min(MAX_OF_SHORT_STEPS, SHORT_EVENTS_PER_ROUND / eventsPerTrial);
    return (int) Math.max(2, Math.max(many, ofShort));
  }

  private Player thread(List<Script> steps, SplittableRandom random, int stripe) {
    List<Script> chosen = new ArrayList<>();
    int events = 0;
    for (int i = 0; i < STEPS_PER_THREAD; i++) {
      chosen.add(steps.get(random.nextInt(steps.size())));
      events += chosen.get(i).events.length;
    }
    // Threads do not start together: this one is somewhere in its first step, without the tensors
    // it took before.
    Player player = new Player(chosen, stripe);
    player.skip(random.nextInt(events / STEPS_PER_THREAD));
    return player;
  }

  // A turn is at most half a step, or else short steps would follow each other and never overlap.
  private static void playInTurns(List<Player> threads, SplittableRandom random) {
    int running = threads.size();
    while (running > 0) {
      Player player = threads.get(random.nextInt(threads.size()));
      int turn = 1 + random.nextInt(Math.max(1, Math.min(MAX_TURN, player.stepEvents() / 2)));
      if (!player.isDone()) {
        player.play(turn);
        running -= player.isDone() ? 1 : 0;
      }
    }
  }

  /** Whether the pool would give each thread its share. */
  private boolean isDivided() {
    int threads = plan.concurrentSteps();
    return BlockNumbers.shares(blocks, threads, Stripes.many()) == threads;
  }

  /** Frees all blocks: each thread has its share, or, if that cannot be, no thread has any. */
  private void start() {
    int threads = plan.concurrentSteps();
    free = new int[FIRST_STRIPE + threads][blocks.length];
    if (isDivided()) {
      int[] share = Arrays.stream(blocks).map(count -> count / threads).toArray();
      Arrays.fill(free, FIRST_STRIPE, free.length, share);
      Arrays.setAll(free, stripe -> free[stripe].clone());
    } else {
      free[0] = blocks.clone();
    }
    System.arraycopy(blocks, 0, freeOfAll, 0, blocks.length);
    lacking = false;
  }

  /** A thread that plays scripts, one after the other. */
  private final class Player {
    private static final int NONE = -1;

    private final List<Script> scripts;
    private int current;
    private int next;

    /** By life of the current script: the bin that serves it, while it is allocated. */
    private int[] holders;

    private final int stripe;

    Player(List<Script> scripts, int stripe) {
      this.stripe = stripe;
      this.scripts = scripts;
      this.holders = newHolders();
    }

    private int[] newHolders() {
      int[] none = new int[scripts.get(current).bins.length];
      Arrays.fill(none, NONE);
      return none;
    }

    /** Events of a step, on average. */
    int stepEvents() {
      return scripts.stream().mapToInt(script -> script.events.length).sum() / scripts.size();
    }

    boolean isDone() {
      return current == scripts.size();
    }

    /**
     * Passes over events. A life that begins in them is never allocated, so its end is skipped too.
     */
    void skip(int events) {
      for (int i = 0; i < events; i++) {
        advance();
      }
      passAbsent();
    }

    /** Runs so many events, or those that are left. */
    void play(int events) {
      for (int i = 0; i < events && !isDone(); i++) {
        eventsPlayed++;
        Script script = scripts.get(current);
        int event = script.events[next];
        if (event >= 0) {
          holders[event] = take(script, event, stripe + script.threads[event]);
        } else {
          putBack(holders[~event], stripe + script.threads[~event]);
        }
        advance();
        passAbsent();
      }
    }

    private void passAbsent() {
      while (!isDone()) {
        int event = scripts.get(current).events[next];
        if (event >= 0 || holders[~event] != NONE) {
          return;
        }
        advance();
      }
    }

    private void advance() {
      if (++next == scripts.get(current).events.length) {
        next = 0;
        if (++current < scripts.size()) {
          holders = newHolders();
        }
      }
    }
  }

  /** The path of an allocation through {@link BinTable}, with counters for buffers. */
  private int take(Script script, int life, int stripe) {
    int bin = script.bins[life];
    long alignment = script.alignments[life];
    if (tryTake(bin, alignment, stripe)) {
      return bin;
    }
    for (int target : targets[bin]) {
      if (tryTake(target, alignment, stripe)) {
        return target;
      }
    }
    if (tryTakeFromAny(bin, alignment)) {
      return bin;
    }
    for (int target : targets[bin]) {
      if (tryTakeFromAny(target, alignment)) {
        return target;
      }
    }
    for (int above = bin + 1; above < script.aboveEnds[life]; above++) {
      if (tryTakeFromAny(above, alignment)) {
        return above;
      }
    }
    blocks[bin]++;
    lacking = true;
    return bin;
  }

  private boolean tryTakeFromAny(int bin, long alignment) {
    for (int stripe = 0; stripe < free.length && freeOfAll[bin] > 0; stripe++) {
      if (tryTake(bin, alignment, stripe)) {
        return true;
      }
    }
    return false;
  }

  private boolean tryTake(int bin, long alignment, int stripe) {
    if (free[stripe][bin] == 0 || alignment > plan.bins().get(bin).alignment()) {
      return false;
    }
    free[stripe][bin]--;
    freeOfAll[bin]--;
    return true;
  }

  private void putBack(int bin, int stripe) {
    free[stripe][bin]++;
    freeOfAll[bin]++;
  }
}
