package io.prmalloc.trace.planning;

import io.prmalloc.model.Counted;
import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.exact.ExactOptions;
import io.prmalloc.plan.exact.ExactPlanner;
import io.prmalloc.plan.exact.PlanWatcher;
import io.prmalloc.trace.JsonText;
import io.prmalloc.trace.TensorLifetimes;
import io.prmalloc.trace.TextTable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * The tensors of a step in two memories, such as an accelerator's SRAM and DRAM: in the fast one
 * those with the most uses per byte, in the slow one the rest. A tensor may be bound to one of
 * them, and a fixed offset holds in the memory to which its tensor comes.
 *
 * <p>Source: scratchpad allocation by profit density, as in Panda, Dutt and Nicolau (1997) and
 * Avissar, Barua and Stewart (2002).
 *
 * <p>Threading: immutable.
 */
public final class TwoMemories {

  // Tensors in the order of uses per byte are taken into the fast memory as long as a plan for it
  // is found: many at a time, half as many where that fails, until one alone does and goes to the
  // slow one. What would pass the load goes there at once.

  /** What is sought. */
  public static final String OBJECTIVE =
      "the most uses served by the fast memory: tensors by uses per byte, as long as they fit";

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** How long a plan of what was chosen may take when nothing more is to be chosen. */
  private static final Duration GRACE = Duration.ofSeconds(2);

  /**
   * What one memory holds.
   *
   * <p>Threading: immutable.
   *
   * @param memory which
   * @param tensors those in it, by their places in the step, ascending
   * @param plan an offset for each of them
   * @param fault what is wrong with the plan, its size apart; empty if it is valid
   */
  public record Part(
      Memory memory, List<Integer> tensors, OffsetsAssignment plan, Optional<String> fault) {

    /** Whether the plan is valid and no larger than the memory. Threading: any thread. */
    public boolean fits() {
      return fault.isEmpty() && plan.totalBytes() <= memory.bytes();
    }
  }

  private final TensorLifetimes tensors;
  private final List<Part> parts;

  private TwoMemories(TensorLifetimes tensors, List<Part> parts) {
    this.tensors = tensors;
    this.parts = parts;
  }

  /**
   * Chooses and plans.
   *
   * <p>Threading: any thread.
   *
   * @param memories the fast one and the slow one
   * @param options alignment and watcher count, and the timeout: after it, what was not yet tried
   *     in the fast memory goes to the slow one, whose plan has as long again, or 5 seconds if
   *     there is no timeout
   * @throws IllegalArgumentException if sizes are shapes or too large, a tensor must lie in a
   *     memory of another name, or is fixed where the alignment does not let it be
   * @throws IllegalStateException if tensors that are fixed at the same bytes all came to one
   *     memory, or the time was over before there was a plan of each memory
   * @throws CancellationException if the watcher said so, and a plan of a memory took more than two
   *     seconds from then
   * @throws InterruptedException if the thread was interrupted
   */
  public static TwoMemories plan(
      TensorLifetimes tensors, List<Memory> memories, PlanOptions options)
      throws InterruptedException {
    if (tensors.dimensions() > 1) {
      throw new IllegalArgumentException(
          tensors.name() + ": two memories need sizes in bytes, not shapes");
    }
    checkNames(tensors, memories);
    Planning.checkFixed(tensors, options.alignment());
    try {
      return chooseAndPlan(tensors, memories, options);
    } catch (IllegalArgumentException tooLarge) {
      throw new IllegalArgumentException(tensors.name() + ": " + tooLarge.getMessage(), tooLarge);
    }
  }

  private static TwoMemories chooseAndPlan(
      TensorLifetimes tensors, List<Memory> memories, PlanOptions options)
      throws InterruptedException {
    List<Integer> fast = choose(tensors, memories.get(0), options);
    boolean[] isFast = new boolean[tensors.count()];
    fast.forEach(tensor -> isFast[tensor] = true);
    List<Integer> slow =
        IntStream.range(0, isFast.length).filter(tensor -> !isFast[tensor]).boxed().toList();
    return new TwoMemories(
        tensors,
        List.of(
            part(tensors, memories.get(0), fast.stream().sorted().toList(), options),
            part(tensors, memories.get(1), slow, options)));
  }

