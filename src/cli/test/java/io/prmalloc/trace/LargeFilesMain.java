package io.prmalloc.trace;

import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads files that are larger than its heap, and writes each again as a table. */
public final class LargeFilesMain {

  private LargeFilesMain() {}

  /**
   * Reads and writes.
   *
   * @param arguments files
   */
  public static void main(String[] arguments) throws IOException {
    for (String file : arguments) {
      Path path = Path.of(file);
      TensorLifetimes lives = new TraceInput(file, null, null).readLifetimes();
      long[] offsets = new long[lives.count()];
      long next = 0;
      for (int i = 0; i < offsets.length; i++) {
        TensorUsageRecord record = lives.records().get(i);
        offsets[i] = next;
        next += record.sizeBytes();
      }
      Path out = Path.of(file + ".out");
      try (Writer text = Files.newBufferedWriter(out)) {
        lives.writeCsv(OffsetsAssignment.of(lives.records(), offsets, 1), text);
      }
      System.out.println(TraceFormat.detect(path).label() + " " + lives.count());
    }
  }
}
