package io.prmalloc.trace.learning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.trace.Trace;
import org.junit.jupiter.api.Test;

class LearningTest {

  @Test
  void shouldPlanOnlyWhatIsNotSmallWhenLearning() {
    Trace trace = Trace.builder("t").allocate("small", 32768).allocate("large", 32769).build();

    Learning learning = Learning.of(trace, 1, 64);

    // 32769 + 64 rounds up to the first class of each policy.
    assertEquals(32768 + 4096, learning.policies().get(0).totalBytes());
    assertEquals(32768 + 8192, learning.policies().get(1).totalBytes());
    assertEquals(4096, learning.best().intervalBytes());
  }

  @Test
  void shouldAddTheHeaderWhenChoosingTheClass() {
    Trace trace = Trace.builder("t").allocate("x", 36864).build();

    assertEquals(36864, Learning.of(trace, 1, 0).best().totalBytes());
    assertEquals(40960, Learning.of(trace, 1, 1).best().totalBytes());
  }

  @Test
  void shouldBeStableWhenAStepRepeats() {
    Trace trace = Trace.builder("t").allocate("x", 50000).release("x").build();

    assertEquals(false, Learning.of(trace, 1, 64).best().stable());
    assertEquals(true, Learning.of(trace, 2, 64).best().stable());
  }

  @Test
  void shouldTakeTheFirstWhenPoliciesAreEqual() {
    Trace trace = Trace.builder("t").allocate("x", 49152).build();

    Learning learning = Learning.of(trace, 1, 0);

    assertEquals(learning.policies().get(1).totalBytes(), learning.policies().get(0).totalBytes());
    assertEquals(learning.policies().get(0), learning.best());
  }

  @Test
  void shouldRefuseWhenANumberIsOutOfItsBounds() {
    Trace trace = Trace.builder("t").allocate("x", LifetimePolicy.SMALL_BYTES).build();

    assertRefused("steps 0 is out of bounds; the least is 1", trace, 0, 64);
    assertRefused("header -1 is not from 0 to 1073741824", trace, 1, -1);
    assertRefused("header 1073741825 is not from 0 to 1073741824", trace, 1, (1 << 30) + 1);
  }

  private static void assertRefused(String message, Trace trace, int steps, int headerBytes) {
    IllegalArgumentException wrong =
        assertThrows(IllegalArgumentException.class, () -> Learning.of(trace, steps, headerBytes));
    assertEquals(message, wrong.getMessage());
  }
}
