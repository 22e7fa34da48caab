package io.prmalloc.trace.swap;

import java.util.ArrayList;
import java.util.List;

/**
 * The events of a simulated step, with their times.
 *
 * <p>Threading: one thread at a time; what its accessors return is not written any more.
 */
public final class Timeline {

  /**
   * One operator.
   *
   * <p>Threading: immutable.
   *
   * @param op its index
   * @param name what the profile calls it
   * @param startMillis when it began
   * @param endMillis when the next one could begin
   * @param computeStartMillis when it began to compute
   * @param computeMillis how long it computed, tensors that were computed again included
   */
  public record Op(
      int op,
      String name,
      double startMillis,
      double endMillis,
      double computeStartMillis,
      double computeMillis) {}

  /**
   * One tensor went to the disk or came from it.
   *
   * <p>Threading: immutable.
   *
   * @param out whether it went
   * @param tensor what the profile calls it
   * @param bytes its size
   * @param startMillis when the disk began
   * @param endMillis when the disk was done
   */
  public record Transfer(
      boolean out, String tensor, long bytes, double startMillis, double endMillis) {}

  /**
   * How much was alive from some time on.
   *
   * <p>Threading: immutable.
   *
   * @param millis from when on
   * @param bytes how much, sizes as they are
   */
  public record Live(double millis, long bytes) {}

  private final List<Op> ops = new ArrayList<>();
  private final List<Transfer> transfers = new ArrayList<>();
  private final List<Live> lives = new ArrayList<>();

  Timeline() {}

  /** The operators in order. Threading: any thread, when the step is over. */
  public List<Op> ops() {
    return List.copyOf(ops);
  }

  /** The transfers in the order of the disk. Threading: any thread, when the step is over. */
  public List<Transfer> transfers() {
    return List.copyOf(transfers);
  }

  /**
   * Bytes alive in the order they changed; there may be several of one time, in the order of the
   * step. Threading: any thread, when the step is over.
   */
  public List<Live> lives() {
    return List.copyOf(lives);
  }

  void add(Op op) {
    ops.add(op);
  }

  void add(Transfer transfer) {
    transfers.add(transfer);
  }

  void live(double millis, long bytes) {
    lives.add(new Live(millis, bytes));
  }
}
