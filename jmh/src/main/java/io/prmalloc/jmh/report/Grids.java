package io.prmalloc.jmh.report;

import static io.prmalloc.jmh.report.Floors.MOBILENET;
import static io.prmalloc.jmh.report.Floors.PAIR_BYTES;
import static io.prmalloc.jmh.report.Floors.SQUEEZENET;

import io.prmalloc.jmh.report.Grid.Column;
import io.prmalloc.jmh.rival.Rival;
import io.prmalloc.trace.replay.Touch;
import java.util.Optional;
import java.util.function.Function;

/**
 * The tables of the results page: which rivals and settings are shown side by side.
 *
 * <p>Threading: immutable.
 *
 * @param measurements where the numbers come from
 */
record Grids(Measurements measurements) {

  private static final String SAMPLE = "sample:mobilenet";
  private static final long SMALL_BYTES = 4 << 10;

  private Function<Rival, Optional<Measurement>> pair(long sizeBytes, int threads) {
    return rival -> measurements.pair(rival, sizeBytes, threads);
  }

  private Function<Rival, Optional<Measurement>> handover(long sizeBytes) {
    return rival -> measurements.handover(rival, sizeBytes);
  }

  private Function<Rival, Optional<Measurement>> mixed(int threads) {
    return rival -> measurements.mixed(rival, threads);
  }

  private Function<Rival, Optional<Measurement>> step(String trace, Touch touch, int threads) {
    return rival -> measurements.step(rival, trace, touch, threads);
  }

  private Function<Rival, Optional<Measurement>> varying(String traffic, int threads) {
    return rival ->
        measurements.varying(rival, traffic, SQUEEZENET.trace(), MOBILENET.trace(), threads);
  }

  /** Steps that vary: microseconds by how, with so many threads. */
  Grid varying(int threads) {
    return Grid.of(
        Column.micros("any factor", varying("ANY", threads)),
        Column.micros("16 factors", varying("SIXTEEN", threads)),
        Column.micros("two models", varying("TWO_MODELS", threads)),
        Column.micros("buffers, no steps", varying("BUFFERS", threads)));
  }

  /** Page faults of a step that varies. */
  Grid varyingFaults() {
    return Grid.of(
        Column.faults("any factor", varying("ANY", 1)),
        Column.faults("16 factors", varying("SIXTEEN", 1)),
        Column.faults("two models", varying("TWO_MODELS", 1)),
        Column.faults("buffers, no steps", varying("BUFFERS", 1)));
  }

  /** Pairs of one thread: nanoseconds by size. */
  Grid sizes() {
    return Grid.of(
        Column.nanos("4 KiB", pair(SMALL_BYTES, 1)),
        Column.nanos("64 KiB", pair(PAIR_BYTES, 1)),
        Column.nanos("1 MiB", pair(1 << 20, 1)),
        Column.nanos("16 MiB", pair(16 << 20, 1)));
  }

  /** The pair of which most is promised, alone. */
  Grid pair() {
    return Grid.of(Column.nanos("64 KiB", pair(PAIR_BYTES, 1)));
  }

  /** What a pair costs beside time. */
  Grid pairCosts() {
    return Grid.of(
        Column.heapBytes("B/op", pair(PAIR_BYTES, 1)),
        Column.faults("faults/op", pair(PAIR_BYTES, 1)));
  }

  /** Pairs of one size: nanoseconds of one thread by threads. */
  Grid threads() {
    return Grid.of(
            Column.nanos("1 thread", pair(PAIR_BYTES, 1)),
            Column.nanos("2 threads", pair(PAIR_BYTES, 2)),
            Column.nanos("4 threads", pair(PAIR_BYTES, 4)),
            Column.nanos("8 threads", pair(PAIR_BYTES, 8)))
        .comparing();
  }

  /** Pairs of mixed sizes: nanoseconds of one thread by threads. */
  Grid mixed() {
    return Grid.of(
        Column.nanos("1 thread", mixed(1)),
        Column.nanos("2 threads", mixed(2)),
        Column.nanos("4 threads", mixed(4)),
        Column.nanos("8 threads", mixed(8)));
  }

  /** Nanoseconds for each allocation that another thread releases, by size. */
  Grid handover() {
    return Grid.of(
        Column.nanos("4 KiB", handover(SMALL_BYTES)), Column.nanos("64 KiB", handover(PAIR_BYTES)));
  }

  /** Nanoseconds that pass for each pair of many requests. */
  Grid requests() {
    return Grid.of(
        Column.nanos(
            "platform threads", rival -> measurements.requests(rival, "PLATFORM", PAIR_BYTES)),
        Column.nanos(
            "virtual threads", rival -> measurements.requests(rival, "VIRTUAL", PAIR_BYTES)));
  }

  /** Steps of one thread: microseconds by trace. */
  Grid steps() {
    return Grid.of(
        Column.micros("sample", step(SAMPLE, Touch.FIRST, 1)),
        Column.micros(SQUEEZENET.label(), step(SQUEEZENET.trace(), Touch.FIRST, 1)),
        Column.micros(MOBILENET.label(), step(MOBILENET.trace(), Touch.FIRST, 1)));
  }

  /** Steps of two threads: microseconds of one thread by trace. */
  Grid twoThreadSteps() {
    return Grid.of(
            Column.micros(
                SQUEEZENET.label() + ", 1 thread", step(SQUEEZENET.trace(), Touch.FIRST, 1)),
            Column.micros("2 threads", step(SQUEEZENET.trace(), Touch.FIRST, 2)),
            Column.micros(
                MOBILENET.label() + ", 1 thread", step(MOBILENET.trace(), Touch.FIRST, 1)),
            Column.micros("2 threads", step(MOBILENET.trace(), Touch.FIRST, 2)))
        .comparing();
  }

  /** What a step costs beside time. */
  Grid stepCosts() {
    return Grid.of(
        Column.heapBytes(SQUEEZENET.label() + ", B/step", step(SQUEEZENET.trace(), Touch.FIRST, 1)),
        Column.faults("faults/step", step(SQUEEZENET.trace(), Touch.FIRST, 1)),
        Column.heapBytes(MOBILENET.label() + ", B/step", step(MOBILENET.trace(), Touch.FIRST, 1)),
        Column.faults("faults/step", step(MOBILENET.trace(), Touch.FIRST, 1)));
  }

  /** Steps of one thread: microseconds by what is written. */
  Grid touches() {
    return Grid.of(
            Column.micros("nothing", step(SQUEEZENET.trace(), Touch.NONE, 1)),
            Column.micros("8 bytes", step(SQUEEZENET.trace(), Touch.FIRST, 1)),
            Column.micros("every page", step(SQUEEZENET.trace(), Touch.PAGE, 1)),
            Column.micros("every byte", step(SQUEEZENET.trace(), Touch.ALL, 1)))
        .comparing();
  }

  /** Page faults of a step by what is written. */
  Grid touchFaults() {
    return Grid.of(
            Column.faults("nothing", step(SQUEEZENET.trace(), Touch.NONE, 1)),
            Column.faults("8 bytes", step(SQUEEZENET.trace(), Touch.FIRST, 1)),
            Column.faults("every page", step(SQUEEZENET.trace(), Touch.PAGE, 1)),
            Column.faults("every byte", step(SQUEEZENET.trace(), Touch.ALL, 1)))
        .comparing();
  }
}
