package io.prmalloc.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Makes lists of records for tests. */
public final class Records {

  private Records() {}

  /** Records from triples of size, first task, last task. */
  public static List<TensorUsageRecord> of(long... triples) {
    List<TensorUsageRecord> records = new ArrayList<>();
    for (int i = 0; i < triples.length; i += 3) {
      records.add(new TensorUsageRecord(triples[i], triples[i + 1], triples[i + 2]));
    }
    return records;
  }

  /** Random lives: first tasks below {@code tasks}, in no order, and sizes of a few kinds. */
  public static List<TensorUsageRecord> random(Random random, int count, int tasks, int longest) {
    int kind = random.nextInt(4);
    List<TensorUsageRecord> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long size =
          switch (kind) {
            case 0 -> random.nextInt(8);
            case 1 -> 64L * (1 + random.nextInt(4));
            case 2 -> random.nextInt(1 << 20);
            default -> 1L << random.nextInt(20);
          };
      long first = random.nextInt(tasks);
      records.add(new TensorUsageRecord(size, first, first + random.nextInt(longest)));
    }
    return records;
  }
}
