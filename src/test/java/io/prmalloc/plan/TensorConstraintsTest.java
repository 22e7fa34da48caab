package io.prmalloc.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.SubAllocator;
import io.prmalloc.plan.TensorConstraints.Gap;
import io.prmalloc.plan.heuristic.OrderSearch;
import io.prmalloc.plan.heuristic.PlacementOrder;
import io.prmalloc.plan.heuristic.SearchOptions;
import io.prmalloc.plan.heuristic.SearchWatch;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TensorConstraintsTest {

  private static final TensorConstraints NONE = TensorConstraints.NONE;

  private static void assertRefused(String message, Executable call) {
    assertEquals(message, assertThrows(IllegalArgumentException.class, call).getMessage());
  }

  @Test
  void shouldRefuseWhatIsOutOfBounds() {
    assertRefused("alignment 0 is not from 1 to 1073741824", () -> NONE.withAlignment(0));
    assertRefused("alignment -8 is not from 1 to 1073741824", () -> NONE.withAlignment(-8));
    assertRefused(
        "alignment 1073741825 is not from 1 to 1073741824",
        () -> NONE.withAlignment((1L << 30) + 1));
    assertRefused("offset -1 is not a multiple of 1 from 0", () -> NONE.withOffset(-1));
    assertRefused(
        "offset 6 is not a multiple of 4 from 0", () -> NONE.withAlignment(4).withOffset(6));
    assertRefused("hint -2 is negative; the least is 0", () -> NONE.withHint(-2));
    assertRefused(
        "two gaps share task 5; gaps must not overlap",
        () -> NONE.withGaps(List.of(new Gap(5, 9, 0, 0), new Gap(1, 5, 0, 0))));
    assertRefused("first task 5 is after last 4", () -> new Gap(5, 4, 0, 0));
    assertRefused("bytes [3, 2) are no part of a tensor", () -> new Gap(1, 2, 3, 2));
  }

  @Test
  void shouldRefuseConstraintsThatDoNotSuitTheTensor() {
    assertRefused(
        "the gap from task 3 to 5 is not within the life from 0 to 4",
        () -> new TensorUsageRecord(4, 0, 4, NONE.withGaps(List.of(new Gap(3, 5, 0, 0)))));
    assertRefused(
        "bytes [2, 5) of a gap are not within the size 4",
        () -> new TensorUsageRecord(4, 0, 9, NONE.withGaps(List.of(new Gap(3, 5, 2, 5)))));
    assertRefused(
        "offset 9223372036854775807 with 1 bytes behind it passes 2^63 - 1",
        () -> new TensorUsageRecord(1, 0, 0, NONE.withOffset(Long.MAX_VALUE)));
  }

  @Test
  void shouldBeRefusedWhenSizesAreTooLargeForDifferencesOfOffsets() {
    long bound = 1L << 61;
    TensorUsageRecord fixed = new TensorUsageRecord(4, 0, 1, NONE.withOffset(8));
    assertEquals(
        bound, LowerBounds.loadBytes(List.of(fixed, new TensorUsageRecord(bound - 16, 0, 1))) + 12);
    assertRefused(
        "size "
            + (bound - 11)
            + " with an alignment of 1 takes the sum of all, behind fixed tensors that end at 12,"
            + " over "
            + bound
            + ", at which plans under constraints end",
        () -> LowerBounds.loadBytes(List.of(fixed, new TensorUsageRecord(bound - 11, 2, 3))));
    assertRefused(
        "size 4 with an alignment of 1 takes the sum of all, behind fixed tensors that end at "
            + (bound + 1)
            + ", over "
            + bound
            + ", at which plans under constraints end",
        () ->
            LowerBounds.loadBytes(
                List.of(new TensorUsageRecord(4, 0, 1, NONE.withOffset(bound - 3)))));
  }

  @ParameterizedTest
  @EnumSource(MemoryStrategy.class)
  void shouldBeRefusedByNameWhenAStrategyCannotObserveThem(MemoryStrategy strategy) {
    List<TensorUsageRecord> records =
        List.of(new TensorUsageRecord(4, 0, 1), new TensorUsageRecord(4, 0, 1, NONE.withOffset(8)));
    String message =
        strategy.label()
            + " cannot observe the constraints of tensors; tensor 1 has a fixed offset";
    assertRefused(message, () -> strategy.assignObjects(records));
    if (strategy == MemoryStrategy.GREEDY_BY_SIZE) {
      assertEquals(8, strategy.assignOffsets(records, 1).offset(1));
    } else {
      assertRefused(message, () -> strategy.assignOffsets(records, 1));
    }
  }

  @Test
  void shouldBeRefusedByTheSearchOverOrders() {
    SearchOptions options =
        new SearchOptions(SearchOptions.Kind.SWAPS, 1, Duration.ofSeconds(1), 10);
    assertRefused(
        "heuristic's search cannot observe the constraints of tensors; tensor 0 has an alignment",
        () ->
            OrderSearch.assignOffsets(
                List.of(new TensorUsageRecord(4, 0, 1, NONE.withAlignment(3))),
                PlacementOrder.LIFE,
                1,
                options,
                SearchWatch.NONE));
  }

  @Test
  void shouldBeFoundBrokenByTheValidatorExactlyWhenTheyAre() {
    Random random = new Random(1);
    int valid = 0;
    for (int i = 0; i < 20_000; i++) {
      List<TensorUsageRecord> records = ConstrainedInstances.random(random, 3);
      long[] offsets =
          records.stream()
              .mapToLong(r -> r.constraints().offset().orElse(random.nextInt(4) * 2L))
              .toArray();
      boolean expected = ConstrainedInstances.isValid(records, offsets, 1);
      Optional<String> fault =
          PlanValidator.fault(records, OffsetsAssignment.of(records, offsets, 1));
      assertEquals(expected, fault.isEmpty(), records + " " + fault);
      valid += expected ? 1 : 0;
    }
    assertTrue(valid > 4_000 && valid < 16_000, valid + " valid");
  }

  @Test
  void shouldSayWhatIsBrokenByName() {
    List<TensorUsageRecord> records =
        List.of(
            new TensorUsageRecord(4, 0, 9, NONE.withGaps(List.of(new Gap(2, 7, 0, 2)))),
            new TensorUsageRecord(4, 2, 7, NONE.withAlignment(2).withOffset(2)));
    List<String> names = List.of("a", "b");
    assertEquals(
        Optional.empty(),
        PlanValidator.fault(records, OffsetsAssignment.of(records, new long[] {0, 2}, 1)));
    assertEquals(
        Optional.of("tensors a and b are both alive in task 2 and share bytes from offset 2"),
        PlanValidator.fault(
            records, OffsetsAssignment.of(records, new long[] {1, 2}, 1), names::get));
    assertEquals(
        Optional.of("tensor b lies at 4, but its fixed offset is 2"),
        PlanValidator.fault(
            records, OffsetsAssignment.of(records, new long[] {0, 4}, 1), names::get));
    assertEquals(
        Optional.of("tensor b lies at 3, no multiple of 2"),
        PlanValidator.fault(
            records, OffsetsAssignment.of(records, new long[] {0, 3}, 1), names::get));
  }

  @Test
  void shouldLeaveAnswersAsTheyAreWhenOnlyHintsOrNothingIsAsked() {
    // A hint at a place that is never free makes the constrained planners run, with plain answers.
    Random random = new Random(7);
    for (int i = 0; i < 200; i++) {
      List<TensorUsageRecord> plain = Records.random(random, 1 + random.nextInt(20), 10, 12);
      List<TensorUsageRecord> hinted = new ArrayList<>(plain);
      hinted.set(0, plain.get(0).with(NONE.withHint(1L << 40)));
      assertEquals(
          MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(plain, 4).totalBytes(),
          MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(hinted, 4).totalBytes(),
          plain.toString());
    }
  }

  @Test
  void shouldHaveAlignedAddressesWhenAPlanIsOpened() {
    List<TensorUsageRecord> records =
        List.of(
            new TensorUsageRecord(4, 0, 1, NONE.withOffset(12)),
            new TensorUsageRecord(64, 0, 1, NONE.withAlignment(4096)));
    OffsetsAssignment plan = OffsetsAssignment.of(records, new long[] {12, 4096}, 1);
    assertEquals(4096, plan.memoryAlignment());
    try (PlannedArena arena = plan.open(SubAllocator.direct())) {
      ByteBuffer buffer = arena.byteBuffer(1);
      assertEquals(0, buffer.alignmentOffset(0, 64));
      assertEquals(0, buffer.alignmentOffset(0, 4096));
      assertEquals(64, buffer.capacity());
    }
  }
}
