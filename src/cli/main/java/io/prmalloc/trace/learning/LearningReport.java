package io.prmalloc.trace.learning;

import com.fasterxml.jackson.core.JsonGenerator;
import io.prmalloc.lifetime.LifetimeBin;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.model.Counted;
import io.prmalloc.trace.JsonText;
import io.prmalloc.trace.TextTable;
import java.io.IOException;
import java.util.Locale;

/**
 * Shows a {@link Learning}, to people or to programs.
 *
 * <p>Threading: any thread.
 */
public final class LearningReport {

  private LearningReport() {}

  /**
   * One JSON document on one line, as the command line contract has it: of each policy the bins
   * that have blocks or virtual blocks, by index, and of each bin the bins its virtual blocks point
   * into, in order.
   *
   * <p>Threading: any thread.
   */
  public static String json(Learning learning) {
    return JsonText.of(
        json -> {
          json.writeStartObject();
          json.writeNumberField("steps", learning.steps());
          json.writeNumberField("header", learning.headerBytes());
          json.writeNumberField("best", learning.best().intervalBytes());
          json.writeArrayFieldStart("policies");
          for (LifetimePolicy policy : learning.policies()) {
            writePolicy(json, policy);
          }
          json.writeEndArray();
          json.writeEndObject();
        });
  }

  private static void writePolicy(JsonGenerator json, LifetimePolicy policy) throws IOException {
    json.writeStartObject();
    json.writeNumberField("intervalBytes", policy.intervalBytes());
    json.writeNumberField("totalBytes", policy.totalBytes());
    json.writeBooleanField("stable", policy.stable());
    json.writeArrayFieldStart("bins");
    for (LifetimeBin bin : policy.bins()) {
      json.writeStartObject();
      json.writeNumberField("index", bin.index());
      json.writeNumberField("chunkBytes", bin.chunkBytes());
      json.writeNumberField("blocks", bin.blocks().size());
      json.writeArrayFieldStart("virtualBlocks");
      for (LifetimeBin larger : bin.virtualBlocks()) {
        json.writeNumber(larger.index());
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  /**
   * The policies, and the bins of the best one, as tables. The factor is what the policy needs over
   * the trace's load.
   *
   * <p>Threading: any thread.
   */
  public static String text(Learning learning) {
    long loadBytes = learning.trace().loadBytes();
    TextTable policies =
        new TextTable("policy", "total bytes", "factor", "stable", "bins", "blocks", "virtual");
    for (LifetimePolicy policy : learning.policies()) {
      policies.row(
          policy.intervalBytes() / 1024 + " KiB" + (policy == learning.best() ? " (best)" : ""),
          Long.toString(policy.totalBytes()),
          loadBytes == 0
              ? "-"
              : String.format(Locale.ROOT, "%.3f", (double) policy.totalBytes() / loadBytes),
          policy.stable() ? "yes" : "no",
          Integer.toString(policy.bins().size()),
          Integer.toString(policy.bins().stream().mapToInt(bin -> bin.blocks().size()).sum()),
          Integer.toString(
              policy.bins().stream().mapToInt(bin -> bin.virtualBlocks().size()).sum()));
    }
    TextTable bins = new TextTable("bin", "chunk bytes", "blocks", "virtual");
    for (LifetimeBin bin : learning.best().bins()) {
      bins.row(
          Integer.toString(bin.index()),
          Long.toString(bin.chunkBytes()),
          Integer.toString(bin.blocks().size()),
          Integer.toString(bin.virtualBlocks().size()));
    }
    return learning.trace().name()
        + ": "
        + Counted.of(learning.trace().tensorCount(), "tensor")
        + ", load "
        + loadBytes
        + " bytes, "
        + learning.steps()
        + (learning.steps() == 1 ? " step\n\n" : " equal steps\n\n")
        + policies
        + "\n"
        + bins;
  }
}
