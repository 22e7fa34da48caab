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
 * Which pool the meters of a name are of, in each registry.
 *
 * <p>Threading: any thread.
 */
final class BoundPools {

  // A registry that has a meter of some name and tags goes on with that one and only logs that the
  // next is ignored. So a second pool of a name would be shown by nobody, and so would the one that
  // comes after a closed one, as where an application starts anew within its process.

  private static final Map<MeterRegistry, Map<String, WeakReference<TensorPoolAllocator>>> BOUND =
      new WeakHashMap<>();

  private BoundPools() {}

  /**
   * Has the meters of a pool registered.
   *
   * @throws IllegalStateException if those of another one are there that is not closed
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
