package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class TraceTest {

  @Test
  void shouldKeepEventsInOrderWhenTensorsComeAndGo() {
    Trace trace =
        Trace.builder("t").allocate("x", 10).allocate("y", 0).release("x").release("y").build();

    assertArrayEquals(new int[] {0, 1, ~0, ~1}, trace.events());
    assertArrayEquals(new long[] {10, 0}, trace.sizesBytes());
    assertEquals("y", trace.id(1));
    assertEquals(10, trace.loadBytes());
    assertEquals(10, trace.largestTensorBytes());
  }

  @Test
  void shouldReleaseTheRestInOrderOfAllocationWhenBuilt() {
    Trace trace =
        Trace.builder("t").allocate("x", 1).allocate("y", 2).allocate("z", 3).release("y").build();

    assertArrayEquals(new int[] {0, 1, 2, ~1, ~0, ~2}, trace.events());
    assertEquals(6, trace.loadBytes());
  }

  @Test
  void shouldBeAnotherTensorWhenAnIdComesAgain() {
    Trace trace =
        Trace.builder("t").allocate("x", 5).release("x").allocate("x", 7).release("x").build();

    assertArrayEquals(new int[] {0, ~0, 1, ~1}, trace.events());
    assertEquals(7, trace.loadBytes());
  }

  @Test
  void shouldGrowWhenManyTensorsAreAlive() {
    Trace.Builder builder = Trace.builder("t");
    for (int i = 0; i < 1000; i++) {
      builder.allocate("t" + i, i);
    }
    Trace trace = builder.build();

    assertEquals(1000, trace.tensorCount());
    assertEquals(2000, trace.eventCount());
    assertEquals(999, trace.sizeBytes(999));
    assertEquals(999 * 1000 / 2, trace.loadBytes());
  }

  @Test
  void shouldSumPastTwoGiBWhenTensorsAreLarge() {
    Trace trace = Trace.builder("t").allocate("x", 1L << 40).allocate("y", 1L << 40).build();

    assertEquals(1L << 41, trace.loadBytes());
  }

  @Test
  void shouldRoundEachSizeUpWhenTheLoadIsAligned() {
    Trace trace =
        Trace.builder("t")
            .allocate("x", 65)
            .allocate("y", 0)
            .allocate("z", 64)
            .release("x")
            .allocate("w", 1)
            .build();

    assertEquals(129, trace.loadBytes());
    assertEquals(192, trace.alignedLoadBytes(64));
    assertEquals(129, trace.alignedLoadBytes(1));
    assertThrows(IllegalArgumentException.class, () -> trace.alignedLoadBytes(48));
  }

  @Test
  void shouldRefuseWhenAnEventCannotBe() {
    Trace.Builder builder = Trace.builder("t").allocate("x", 1);

    assertRefused("tensor x is allocated while it is alive", () -> builder.allocate("x", 1));
    assertRefused("tensor y is released but was never allocated", () -> builder.release("y"));
    assertRefused(
        "size -1 of tensor y is negative; the least is 0", () -> builder.allocate("y", -1));
    assertRefused(
        "size 1099511627777 of tensor y exceeds 1099511627776",
        () -> builder.allocate("y", Trace.MAX_TENSOR_BYTES + 1));
    assertRefused("a tensor's id is empty", () -> builder.allocate("", 1));
    builder.release("x");
    assertRefused("tensor x is released a second time", () -> builder.release("x"));

    assertArrayEquals(new int[] {0, ~0}, builder.build().events());
  }

  private static void assertRefused(String message, Runnable event) {
    IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, event::run);
    assertEquals(message, refused.getMessage());
  }
}
