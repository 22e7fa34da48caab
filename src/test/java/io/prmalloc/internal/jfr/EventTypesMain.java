package io.prmalloc.internal.jfr;

import io.prmalloc.pool.TensorPoolAllocator;
import java.util.stream.Collectors;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;

/**
 * Prints the event types that Flight Recorder knows after a pool is built, before it has served
 * anything.
 */
final class EventTypesMain {

  private EventTypesMain() {}

  /** Threading: one thread. */
  public static void main(String[] arguments) {
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
      System.out.print(
          FlightRecorder.getFlightRecorder().getEventTypes().stream()
              .map(EventType::getName)
              .filter(name -> name.startsWith("io.prmalloc."))
              .sorted()
              .collect(Collectors.joining(" ")));
      pool.trim();
    }
  }
}