  private static void checkNames(TensorLifetimes tensors, List<Memory> memories) {
    List<String> names = memories.stream().map(Memory::name).toList();
    for (int i = 0; i < tensors.count(); i++) {
      Optional<String> memory = tensors.memory(i);
      if (memory.isPresent() && !names.contains(memory.get())) {
        throw new IllegalArgumentException(
            tensors.name()
                + ": tensor "
                + tensors.shownId(i)
                + " must lie in the memory `"
                + memory.get()
                + "`; there are "
                + String.join(" and ", names));
      }
    }
  }

  /** Those that must lie in the fast memory, and as many others as a plan is found with. */
  private static List<Integer> choose(TensorLifetimes tensors, Memory memory, PlanOptions options)
      throws InterruptedException {
    List<Integer> chosen =
        new ArrayList<>(
            IntStream.range(0, tensors.count())
                .filter(i -> tensors.memory(i).equals(Optional.of(memory.name())))
                .boxed()
                .toList());
    List<Integer> order =
        IntStream.range(0, tensors.count())
            .filter(i -> tensors.memory(i).isEmpty())
            .boxed()
            .sorted(
                Comparator.<Integer>comparingDouble(
                    i -> -tensors.uses(i) / (double) tensors.records().get(i).sizeBytes()))
            .toList();
    int chunk = order.size();
    long begin = System.nanoTime();
    for (int next = 0; next < order.size() && !options.watcher().isCancelled(); ) {
      chunk = Math.min(chunk, order.size() - next);
      List<Integer> more = new ArrayList<>(chosen);
      more.addAll(order.subList(next, next + chunk));
      Duration past = Duration.ofNanos(System.nanoTime() - begin);
      Optional<Duration> left = options.timeout().map(timeout -> timeout.minus(past));
      if (left.isPresent() && (left.get().isNegative() || left.get().isZero())) {
        return chosen;
      }
      boolean fits;
      try {
        fits = fits(tensors, more, memory.bytes(), options, left);
      } catch (TimeoutException | CancellationException over) {
        return chosen;
      }
      if (fits) {
        chosen = more;
        next += chunk;
        chunk *= 2;
      } else if (chunk > 1) {
        chunk /= 2;
      } else {
        next++;
      }
    }
    return chosen;
  }

  private static boolean fits(
      TensorLifetimes tensors,
      List<Integer> some,
      long bytes,
      PlanOptions options,
      Optional<Duration> left)
      throws TimeoutException, InterruptedException {
    List<TensorUsageRecord> records = records(tensors, some);
    return LowerBounds.loadBytes(records) <= bytes
        && FixedOffsets.fault(tensors, some).isEmpty()
        && greedy(records, options, left, options.watcher()::isCancelled).totalBytes() <= bytes;
  }

