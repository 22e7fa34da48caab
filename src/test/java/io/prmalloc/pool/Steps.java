package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prmalloc.SharedData;
import io.prmalloc.internal.lifecycle.PlannerBinding;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.MemoryPlanner.Tracked;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Steps of a server as lists of events, and what a planner makes of them. */
public final class Steps {

  /**
   * A tensor is taken or given back.
   *
   * @param tensor its number in the step
   * @param bytes header included
   */
  public record Event(boolean begins, int tensor, long bytes, long alignment) {}

  private Steps() {}

  /**
   * A step with so many tensors, of which at most some are out at a time; all are given back within
   * it.
   */
  public static List<Event> random(
      SplittableRandom random, int tensors, int most, long[] alignments) {
    long[] sizes = new long[1 + random.nextInt(20)];
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = LifetimePolicy.SMALL_BYTES + 1 + random.nextLong(1L << (14 + random.nextInt(8)));
    }
    List<Event> events = new ArrayList<>();
    List<Event> out = new ArrayList<>();
    int taken = 0;
    while (taken < tensors || !out.isEmpty()) {
      if (taken < tensors && out.size() < most && random.nextInt(5) < 3) {
        long bytes = sizes[random.nextInt(sizes.length)];
        long alignment = alignments[random.nextInt(alignments.length)];
        Event event = new Event(true, taken++, bytes, alignment);
        events.add(event);
        out.add(event);
      } else if (!out.isEmpty()) {
        Event event = out.remove(random.nextInt(out.size()));
        events.add(new Event(false, event.tensor(), event.bytes(), event.alignment()));
      }
    }
    return events;
  }

  /** Reads an event file of the shared data: lines {@code a ID SIZE} and {@code f ID 0}. */
  public static List<Event> read(String name) throws IOException {
    Path file = SharedData.path("events/" + name + ".ev");
    Map<String, Event> out = new HashMap<>();
    List<Event> events = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      String[] fields = line.split(" ", -1);
      if (fields[0].equals("a")) {
        Event event = new Event(true, out.size(), Long.parseLong(fields[2]), 64);
        out.put(fields[1], event);
        events.add(event);
      } else {
        Event event = out.get(fields[1]);
        events.add(new Event(false, event.tensor(), event.bytes(), 64));
      }
    }
    return events;
  }

  /** The events that the planner is told of. */
  public static List<Event> planned(List<Event> events) {
    return events.stream().filter(event -> event.bytes() > LifetimePolicy.SMALL_BYTES).toList();
  }

  /** What a planner that sees these steps, one after the other, tells its allocator. */
  public static LifetimePlan learn(List<List<Event>> steps) {
    List<LifetimePlan> plans = new ArrayList<>();
    MemoryPlanner planner = planner(steps.size());
    PlannerBinding.bind(planner, plans::add, null);
    show(planner, steps);
    assertEquals(1, plans.size());
    return plans.get(0);
  }

  /** A planner that is done after so many steps with something in them. */
  public static MemoryPlanner planner(int steps) {
    PlannerSettings settings =
        PlannerSettings.DEFAULTS
            .withStartStep(0)
            .withStableSteps(Integer.MAX_VALUE)
            .withMaxSteps(steps - 1);
    return MemoryPlannerFactory.create(settings, Runnable::run);
  }

  static void show(MemoryPlanner planner, List<List<Event>> steps) {
    for (List<Event> step : steps) {
      ScopedMemoryCollector scope = planner.collect();
      Map<Integer, Tracked> out = new HashMap<>();
      for (Event event : step) {
        if (event.begins()) {
          out.put(event.tensor(), planner.trackAllocate(event.alignment(), event.bytes()));
        } else {
          planner.trackFree(out.remove(event.tensor()));
        }
      }
      scope.close();
      // What outlives its step is freed before the next, as a server's outputs are.
      out.values().forEach(planner::trackFree);
    }
  }
}
