package io.prmalloc.trace.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.trace.replay.lane.Api;
import io.prmalloc.trace.replay.lane.Memory;
import io.prmalloc.trace.replay.lane.PoolSetup;
import org.junit.jupiter.api.Test;

class ReplayOptionsTest {

  @Test
  void shouldRefuseWhenANumberIsOutOfItsBounds() {
    ReplayOptions options = ReplayOptions.DEFAULT;

    assertRefused("steps 0 is out of bounds; the least is 1", () -> options.withSteps(0));
    assertRefused("steps -1 is out of bounds; the least is 1", () -> options.withSteps(-1));
    assertRefused("threads 0 is out of bounds; the least is 1", () -> options.withThreads(0));
    assertRefused("threads 1025 exceeds 1024", () -> options.withThreads(1025));
    assertRefused(
        "warmup-steps 0 is out of bounds; the least is 1", () -> options.withWarmupSteps(0));
  }

  @Test
  void shouldChangeOneThingWhenAskedTo() {
    ReplayOptions options =
        ReplayOptions.DEFAULT
            .withSteps(7)
            .withThreads(3)
            .withWarmupSteps(5)
            .withTouch(Touch.ALL)
            .withApi(Api.HANDLE)
            .withMemory(Memory.MMAP);

    assertEquals(
        new ReplayOptions(
            7,
            java.util.OptionalInt.of(5),
            3,
            Touch.ALL,
            Api.HANDLE,
            Memory.MMAP,
            PoolSetup.DEFAULT),
        options);
    assertEquals(5, options.maxLearningSteps());
    assertEquals(300, ReplayOptions.DEFAULT.maxLearningSteps());
  }

  @Test
  void shouldMeasureFewerStepsWhenTheyAreLongAndNobodySaysHowMany() {
    assertEquals(1000, ReplayOptions.defaultSteps(0));
    assertEquals(1000, ReplayOptions.defaultSteps(20_000));
    assertEquals(200, ReplayOptions.defaultSteps(100_000));
    assertEquals(20, ReplayOptions.defaultSteps(1_000_000));
    assertEquals(10, ReplayOptions.defaultSteps(Integer.MAX_VALUE));
  }

  private static void assertRefused(String message, Runnable change) {
    assertEquals(message, assertThrows(IllegalArgumentException.class, change::run).getMessage());
  }
}