  /** On a thread of its own: a plan of many tensors under constraints takes minutes. */
  private static OffsetsAssignment greedy(
      List<TensorUsageRecord> records,
      PlanOptions options,
      Optional<Duration> left,
      BooleanSupplier cancelled)
      throws TimeoutException, InterruptedException {
    return TimedPlan.make(
        "two-memories",
        left,
        cancelled,
        () -> MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, options.alignment()));
  }

  /**
   * Whether a watcher said so a while ago: what was chosen by then is worth the time of a plan.
   *
   * <p>Threading: one thread.
   */
  private static final class Grace implements BooleanSupplier {

    private final PlanWatcher watcher;
    private long cancelledAt;
    private boolean cancelled;

    Grace(PlanWatcher watcher) {
      this.watcher = watcher;
    }

    @Override
    public boolean getAsBoolean() {
      long now = System.nanoTime();
      if (!cancelled && watcher.isCancelled()) {
        cancelled = true;
        cancelledAt = now;
      }
      return cancelled && now - cancelledAt > GRACE.toNanos();
    }
  }

  private static Part part(
      TensorLifetimes tensors, Memory memory, List<Integer> some, PlanOptions options)
      throws InterruptedException {
    FixedOffsets.fault(tensors, some)
        .ifPresent(
            fault -> {
              throw new IllegalStateException(
                  tensors.name()
                      + ": no plan is found: of what comes to "
                      + memory.name()
                      + ", fixed offsets cannot be kept: "
                      + fault);
            });
    List<TensorUsageRecord> records = records(tensors, some);
    Duration patience = options.timeout().orElse(PATIENCE);
    OffsetsAssignment greedy;
    try {
      greedy = greedy(records, options, options.timeout(), new Grace(options.watcher()));
    } catch (TimeoutException over) {
      throw new IllegalStateException(
          tensors.name()
              + ": the plan of "
              + memory.name()
              + " did not end within "
              + options.timeout().orElseThrow().toMillis() / 1e3
              + " s",
          over);
    }
    OffsetsAssignment plan =
        greedy.totalBytes() <= memory.bytes()
            ? greedy
            : new ExactPlanner(ExactOptions.DEFAULTS.withTimeout(patience))
                .fit(records, options.alignment(), memory.bytes(), options.watcher())
                .best()
                .assignment();
    return new Part(
        memory, some, plan, PlanValidator.fault(records, plan, i -> tensors.shownId(some.get(i))));
  }

  private static List<TensorUsageRecord> records(TensorLifetimes tensors, List<Integer> some) {
    return some.stream().map(tensors.records()::get).toList();
  }

  /** What the fast memory holds, and what the slow one. Threading: any thread. */
  public List<Part> parts() {
    return parts;
  }

  /** How many uses of the tensors of a part there are. Threading: any thread. */
  public long uses(Part part) {
    return part.tensors.stream().mapToLong(tensors::uses).sum();
  }

  /**
   * Writes the tensors as a table with the memory and the offset of each, which a plan for the same
   * memories keeps.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if the file has changed since it was read
   * @throws IOException if it cannot be written
   */
  public void writeCsv(Appendable out) throws IOException {
    String[] memories = new String[tensors.count()];
    long[] offsets = new long[tensors.count()];
    for (Part part : parts) {
      for (int i = 0; i < part.tensors.size(); i++) {
        memories[part.tensors.get(i)] = part.memory.name();
        offsets[part.tensors.get(i)] = part.plan.offset(i);
      }
    }
    tensors.writeCsv(List.of(memories), offsets, out);
  }

  /** What went wrong, one sentence each. Threading: any thread. */
  public List<String> failures() {
    List<String> failures = new ArrayList<>();
    for (Part part : parts) {
      part.fault.ifPresent(
          fault -> failures.add("the plan of " + part.memory.name() + " is not valid: " + fault));
      if (part.plan.totalBytes() > part.memory.bytes()) {
        failures.add(
            "capacity "
                + part.memory.bytes()
                + " of "
                + part.memory.name()
                + " is not reached; the smallest plan found of what "
                + (part.memory.equals(parts.get(0).memory) ? "must lie there" : "is left")
                + " needs "
                + part.plan.totalBytes());
      }
    }
    return failures;
  }

  /** One JSON document on one line. Threading: any thread. */
  public String json() {
    return JsonText.of(
        json -> {
          json.writeStartObject();
          json.writeStringField("input", tensors.name());
          json.writeNumberField("tensors", tensors.count());
          json.writeStringField("objective", OBJECTIVE);
          json.writeArrayFieldStart("memories");
          for (Part part : parts) {
            json.writeStartObject();
            json.writeStringField("memory", part.memory.name());
            json.writeNumberField("capacity", part.memory.bytes());
            json.writeNumberField("totalBytes", part.plan.totalBytes());
            json.writeNumberField("tensors", part.tensors.size());
            json.writeNumberField("uses", uses(part));
            json.writeBooleanField("valid", part.fits());
            json.writeObjectFieldStart("offsets");
            for (int i = 0; i < part.tensors.size(); i++) {
              json.writeNumberField(tensors.ids().get(part.tensors.get(i)), part.plan.offset(i));
            }
            json.writeEndObject();
            json.writeEndObject();
          }
          json.writeEndArray();
          json.writeEndObject();
        });
  }

  /** A table of the two. Threading: any thread. */
  public String text() {
    TextTable table =
        new TextTable("memory", "capacity", "total bytes", "tensors", "uses", "valid");
    for (Part part : parts) {
      table.row(
          part.memory.name(),
          Long.toString(part.memory.bytes()),
          Long.toString(part.plan.totalBytes()),
          Integer.toString(part.tensors.size()),
          Long.toString(uses(part)),
          part.fits() ? "yes" : "no");
    }
    return tensors.name()
        + ": "
        + Counted.of(tensors.count(), "tensor")
        + "\nobjective: "
        + OBJECTIVE
        + "\n\n"
        + table;
  }
}
