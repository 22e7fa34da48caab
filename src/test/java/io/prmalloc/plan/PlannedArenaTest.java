package io.prmalloc.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlannedArenaTest {

  private final SubAllocator memory = SubAllocator.direct();

  @Test
  void shouldKeepLiveTensorsApartWhenAllAreWritten() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    List<TensorUsageRecord> records = Records.random(random, 60, 40, 6);
    OffsetsAssignment plan = MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 64);

    try (PlannedArena arena = plan.open(memory)) {
      assertEquals(plan.totalBytes(), arena.totalBytes());
      int[] births =
          IntStream.range(0, records.size())
              .boxed()
              .sorted(Comparator.comparingLong(i -> records.get(i).firstTask()))
              .mapToInt(i -> i)
              .toArray();
      for (int tensor : births) {
        fill(arena.byteBuffer(tensor), (byte) tensor);
        for (int other = 0; other < records.size(); other++) {
          TensorUsageRecord record = records.get(other);
          long task = records.get(tensor).firstTask();
          if (record.firstTask() < task && task <= record.lastTask()) {
            checkFilled(arena.byteBuffer(other), (byte) other, "seed " + seed);
          }
        }
      }
    }
    assertEquals(0, memory.bytesReserved());
  }

  private static void fill(ByteBuffer buffer, byte value) {
    for (int i = 0; i < buffer.capacity(); i++) {
      buffer.put(i, value);
    }
  }

  private static void checkFilled(ByteBuffer buffer, byte value, String what) {
    for (int i = 0; i < buffer.capacity(); i++) {
      assertEquals(value, buffer.get(i), what);
    }
  }

  @Test
  void shouldGiveEveryTensorItsBufferWhenOpen() {
    List<TensorUsageRecord> records = Records.of(100, 0, 1, 0, 0, 5, 28, 2, 3);
    OffsetsAssignment plan = OffsetsAssignment.of(records, new long[] {0, 0, 64}, 64);

    PlannedArena arena = plan.open(memory);

    assertEquals(1, arena.regionCount());
    assertEquals(100, arena.byteBuffer(0).capacity());
    assertEquals(0, arena.byteBuffer(1).capacity());
    assertEquals(28, arena.byteBuffer(2).capacity());
    assertEquals(ByteOrder.nativeOrder(), arena.byteBuffer(2).order());
    assertTrue(arena.byteBuffer(1).isDirect());
    assertSame(arena.byteBuffer(0), arena.byteBuffer(0));
    arena.byteBuffer(0).put(70, (byte) 9);
    assertEquals(9, arena.byteBuffer(2).get(6));
    arena.close();
    assertEquals(0, memory.bytesReserved());
    assertThrows(IllegalStateException.class, () -> arena.byteBuffer(0));
    assertThrows(IllegalStateException.class, arena::close);
  }

  @Test
  void shouldTakeNothingWhenThePlanHasNoBytes() {
    OffsetsAssignment plan =
        MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(Records.of(0, 0, 1, 0, 0, 1), 1);

    try (PlannedArena arena = plan.open(memory)) {
      assertEquals(0, arena.regionCount());
      assertEquals(0, arena.byteBuffer(1).capacity());
    }
    try (PlannedArena arena = OffsetsAssignment.of(List.of(), new long[0], 1).open(memory)) {
      assertEquals(0, arena.tensorCount());
    }
  }

  /** As a plan of more than 2 GiB, only smaller. */
  @Test
  void shouldComeInSeveralRegionsWhenOneIsTooSmall() {
    List<TensorUsageRecord> records = Records.of(60, 0, 0, 30, 0, 0, 50, 0, 0, 40, 1, 1, 90, 0, 0);
    OffsetsAssignment plan = OffsetsAssignment.of(records, new long[] {0, 60, 96, 100, 160}, 4);

    try (PlannedArena arena = PlannedArena.open(plan, memory, 100)) {
      assertEquals(3, arena.regionCount());
      for (int tensor = 0; tensor < 5; tensor++) {
        fill(arena.byteBuffer(tensor), (byte) tensor);
      }
      checkFilled(arena.byteBuffer(0), (byte) 0, "0");
      checkFilled(arena.byteBuffer(1), (byte) 1, "1");
      checkFilled(arena.byteBuffer(3), (byte) 3, "3");
      checkFilled(arena.byteBuffer(4), (byte) 4, "4");
      // Tensor 3 lies in tensor 2.
      assertEquals(3, arena.byteBuffer(2).get(4));
      assertNotSame(arena.byteBuffer(2), arena.byteBuffer(3));
    }
    assertEquals(0, memory.bytesReserved());
  }

  @Test
  void shouldSayWhereWhenThereIsNoPlaceToCut() {
    List<TensorUsageRecord> records = Records.of(60, 0, 0, 60, 1, 1, 60, 0, 0);
    OffsetsAssignment plan = OffsetsAssignment.of(records, new long[] {0, 40, 80}, 4);

    IllegalStateException e =
        assertThrows(IllegalStateException.class, () -> PlannedArena.open(plan, memory, 100));

    assertEquals(
        "tensors that share bytes reach from offset 0 to 140, but one region holds at most 100"
            + " bytes",
        e.getMessage());
    assertEquals(0, memory.bytesReserved());
  }

  @Test
  void shouldHoldNothingWhenTheMemoryIsNotToBeHad() {
    SubAllocator limited = SubAllocator.direct(150);
    OffsetsAssignment plan =
        OffsetsAssignment.of(Records.of(100, 0, 0, 100, 0, 0), new long[] {0, 100}, 1);

    assertThrows(OutOfNativeMemoryException.class, () -> PlannedArena.open(plan, limited, 100));

    assertEquals(0, limited.bytesReserved());
  }
}
