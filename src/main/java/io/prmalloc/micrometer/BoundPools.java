package io.prmalloc.micrometer;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.prmalloc.pool.TensorPoolAllocator;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
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
  //
  // A composite registry has its meters in the registries that it was given, and they may be given
  // or taken away later. So whether two registries share one is looked up with each binding.

  private static final Map<MeterRegistry, Map<String, WeakReference<TensorPoolAllocator>>> BOUND =
      new WeakHashMap<>();

  private BoundPools() {}

  /**
   * Registers the meters of a pool, in place of those of a closed pool of the same name.
   *
   * @param meters registers them
   * @throws IllegalStateException if another pool of this name is bound and not closed, to this
   *     registry or to one that shows its meters in the same place
   */
  static void bind(
      MeterRegistry registry,
      String name,
      TensorPoolAllocator pool,
      Consumer<MeterRegistry> meters) {
    synchronized (BOUND) {
      Set<MeterRegistry> parts = partsOf(registry);
      boolean isThere = false;
      for (WeakReference<TensorPoolAllocator> bound : boundBeside(parts, name)) {
        TensorPoolAllocator other = bound.get();
        if (other != null && other != pool && !other.isClosed()) {
          throw new IllegalStateException(
              "the registry has the meters of another pool with the name `"
                  + name
                  + "`: give each pool a name of its own");
        }
        isThere = true;
      }
      if (isThere) {
        // Also those of the pool itself: to register them again would be logged.
        for (MeterRegistry part : parts) {
          idsOf(part, name).forEach(part::remove);
          BOUND.getOrDefault(part, new HashMap<>()).remove(name);
        }
      }
      meters.accept(registry);
      BOUND.computeIfAbsent(registry, anew -> new HashMap<>()).put(name, new WeakReference<>(pool));
    }
  }

  /** A registry, and all that a composite one passes its meters on to. */
  private static Set<MeterRegistry> partsOf(MeterRegistry registry) {
    Set<MeterRegistry> parts = Collections.newSetFromMap(new IdentityHashMap<>());
    addParts(registry, parts);
    return parts;
  }

  private static void addParts(MeterRegistry registry, Set<MeterRegistry> parts) {
    if (parts.add(registry) && registry instanceof CompositeMeterRegistry composite) {
      composite.getRegistries().forEach(part -> addParts(part, parts));
    }
  }

  /**
   * The pools of a name whose meters are in one of these registries, as they are put together now.
   */
  private static List<WeakReference<TensorPoolAllocator>> boundBeside(
      Set<MeterRegistry> parts, String name) {
    List<WeakReference<TensorPoolAllocator>> pools = new ArrayList<>();
    BOUND.forEach(
        (registry, names) -> {
          if (names.containsKey(name) && !Collections.disjoint(partsOf(registry), parts)) {
            pools.add(names.get(name));
          }
        });
    return pools;
  }

  private static Set<Meter.Id> idsOf(MeterRegistry registry, String name) {
    return registry.getMeters().stream()
        .map(Meter::getId)
        .filter(id -> id.getName().startsWith("prmalloc.") && name.equals(id.getTag("pool")))
        .collect(Collectors.toSet());
  }
}
