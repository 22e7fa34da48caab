package io.prmalloc.micrometer;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.prmalloc.pool.TensorPoolAllocator;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The pools that are bound to each registry, by name: one pool a name at a time.
 *
 * <p>Threading: any thread.
 */
final class BoundPools {

  // A registry that has a meter of some name and tags keeps that meter, ignores the next one, and
  // only logs that. So the figures of a second pool of the same name would be missing, and those of
  // a pool that replaces a closed one, as when an application restarts within its process.

  private static final Map<MeterRegistry, Map<String, WeakReference<TensorPoolAllocator>>> BOUND =
      new WeakHashMap<>();

  private BoundPools() {}

  /**
   * Registers the meters of a pool, in place of those of a closed pool of the same name.
   *
   * @param meters registers them
   * @throws IllegalStateException if another pool of this name is bound and not closed
   */
  static void bind(
      MeterRegistry registry,
      String name,
      TensorPoolAllocator pool,
      Consumer<MeterRegistry> meters) {
    synchronized (BOUND) {
      Map<String, WeakReference<TensorPoolAllocator>> pools =
          BOUND.computeIfAbsent(registry, anew -> new HashMap<>());
      WeakReference<TensorPoolAllocator> bound = pools.get(name);
      TensorPoolAllocator other = bound == null ? null : bound.get();
      if (other != null && other != pool && !other.isClosed()) {
        throw new IllegalStateException(
            "the registry has the meters of another pool with the name `"
                + name
                + "`: give each pool a name of its own");
      }
      if (bound != null) {
        // Also those of the pool itself: to register them again would be logged.
        idsOf(registry, name).forEach(registry::remove);
      }
      meters.accept(registry);
      pools.put(name, new WeakReference<>(pool));
    }
  }

  private static Set<Meter.Id> idsOf(MeterRegistry registry, String name) {
    return registry.getMeters().stream()
        .map(Meter::getId)
        .filter(id -> id.getName().startsWith("prmalloc.") && name.equals(id.getTag("pool")))
        .collect(Collectors.toSet());
  }
}
