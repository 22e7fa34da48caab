package io.prmalloc.jmh.report;

import static io.prmalloc.jmh.rival.Rival.ALLOCATE_DIRECT;
import static io.prmalloc.jmh.rival.Rival.ARROW;
import static io.prmalloc.jmh.rival.Rival.ARROW_NETTY;
import static io.prmalloc.jmh.rival.Rival.CAS_STACK;
import static io.prmalloc.jmh.rival.Rival.MALLOC;
import static io.prmalloc.jmh.rival.Rival.MIMALLOC;
import static io.prmalloc.jmh.rival.Rival.NETTY_ADAPTIVE;
import static io.prmalloc.jmh.rival.Rival.NETTY_POOLED;
import static io.prmalloc.jmh.rival.Rival.POOL_HANDLE;
import static io.prmalloc.jmh.rival.Rival.POOL_NO_STEPS;
import static io.prmalloc.jmh.rival.Rival.POOL_RAW;
import static io.prmalloc.jmh.rival.Rival.POOL_STEP;
import static io.prmalloc.jmh.rival.Rival.POOL_STEP_HANDLE;
import static io.prmalloc.jmh.rival.Rival.READY_MEMORY;

import io.prmalloc.jmh.rival.Rival;
import io.prmalloc.trace.replay.Touch;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The project's promises about speed, each as a ratio of two numbers of one run.
 *
 * <p>Threading: one thread at a time.
 */
final class Floors {

  // Times move by tens of per cent from day to day, and between machines by more; ratios of one run
  // move less. Where a promise is a time on the reference machine, it is held against a yardstick
  // that runs beside it: a plain compare-and-set stack of ready blocks, whose pair took 8.4 ns
  // there. A pair of 10 ns is 1.19 of those. It is a better yardstick than malloc, whose time
  // depends on the C library and on what was freed before. The same goes for a step: 20 us for
  // 1,080 tensors and 95 us for 5,125 are 2.2 of those for each tensor. (PRMalloc's C++ code took
  // 50.6 and 213 us there, which is 5.6 and 4.9.)

  /** How a line ended. */
  enum Verdict {
    REACHED,
    MISSED,
    NOT_MEASURED
  }

  /**
   * A promise.
   *
   * @param claim what is promised
   * @param measured the number that was measured; empty if something for it was not
   * @param atMost whether the bound is an upper one
   * @param bound the bound
   * @param detail the numbers behind it
   */
  record Line(String claim, OptionalDouble measured, boolean atMost, double bound, String detail) {

    Verdict verdict() {
      if (measured.isEmpty()) {
        return Verdict.NOT_MEASURED;
      }
      double value = measured.getAsDouble();
      return (atMost ? value <= bound : value >= bound) ? Verdict.REACHED : Verdict.MISSED;
    }
  }

  /** Size of the pair of which most is promised. */
  static final long PAIR_BYTES = 64 << 10;

  /** Traces of which something is promised: how the results call them, and their tensors. */
  record Model(String trace, String label, int tensors, double promisedMicros) {}

  static final Model SQUEEZENET = new Model("Squeezenet@2", "Squeezenet b2", 1_080, 20);
  static final Model MOBILENET = new Model("MobilenetV2@4", "MobilenetV2 b4", 5_125, 95);

  private static final double REFERENCE_PAIR_NANOS = 8.4;
  private static final double PROMISED_PAIR_NANOS = 10;

  /** What JMH itself costs shows as hundredths of a byte per pair. */
  private static final double NO_BYTES = 0.5;

  private static final double NO_FAULTS = 0.5;

  /** What is left of equal throughput by noise alone. */
  private static final double NOT_BELOW = 0.95;

  private final Measurements measurements;
  private final List<Line> lines = new ArrayList<>();

  private Floors(Measurements measurements) {
    this.measurements = measurements;
  }

  /** All promises, held against what was measured. */
  static List<Line> check(Measurements measurements) {
    Floors floors = new Floors(measurements);
    floors.varying("ANY", "any factor");
    floors.varying("SIXTEEN", "16 factors");
    floors.twoModels();
    floors.pairs();
    floors.threads();
    floors.handover();
    floors.step(SQUEEZENET);
    floors.step(MOBILENET);
    floors.everyByte();
    return List.copyOf(floors.lines);
  }

