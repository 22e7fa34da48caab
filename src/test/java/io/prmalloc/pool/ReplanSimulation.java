package io.prmalloc.pool;

import io.prmalloc.Allocation;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.lifecycle.Maintenance;
import io.prmalloc.internal.lifecycle.ReplanSettings;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Runs a real pool over generated traffic that changes, with different settings for when a plan is
 * replaced, and prints the cost of each. Time is counted in steps: the sixteen looks that find
 * unused memory take {@link #IDLE_STEPS} steps together.
 */
@SuppressWarnings("try") // a step is a bracket: what is asked of the pool meanwhile belongs to it
final class ReplanSimulation {

  /** The idle time. */
  static final int IDLE_STEPS = 64;

  private static final int LOOK_STEPS = IDLE_STEPS / OverProvisionMonitor.LOOKS;
  private static final int STEPS = 3000;
  private static final int TENSORS = 30;
  private static final int ALIVE = 4;

  /** Traffic: the sizes that a step asks for. */
  enum Traffic {
    /** Batch 2, 8 and 2 again. */
    BATCH {
      @Override
      long[] sizes(int step) {
        return model(1, step / 1000 == 1 ? 8 : 2);
      }
    },
    /** One model, and then a smaller one. */
    MODEL {
      @Override
      long[] sizes(int step) {
        return step < STEPS / 2 ? model(1, 4) : model(2, 2);
      }
    },
    /** Every hundred steps all is three parts in a hundred larger. */
    DRIFT {
      @Override
      long[] sizes(int step) {
        return model(1, 2 * Math.pow(1.03, Math.floorDiv(step, 100)));
      }
    },
    /** Five steps of four times the batch, every three hundred steps. */
    BURSTS {
      @Override
      long[] sizes(int step) {
        return model(1, step % 300 >= 295 ? 8 : 2);
      }
    },
    /** One step in ten asks for one tensor that was never seen, of a size of its own. */
    ODD {
      @Override
      long[] sizes(int step) {
        long[] sizes = model(1, 2);
        if (step % 10 == 9) {
          sizes[step / 10 % TENSORS] = 4_000_000 + 40_000L * (step / 10);
        }
        return sizes;
      }
    },
    /** Every three hundred steps all is seven parts in a hundred smaller. */
    FALLING {
      @Override
      long[] sizes(int step) {
        return model(1, 8 * Math.pow(0.93, Math.floorDiv(step, 300)));
      }
    },
    /** For a third of the time only the first third of a step is run. */
    LULLS {
      @Override
      long[] sizes(int step) {
        long[] sizes = model(1, 2);
        return step % 600 < 400 ? sizes : Arrays.copyOf(sizes, TENSORS / 3);
      }
    },
    /** For two thirds of the time the batch is small, for one third large. */
    DAY_AND_NIGHT {
      @Override
      long[] sizes(int step) {
        return model(1, step % 600 < 400 ? 2 : 3.6);
      }
    },
    /** Every step has sizes of its own: all times a factor from a quarter to one. */
    FREE {
      @Override
      long[] sizes(int step) {
        return model(1, 8 * (0.25 + 0.75 * new SplittableRandom(step).nextDouble()));
      }
    };

    abstract long[] sizes(int step);

    /** Whether a step is none of those that are compared with a plan for themselves. */
    private boolean isOdd(int step) {
      return (this == BURSTS && step % 300 >= 295)
          || (this == ODD && step % 10 == 9)
          || (this == FREE && step % 100 != 0);
    }
  }

  /**
   * What a pool made of it, after warm-up.
   *
   * @param replans how often a plan gave way
   * @param missedPercent requests that found no block, of 100
   * @param extraPercent reserved bytes beyond those of a plan for the step, of 100 such bytes, mean
   *     of all steps
   * @param slowest the most steps in a row in which more than 1 of 100 requests missed
   */
  record Cost(int replans, double missedPercent, double extraPercent, int slowest) {}

  private final SubAllocator source = SubAllocator.mmap(MmapOptions.DEFAULT);
  private final List<Maintenance.Target> targets = new ArrayList<>();
  private final Map<Long, Long> aloneBytes = new LinkedHashMap<>();
  private final ReplanSettings settings;

  private ReplanSimulation(ReplanSettings settings) {
    this.settings = settings;
  }

  private static long[] model(long seed, double batch) {
    SplittableRandom random = new SplittableRandom(seed);
    long[] sizes = new long[TENSORS];
    for (int i = 0; i < TENSORS; i++) {
      sizes[i] = (long) (batch * (33_000 + 20_000L * random.nextInt(10)));
    }
    return sizes;
  }

  static Cost run(Traffic traffic, ReplanSettings settings) {
    return new ReplanSimulation(settings).run(traffic);
  }

  private Cost run(Traffic traffic) {
    double extra = 0;
    int counted = 0;
    int slow = 0;
    int slowest = 0;
    try (TensorPoolAllocator pool = newPool(source)) {
      warmUp(pool, traffic.sizes(0));
      long unservedBefore = unserved(pool);
      for (int step = 0; step < STEPS; step++) {
        long before = unserved(pool);
        long[] sizes = traffic.sizes(step);
        step(pool, sizes, step % LOOK_STEPS == 0 ? 7 * (step / LOOK_STEPS) % sizes.length : -1);
        slow = 100 * (unserved(pool) - before) > sizes.length ? slow + 1 : 0;
        slowest = Math.max(slowest, slow);
        if (!traffic.isOdd(step)) {
          extra += (double) source.bytesReserved() / alone(sizes) - 1;
          counted++;
        }
      }
      return new Cost(
          pool.poolStats().replans(),
          100.0 * (unserved(pool) - unservedBefore) / ((long) STEPS * TENSORS),
          100 * extra / counted,
          slowest);
    }
  }

  private TensorPoolAllocator newPool(SubAllocator memory) {
    return TensorPoolAllocator.builder()
        .subAllocator(memory)
        .startStatisticStep(0)
        .executor(Runnable::run)
        .replanWhen(settings.withIdle(Duration.ofHours(1)))
        .maintenance(
            (target, period) -> {
              targets.add(target);
              return () -> {};
            })
        .build();
  }

  private static long unserved(TensorPoolAllocator pool) {
    PoolStats stats = pool.poolStats();
    return stats.misses() + stats.nullBins();
  }

  private long alone(long... sizes) {
    return aloneBytes.computeIfAbsent(
        (sizes[0] << 24 | sizes[1]) + sizes.length,
        key -> {
          SubAllocator own = SubAllocator.mmap(MmapOptions.DEFAULT);
          try (TensorPoolAllocator fresh =
              TensorPoolAllocator.builder()
                  .subAllocator(own)
                  .startStatisticStep(0)
                  .executor(Runnable::run)
                  .build()) {
            warmUp(fresh, sizes);
            return own.bytesReserved();
          }
        });
  }

  private void warmUp(TensorPoolAllocator pool, long... sizes) {
    while (!pool.isPooling()) {
      step(pool, sizes, -1);
    }
  }

  /** Each tensor lives for a few requests; there is a look after one of them, or none. */
  private void step(TensorPoolAllocator pool, long[] sizes, int lookAt) {
    try (ScopedMemoryCollector step = pool.collect()) {
      Deque<Allocation> live = new ArrayDeque<>();
      for (int i = 0; i < sizes.length; i++) {
        live.add(pool.allocate(sizes[i]));
        if (live.size() > ALIVE) {
          live.poll().close();
        }
        if (i == lookAt) {
          targets.forEach(Maintenance.Target::look);
        }
      }
      live.forEach(Allocation::close);
    }
  }

  private static Map<String, ReplanSettings> grid() {
    ReplanSettings d = ReplanSettings.DEFAULTS;
    Map<String, ReplanSettings> grid = new LinkedHashMap<>();
    grid.put("default", d);
    for (int window : new int[] {32, 64, 256, 1024}) {
      grid.put("window " + window, with(d, window, d.windows(), d.percent()));
    }
    for (int windows : new int[] {1, 2, 6}) {
      grid.put("windows " + windows, with(d, d.window(), windows, d.percent()));
    }
    for (int percent : new int[] {0, 1, 5, 10}) {
      grid.put("percent " + percent, with(d, d.window(), d.windows(), percent));
    }
    for (double spare : new double[] {1.05, 1.1, 1.5, 2}) {
      grid.put(
          "spare " + spare,
          new ReplanSettings(d.window(), d.windows(), d.percent(), d.idle(), spare, d.gain()));
    }
    for (double gain : new double[] {1.01, 1.1, 1.3}) {
      grid.put(
          "gain " + gain,
          new ReplanSettings(d.window(), d.windows(), d.percent(), d.idle(), d.spare(), gain));
    }
    return grid;
  }

  private static ReplanSettings with(ReplanSettings d, int window, int windows, int percent) {
    return new ReplanSettings(window, windows, percent, d.idle(), d.spare(), d.gain());
  }

  /** Prints a table in Markdown: re-plans / missed % / extra %. */
  public static void main(String[] args) {
    StringBuilder head = new StringBuilder("| setting |");
    StringBuilder line = new StringBuilder("| --- |");
    for (Traffic traffic : Traffic.values()) {
      head.append(' ').append(traffic.name().toLowerCase(Locale.ROOT).replace('_', ' '));
      head.append(" |");
      line.append(" --- |");
    }
    System.out.println(head + "\n" + line);
    grid()
        .forEach(
            (name, settings) -> {
              StringBuilder row = new StringBuilder("| " + name + " |");
              for (Traffic traffic : Traffic.values()) {
                Cost cost = run(traffic, settings);
                row.append(
                    String.format(
                        Locale.ROOT,
                        " %d / %.2f / %.0f |",
                        cost.replans(),
                        cost.missedPercent(),
                        cost.extraPercent()));
              }
              System.out.println(row);
            });
  }
}
