package io.prmalloc.plan.exact;

import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Makes tensors that fill their capacity completely, or almost. */
final class PackedInstances {

  // A rectangle of time and memory is cut into smaller ones, again and again, across, along, or
  // into five around a middle, which no sequence of straight cuts makes.

  private record Rectangle(int from, int to, int low, int high) {

    double area() {
      return (double) (to - from) * (high - low);
    }
  }

  private PackedInstances() {}

  /** Some tensors in any order, whose load is {@code side · unit} and which fit into that. */
  static List<TensorUsageRecord> random(Random random, int count, int side, long unit) {
    List<Rectangle> pieces = new ArrayList<>(List.of(new Rectangle(0, side, 0, side)));
    for (int tries = 0; pieces.size() < count && tries < 100 * count; tries++) {
      // Of three the largest, so that areas differ but not too much.
      int chosen = random.nextInt(pieces.size());
      for (int i = 0; i < 2; i++) {
        int other = random.nextInt(pieces.size());
        chosen = pieces.get(other).area() > pieces.get(chosen).area() ? other : chosen;
      }
      List<Rectangle> cut = cut(random, pieces.get(chosen));
      if (!cut.isEmpty()) {
        pieces.remove(chosen);
        pieces.addAll(cut);
      }
    }
    Collections.shuffle(pieces, random);
    return pieces.stream()
        .map(
            piece ->
                new TensorUsageRecord(
                    Math.multiplyExact(unit, piece.high - piece.low), piece.from, piece.to - 1))
        .toList();
  }

  private static List<Rectangle> cut(Random random, Rectangle piece) {
    int length = piece.to - piece.from;
    int height = piece.high - piece.low;
    int way = random.nextInt(3);
    if (way == 0 && length >= 3 && height >= 3) {
      int x = piece.from + 1 + random.nextInt(length - 2);
      int x2 = x + 1 + random.nextInt(piece.to - x - 1);
      int y = piece.low + 1 + random.nextInt(height - 2);
      int y2 = y + 1 + random.nextInt(piece.high - y - 1);
      return List.of(
          new Rectangle(piece.from, x2, piece.low, y),
          new Rectangle(x2, piece.to, piece.low, y2),
          new Rectangle(x, piece.to, y2, piece.high),
          new Rectangle(piece.from, x, y, piece.high),
          new Rectangle(x, x2, y, y2));
    }
    if (way == 1 && length >= 2) {
      int x = piece.from + 1 + random.nextInt(length - 1);
      return List.of(
          new Rectangle(piece.from, x, piece.low, piece.high),
          new Rectangle(x, piece.to, piece.low, piece.high));
    }
    if (way == 2 && height >= 2) {
      int y = piece.low + 1 + random.nextInt(height - 1);
      return List.of(
          new Rectangle(piece.from, piece.to, piece.low, y),
          new Rectangle(piece.from, piece.to, y, piece.high));
    }
    return List.of();
  }

  /**
   * Tensors with the same load in every task, which not always fit into it: of what is alive half
   * dies after each task, and new tensors of any sizes take its place.
   */
  static List<TensorUsageRecord> dense(Random random, int tasks, int load) {
    List<TensorUsageRecord> alive = new ArrayList<>();
    List<TensorUsageRecord> done = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      List<TensorUsageRecord> kept = new ArrayList<>();
      for (TensorUsageRecord record : alive) {
        if (random.nextBoolean()) {
          kept.add(new TensorUsageRecord(record.sizeBytes(), record.firstTask(), task));
        } else {
          done.add(record);
        }
      }
      long rest = (long) load - kept.stream().mapToLong(TensorUsageRecord::sizeBytes).sum();
      while (rest > 0) {
        long size = 1L + random.nextInt(Math.toIntExact(rest));
        kept.add(new TensorUsageRecord(size, task, task));
        rest -= size;
      }
      alive = kept;
    }
    done.addAll(alive);
    return done;
  }
}