  private void varying(String traffic, String label) {
    String claim = "Step with " + label + ", ";
    OptionalDouble unplanned = varying(POOL_NO_STEPS, traffic, 1);
    OptionalDouble malloc = varying(MALLOC, traffic, 1);
    atMost(claim + "no plan: at most as long as malloc", unplanned, malloc, 1);
    atMost(
        claim + "no plan: at most 1.1 times mimalloc",
        unplanned,
        varying(MIMALLOC, traffic, 1),
        1.1);
    atMost(
        claim + "planned: at most a quarter of malloc",
        varying(POOL_STEP_HANDLE, traffic, 1),
        malloc,
        0.25);
  }

  private void twoModels() {
    atMost(
        "Steps of two models, planned: 2 threads at most 1.5 times as long as 1",
        varying(POOL_STEP, "TWO_MODELS", 2),
        varying(POOL_STEP, "TWO_MODELS", 1),
        1.5);
  }

  private void pairs() {
    fasterThan(NETTY_ADAPTIVE, 6);
    fasterThan(NETTY_POOLED, 10);
    fasterThan(ARROW, 10);
    fasterThan(ARROW_NETTY, 10);
    fasterThan(ALLOCATE_DIRECT, 100);
    atMost(
        "64 KiB pair: 10 ns where a plain compare-and-set stack takes 8.4",
        pair(POOL_HANDLE, 1),
        pair(CAS_STACK, 1),
        PROMISED_PAIR_NANOS / REFERENCE_PAIR_NANOS);
    atMost("64 KiB pair: at most 0.6 of malloc", pair(POOL_HANDLE, 1), pair(MALLOC, 1), 0.6);
    OptionalDouble heapBytes =
        measurements
            .pair(POOL_HANDLE, PAIR_BYTES, 1)
            .map(Measurement::heapBytes)
            .orElse(OptionalDouble.empty());
    lines.add(new Line("64 KiB pair: 0 bytes of heap", heapBytes, true, NO_BYTES, "B/op"));
  }

  private void fasterThan(Rival rival, double times) {
    String claim =
        String.format(
            Locale.ROOT, "64 KiB pair: at least %.0f times faster than %s", times, rival.label());
    OptionalDouble theirs = pair(rival, 1);
    OptionalDouble ours = pair(POOL_HANDLE, 1);
    lines.add(new Line(claim, ratio(theirs, ours), false, times, detail(theirs, ours)));
  }

  private void threads() {
    atMost(
        "64 KiB pair: 2 threads at most 1.5 times as long as 1",
        pair(POOL_HANDLE, 2),
        pair(POOL_HANDLE, 1),
        1.5);
    OptionalDouble two = pair(POOL_HANDLE, 2);
    OptionalDouble eight = pair(POOL_HANDLE, 8);
    OptionalDouble throughput = ratio(times(two, 8), times(eight, 2));
    lines.add(
        new Line(
            "64 KiB pair: throughput of 8 threads not below that of 2 (5 % are noise)",
            throughput, false, NOT_BELOW, detail(eight, two) + " per thread"));
  }

  private void handover() {
    OptionalDouble all = handover(POOL_HANDLE);
    OptionalDouble queue = handover(READY_MEMORY);
    OptionalDouble own =
        all.isPresent() && queue.isPresent()
            ? OptionalDouble.of(Math.max(0, all.getAsDouble() - queue.getAsDouble()))
            : OptionalDouble.empty();
    OptionalDouble pair = pair(POOL_HANDLE, 1);
    OptionalDouble withQueue = ratio(all, pair);
    String gross =
        withQueue.isPresent()
            ? String.format(Locale.ROOT, "; with the queue %.2f", withQueue.getAsDouble())
            : "";
    lines.add(
        new Line(
            "Producer to consumer: at most 3 times a pair, less what the queue costs",
            ratio(own, pair),
            true,
            3,
            detail(own, pair) + gross));
    atMost("Producer to consumer: at most as long as mimalloc", all, handover(MIMALLOC), 1);
  }

  // The promise is that of a step, and 0 bytes of heap are part of it: that is memory by raw
  // addresses, which is quickest where the step is asked for it. Handles from the shared pool are
  // held to the same time.

  private void step(Model model) {
    time(model, POOL_HANDLE, "");
    faults(model, POOL_HANDLE, "");
    heap(model, POOL_RAW, ", by raw addresses");
    twoThreads(model, POOL_HANDLE, "");
    time(model, POOL_STEP, "planned, ");
    faults(model, POOL_STEP, "planned, ");
    heap(model, POOL_STEP, ", planned");
    twoThreads(model, POOL_STEP, "planned, ");
  }

