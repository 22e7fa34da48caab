package io.prmalloc.report;

import com.fasterxml.jackson.core.JsonGenerator;
import io.prmalloc.Allocator;
import io.prmalloc.lifetime.AllocStats;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.pool.PlanComparison;
import io.prmalloc.pool.PlanComparison.Drawn;
import io.prmalloc.pool.PoolPolicies;
import io.prmalloc.trace.JsonText;
import io.prmalloc.trace.Trace;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Draws what a pool learns from a step: the lifetimes by size class, the plan it chooses, and what
 * every other plan would have cost.
 *
 * <p>Threading: any thread.
 */
public final class PoolPage {

  // The page is that of plans, with a tab for each candidate, and has two pictures more above it.

  private PoolPage() {}

  /**
   * The page.
   *
   * <p>Threading: any thread.
   *
   * @param trace the step
   * @param headerBytes what the pool needs beside the bytes asked for, from 0
   * @param policies which plans the pool chooses from
   * @param planningTime how long a plan of the step is looked for
   * @throws IllegalArgumentException if nothing in the trace is large enough to be planned
   */
  public static String html(
      Trace trace, int headerBytes, PoolPolicies policies, Duration planningTime) {
    List<Integer> tensors = new ArrayList<>();
    List<AllocStats> lives = lives(trace, headerBytes, tensors);
    if (lives.isEmpty()) {
      throw new IllegalArgumentException(
          trace.name() + ": no tensor has more than " + LifetimePolicy.SMALL_BYTES + " bytes");
    }
    List<Drawn> plans = PlanComparison.of(lives, policies, planningTime);
    return Pages.fill("plan.html", data(trace, tensors, lives, plans));
  }

  /** The planned tensors, in the order in which they are taken. */
  private static List<AllocStats> lives(Trace trace, int headerBytes, List<Integer> tensors) {
    long[] ends = new long[trace.tensorCount()];
    for (int event = 0; event < trace.eventCount(); event++) {
      if (trace.event(event) < 0) {
        ends[~trace.event(event)] = event;
      }
    }
    List<AllocStats> lives = new ArrayList<>();
    for (int event = 0; event < trace.eventCount(); event++) {
      int tensor = trace.event(event);
      if (tensor >= 0 && trace.sizeBytes(tensor) > LifetimePolicy.SMALL_BYTES) {
        tensors.add(tensor);
        lives.add(
            new AllocStats(
                event,
                ends[tensor],
                trace.sizeBytes(tensor) + headerBytes,
                Allocator.DEFAULT_ALIGNMENT));
      }
    }
    return lives;
  }

  private static long loadBytes(List<AllocStats> lives) {
    return LowerBounds.loadBytes(
        lives.stream()
            .map(life -> new TensorUsageRecord(life.sizeBytes(), life.beginTick(), lastTick(life)))
            .toList());
  }

  /** A tensor that is given back leaves its bytes to the next event. */
  private static long lastTick(AllocStats life) {
    return Math.max(life.beginTick(), life.endTick() - 1);
  }

  private static String data(
      Trace trace, List<Integer> tensors, List<AllocStats> lives, List<Drawn> plans) {
    return JsonText.of(
        json -> {
          json.writeStartObject();
          json.writeStringField("name", trace.name());
          json.writeNumberField("load", loadBytes(lives));
          json.writeArrayFieldStart("labels");
          for (int tensor : tensors) {
            json.writeString(trace.id(tensor));
          }
          json.writeEndArray();
          writeNumbers(json, "sizes", lives, AllocStats::sizeBytes);
          writeNumbers(json, "first", lives, AllocStats::beginTick);
          writeNumbers(json, "last", lives, PoolPage::lastTick);
          json.writeArrayFieldStart("plans");
          for (Drawn plan : plans) {
            json.writeStartObject();
            json.writeStringField("strategy", plan.name());
            json.writeStringField("kind", plan.shared() ? "blocks" : "offsets");
            json.writeNumberField("total", plan.bytes());
            json.writeBooleanField("chosen", plan.chosen());
            writeNumbers(json, "offsets", plan.offsets(), Long::longValue);
            writeNumbers(json, "blockBytes", plan.blockBytes(), Long::longValue);
            json.writeEndObject();
          }
          json.writeEndArray();
          json.writeBooleanField("pool", true);
          json.writeEndObject();
        });
  }

  private static <T> void writeNumbers(
      JsonGenerator json, String key, List<T> things, ToLongFunction<T> number) throws IOException {
    long[] numbers = things.stream().mapToLong(number).toArray();
    json.writeFieldName(key);
    json.writeArray(numbers, 0, numbers.length);
  }
}
