package io.prmalloc.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PlanValidatorTest {

  private static final List<TensorUsageRecord> PAIR = Records.of(8, 0, 2, 4, 2, 3);

  private static String faultOf(List<TensorUsageRecord> records, long... offsets) {
    return PlanValidator.fault(records, OffsetsAssignment.of(records, offsets, 1)).orElse("valid");
  }

  @Test
  void shouldFindSharedBytesWhenTensorsAreAliveTogether() {
    assertEquals("valid", faultOf(PAIR, 0, 8));
    assertEquals("valid", faultOf(PAIR, 4, 0));
    assertEquals(
        "tensors 0 and 1 are both alive in task 2 and share bytes from offset 7",
        faultOf(PAIR, 0, 7));
    assertEquals(
        "tensors 0 and 1 are both alive in task 2 and share bytes from offset 3",
        faultOf(PAIR, 3, 0));
    assertEquals("valid", faultOf(Records.of(8, 0, 1, 8, 2, 3), 0, 0));
    assertEquals("valid", faultOf(Records.of(8, 0, 1, 0, 0, 3, 0, 0, 3), 0, 4, 4));
  }

  @Test
  void shouldFindTheDifferenceWhenThePlanIsForOtherRecords() {
    OffsetsAssignment plan = OffsetsAssignment.of(PAIR, new long[] {0, 8}, 8);

    assertEquals(
        Optional.of("the plan is for 2 tensors, but there are 1"),
        PlanValidator.fault(PAIR.subList(0, 1), plan));
    assertEquals(
        Optional.of("tensor 1 has 5 bytes, but 4 in the plan"),
        PlanValidator.fault(Records.of(8, 0, 2, 5, 2, 3), plan));
  }

  @Test
  void shouldRefuseWhenAnOffsetCannotBe() {
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class, () -> OffsetsAssignment.of(PAIR, new long[] {0, 4}, 8));
    assertEquals("offset 4 of tensor 1 is not a multiple of 8 from 0", e.getMessage());
    e =
        assertThrows(
            IllegalArgumentException.class,
            () -> OffsetsAssignment.of(PAIR, new long[] {Long.MAX_VALUE - 7, 0}, 1));
    assertEquals(
        "offset 9223372036854775800 with 8 bytes behind it passes 2^63 - 1", e.getMessage());
    assertThrows(
        IllegalArgumentException.class, () -> OffsetsAssignment.of(PAIR, new long[] {0}, 1));
  }

  @Test
  void shouldFindFaultsWhenObjectsAreSharedBadly() {
    assertEquals(
        Optional.of("tensors 0 and 1 are both alive in task 2 and share object 0"),
        PlanValidator.fault(PAIR, ObjectsAssignment.of(new int[] {0, 0}, new long[] {8})));
    assertEquals(
        Optional.of("tensor 0 of size 8 is in object 0 of size 7"),
        PlanValidator.fault(PAIR, ObjectsAssignment.of(new int[] {0, 1}, new long[] {7, 4})));
    assertEquals(
        Optional.empty(),
        PlanValidator.fault(PAIR, ObjectsAssignment.of(new int[] {1, 0}, new long[] {4, 8})));
    assertEquals(
        "tensor 1 is in object 2, but there are 2",
        assertThrows(
                IllegalArgumentException.class,
                () -> ObjectsAssignment.of(new int[] {1, 2}, new long[] {4, 8}))
            .getMessage());
  }

  @Test
  void shouldFindFaultsWhenShapedObjectsAreSharedBadly() {
    List<ShapedUsageRecord> records =
        List.of(
            new ShapedUsageRecord(TensorShape.of(2L, 8L), 0, 1),
            new ShapedUsageRecord(TensorShape.of(8L, 2L), 2, 3));

    assertEquals(
        Optional.of("tensor 1 of size 8x2 is in object 0 of size 2x8"),
        PlanValidator.faultOfShapes(
            records,
            ShapedObjectsAssignment.of(new int[] {0, 0}, List.of(TensorShape.of(2L, 8L)))));
    assertEquals(
        Optional.empty(),
        PlanValidator.faultOfShapes(
            records,
            ShapedObjectsAssignment.of(new int[] {0, 0}, List.of(TensorShape.of(8L, 8L)))));
  }

  /** Every pair compared: quadratic, and with nothing in common with the walk over time. */
  @Test
  void shouldAgreeWithEveryPairWhenOffsetsAreRandom() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    int valid = 0;
    for (int round = 0; round < 3000; round++) {
      List<TensorUsageRecord> records = Records.random(random, 1 + random.nextInt(5), 6, 4);
      long[] offsets = records.stream().mapToLong(r -> random.nextInt(32)).toArray();
      int[] objects = records.stream().mapToInt(r -> random.nextInt(4)).toArray();
      boolean disjoint = true;
      boolean apart = true;
      for (int i = 0; i < offsets.length; i++) {
        for (int j = 0; j < i; j++) {
          boolean together = records.get(i).overlaps(records.get(j));
          boolean bytes =
              Math.max(offsets[i], offsets[j])
                  < Math.min(
                      offsets[i] + records.get(i).sizeBytes(),
                      offsets[j] + records.get(j).sizeBytes());
          boolean empty = records.get(i).sizeBytes() == 0 || records.get(j).sizeBytes() == 0;
          disjoint &= !together || empty || !bytes;
          apart &= !together || objects[i] != objects[j];
        }
      }
      valid += disjoint ? 1 : 0;

      assertEquals(disjoint, faultOf(records, offsets).equals("valid"), "seed " + seed);
      long large = 1L << 30;
      assertEquals(
          apart,
          PlanValidator.fault(
                  records, ObjectsAssignment.of(objects, new long[] {large, large, large, large}))
              .isEmpty(),
          "seed " + seed);
    }
    assertTrue(valid > 100 && valid < 2900, valid + " valid, seed " + seed);
  }
}