  private static String stepOf(Model model) {
    return "Step of " + model.label() + ": ";
  }

  private void time(Model model, Rival rival, String way) {
    OptionalDouble one = step(rival, model, 1);
    OptionalDouble malloc = ratio(step(MALLOC, model, 1), one);
    OptionalDouble yardstick = times(pair(CAS_STACK, 1), model.tensors());
    lines.add(
        new Line(
            String.format(
                Locale.ROOT,
                "%s%s%.0f us where so many pairs of a compare-and-set stack take %.1f",
                stepOf(model),
                way,
                model.promisedMicros(),
                model.tensors() * REFERENCE_PAIR_NANOS / 1e3),
            ratio(one, yardstick),
            true,
            model.promisedMicros() * 1e3 / (model.tensors() * REFERENCE_PAIR_NANOS),
            detail(one, yardstick)
                + (malloc.isPresent()
                    ? String.format(Locale.ROOT, "; malloc %.1f times", malloc.getAsDouble())
                    : "")));
  }

  private void faults(Model model, Rival rival, String way) {
    OptionalDouble faults =
        measurements
            .step(rival, model.trace(), Touch.FIRST, 1)
            .map(Measurement::faults)
            .orElse(OptionalDouble.empty());
    lines.add(
        new Line(
            stepOf(model) + way + "0 page faults", faults, true, NO_FAULTS, "faults per step"));
  }

  private void heap(Model model, Rival rival, String way) {
    OptionalDouble heap =
        measurements
            .step(rival, model.trace(), Touch.FIRST, 1)
            .map(Measurement::heapBytes)
            .orElse(OptionalDouble.empty());
    lines.add(
        new Line(
            stepOf(model) + "0 bytes of heap for each tensor" + way,
            times(heap, 1.0 / model.tensors()),
            true,
            NO_BYTES,
            "B/tensor"));
  }

  private void twoThreads(Model model, Rival rival, String way) {
    atMost(
        stepOf(model) + way + "2 threads at most 1.5 times as long as 1",
        step(rival, model, 2),
        step(rival, model, 1),
        1.5);
  }

  private void everyByte() {
    atMost(
        "Step of Squeezenet b2, every byte written: at most 1.1 times memory that was there",
        everyByte(POOL_HANDLE),
        everyByte(READY_MEMORY),
        1.1);
  }

  private void atMost(String claim, OptionalDouble part, OptionalDouble whole, double bound) {
    lines.add(new Line(claim, ratio(part, whole), true, bound, detail(part, whole)));
  }

  private OptionalDouble pair(Rival rival, int threads) {
    return nanos(measurements.pair(rival, PAIR_BYTES, threads));
  }

  private OptionalDouble handover(Rival rival) {
    return nanos(measurements.handover(rival, PAIR_BYTES));
  }

  private OptionalDouble varying(Rival rival, String traffic, int threads) {
    return nanos(
        measurements.varying(rival, traffic, SQUEEZENET.trace(), MOBILENET.trace(), threads));
  }

  private OptionalDouble step(Rival rival, Model model, int threads) {
    return nanos(measurements.step(rival, model.trace(), Touch.FIRST, threads));
  }

  private OptionalDouble everyByte(Rival rival) {
    return nanos(measurements.step(rival, SQUEEZENET.trace(), Touch.ALL, 1));
  }

  private static OptionalDouble nanos(Optional<Measurement> measurement) {
    return measurement.isPresent()
        ? OptionalDouble.of(measurement.get().nanos())
        : OptionalDouble.empty();
  }

  private static OptionalDouble times(OptionalDouble value, double factor) {
    return value.isPresent()
        ? OptionalDouble.of(value.getAsDouble() * factor)
        : OptionalDouble.empty();
  }

  private static OptionalDouble ratio(OptionalDouble part, OptionalDouble whole) {
    return part.isPresent() && whole.isPresent()
        ? OptionalDouble.of(part.getAsDouble() / whole.getAsDouble())
        : OptionalDouble.empty();
  }

  private static String detail(OptionalDouble part, OptionalDouble whole) {
    return time(part) + " to " + time(whole);
  }

  private static String time(OptionalDouble nanos) {
    return nanos.isPresent() ? Numbers.time(nanos.getAsDouble()) : "?";
  }
}
