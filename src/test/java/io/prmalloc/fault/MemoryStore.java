package io.prmalloc.fault;

import io.prmalloc.kept.PlanStore;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Plans that are shared within a scenario. Threading: any thread. */
final class MemoryStore implements PlanStore {

  private final Map<String, byte[]> plans = new HashMap<>();

  synchronized boolean isEmpty() {
    return plans.isEmpty();
  }

  @Override
  public synchronized Optional<byte[]> read(String key) {
    InjectionPoints.userCode();
    return Optional.ofNullable(plans.get(key));
  }

  @Override
  public synchronized boolean replace(String key, Optional<byte[]> read, byte[] bytes) {
    InjectionPoints.userCode();
    boolean same = Arrays.equals(plans.get(key), read.orElse(null));
    if (same) {
      plans.put(key, bytes);
    }
    return same;
  }

  @Override
  public void close() {}
}
