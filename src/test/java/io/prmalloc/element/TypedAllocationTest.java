package io.prmalloc.element;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.OutOfNativeMemoryException.Limit;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import io.prmalloc.contract.PooledPoolTest;
import io.prmalloc.internal.block.Failures;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class TypedAllocationTest {

  /** Five bytes, and a diary of beginnings and ends by place; fails where it is told to. */
  private static class Diary implements ElementType<Integer> {
    final List<String> entries = new ArrayList<>();
    int failToBeginAt = -1;
    List<Integer> failToEndAt = List.of();

    @Override
    public String name() {
      return "DIARY";
    }

    @Override
    public Class<Integer> valueClass() {
      return Integer.class;
    }

    @Override
    public int slotBytes() {
      return 5;
    }

    @Override
    public boolean isTrivial() {
      return false;
    }

    @Override
    public void construct(Allocator allocator, ByteBuffer memory, int offset) {
      if (offset / 5 == failToBeginAt) {
        throw new IllegalStateException("cannot begin");
      }
      entries.add("+" + offset / 5);
      memory.putInt(offset, -1).put(offset + 4, (byte) 77);
    }

    @Override
    public void destroy(Allocator allocator, ByteBuffer memory, int offset) {
      assertEquals(77, memory.get(offset + 4));
      entries.add("-" + offset / 5);
      if (failToEndAt.contains(offset / 5)) {
        throw new IllegalStateException("cannot end " + offset / 5);
      }
    }

    @Override
    public Integer read(ByteBuffer memory, int offset) {
      return memory.getInt(offset);
    }

    @Override
    public void write(Allocator allocator, ByteBuffer memory, int offset, Integer value) {
      memory.putInt(offset, value);
    }
  }

  /** What typed memory must do, whatever it comes from. */
  private abstract static class Contract {

    private final SubAllocator source = SubAllocator.direct(16 << 20);
    private final Allocator allocator = create(source);

    abstract Allocator create(SubAllocator source);

    @AfterEach
    void nothingIsLost() {
      assertEquals(0, allocator.stats().bytesInUse());
      allocator.close();
      assertEquals(0, source.bytesReserved());
    }

    @Test
    void shouldBeginAndEndEveryElementInOrderWhenTheTypeIsNotTrivial() {
      Diary type = new Diary();
      TypedAllocation<Integer> elements = allocator.allocate(type, 3);
      assertEquals(List.of("+0", "+1", "+2"), type.entries);
      assertSame(type, elements.type());
      assertEquals(3, elements.count());
      assertEquals(15, elements.sizeBytes());
      assertEquals(0, elements.address() % Allocator.DEFAULT_ALIGNMENT);
      elements.set(1, 42);
      assertEquals(-1, elements.get(0));
      assertEquals(42, elements.get(1));
      assertEquals(-1, elements.get(2));
      elements.close();
      assertEquals(List.of("+0", "+1", "+2", "-0", "-1", "-2"), type.entries);
    }

    @Test
    void shouldEndTheFirstAndGiveBackTheMemoryWhenABeginningFails() {
      Diary type = new Diary();
      type.failToBeginAt = 2;
      assertEquals(
          "cannot begin",
          assertThrows(IllegalStateException.class, () -> allocator.allocate(type, 5))
              .getMessage());
      assertEquals(List.of("+0", "+1", "-0", "-1"), type.entries);
      assertEquals(0, allocator.stats().bytesInUse());
    }

    @Test
    void shouldEndNobodyWhenTheFirstBeginningFails() {
      Diary type = new Diary();
      type.failToBeginAt = 0;
      assertThrows(IllegalStateException.class, () -> allocator.allocate(type, 5));
      assertEquals(List.of(), type.entries);
    }

    @Test
    void shouldAttachWhatFailsToEndWhenABeginningFails() {
      Diary type = new Diary();
      type.failToBeginAt = 3;
      type.failToEndAt = List.of(0, 2);
      IllegalStateException failure =
          assertThrows(IllegalStateException.class, () -> allocator.allocate(type, 5));
      assertEquals("cannot begin", failure.getMessage());
      assertEquals(
          List.of("cannot end 0", "cannot end 2"),
          List.of(failure.getSuppressed()).stream().map(Throwable::getMessage).toList());
      assertEquals(List.of("+0", "+1", "+2", "-0", "-1", "-2"), type.entries);
    }

    /** As Kotlin and Scala do: an exception that is checked and not declared. */
    @Test
    void shouldEndTheOthersAndGiveBackTheMemoryWhenAnEndThrowsACheckedException() {
      Diary type =
          new Diary() {
            @Override
            public void destroy(Allocator of, ByteBuffer memory, int offset) {
              super.destroy(of, memory, offset);
              if (offset == 0) {
                Failures.throwIfAny(new IOException("of the test"));
              }
            }
          };
      TypedAllocation<Integer> elements = allocator.allocate(type, 3);
      assertThrows(IOException.class, elements::close);
      assertEquals(List.of("+0", "+1", "+2", "-0", "-1", "-2"), type.entries);
      assertEquals(0, allocator.stats().bytesInUse());
    }

    @Test
    void shouldEndTheOthersAndGiveBackTheMemoryWhenAnEndFails() {
      Diary type = new Diary();
      type.failToEndAt = List.of(0, 1);
      TypedAllocation<Integer> elements = allocator.allocate(type, 3);
      IllegalStateException failure = assertThrows(IllegalStateException.class, elements::close);
      assertEquals("cannot end 0", failure.getMessage());
      assertEquals("cannot end 1", failure.getSuppressed()[0].getMessage());
      assertEquals(List.of("+0", "+1", "+2", "-0", "-1", "-2"), type.entries);
      assertEquals(0, allocator.stats().bytesInUse());
      assertEquals(
          "TypedAllocation[3 of DIARY] was closed before",
          assertThrows(IllegalStateException.class, elements::close).getMessage());
    }

    @Test
    void shouldThrowWhenUsedAfterClose() {
      for (ElementType<?> type : List.of(ElementTypes.FLOAT, ElementTypes.STRING)) {
        TypedAllocation<?> elements = allocator.allocate(type, 3);
        elements.close();
        assertThrows(IllegalStateException.class, elements::close);
        assertThrows(IllegalStateException.class, () -> elements.get(0));
        assertThrows(IllegalStateException.class, elements::byteBuffer);
        assertThrows(IllegalStateException.class, elements::address);
        assertEquals(3, elements.count());
        assertEquals(3L * type.slotBytes(), elements.sizeBytes());
      }
      TypedAllocation<Float> floats = allocator.allocate(ElementTypes.FLOAT, 3);
      floats.close();
      assertThrows(IllegalStateException.class, () -> floats.set(0, 1f));
    }

    @Test
    void shouldLetOneCloseWinWhenTwoThreadsClose() throws Exception {
      ExecutorService threads = Executors.newFixedThreadPool(2);
      try {
        for (int i = 0; i < 200; i++) {
          Diary type = new Diary();
          TypedAllocation<Integer> elements = allocator.allocate(type, 1);
          Callable<Integer> close =
              () -> {
                try {
                  elements.close();
                  return 1;
                } catch (IllegalStateException closedBefore) {
                  return 0;
                }
              };
          int won = 0;
          for (Future<Integer> result : threads.invokeAll(List.of(close, close))) {
            won += result.get();
          }
          assertEquals(1, won);
          assertEquals(List.of("+0", "-0"), type.entries);
        }
      } finally {
        threads.shutdown();
      }
    }

    @Test
    void shouldHaveNoElementsWhenNoneAreAsked() {
      for (ElementType<?> type : ElementTypes.all()) {
        try (TypedAllocation<?> elements = allocator.allocate(type, 0)) {
          assertEquals(0, elements.count());
          assertEquals(0, elements.byteBuffer().limit());
          assertThrows(IndexOutOfBoundsException.class, () -> elements.get(0));
        }
      }
    }

    @Test
    void shouldRefuseWhenTheIndexIsOutside() {
      try (TypedAllocation<Float> elements = allocator.allocate(ElementTypes.FLOAT, 3)) {
        for (long index : new long[] {-1, 3, 1L << 32, Long.MIN_VALUE}) {
          assertThrows(IndexOutOfBoundsException.class, () -> elements.get(index));
          assertThrows(IndexOutOfBoundsException.class, () -> elements.set(index, 1f));
        }
      }
    }

    @Test
    void shouldRefuseAndTakeNothingWhenTheCountOverflows() {
      long before = allocator.stats().numAllocs();
      for (ElementType<?> type : ElementTypes.all()) {
        long most = Integer.MAX_VALUE / type.slotBytes();
        // The last ones are so large that count times size is small again.
        for (long count : new long[] {-1, most + 1, 1L << 62, (1L << 61) + 1, Long.MAX_VALUE}) {
          assertEquals(
              "count "
                  + count
                  + " of "
                  + type.name()
                  + ", "
                  + type.slotBytes()
                  + " bytes each, is not from 0 to "
                  + most,
              assertThrows(IllegalArgumentException.class, () -> allocator.allocate(type, count))
                  .getMessage());
        }
      }
      assertEquals(before, allocator.stats().numAllocs());
    }

    @Test
    void shouldThrowWhenTheMemoryIsNotToBeHad() {
      Diary type = new Diary();
      assertThrows(
          OutOfNativeMemoryException.class, () -> allocator.allocate(type, (17 << 20) / 5));
      assertEquals(List.of(), type.entries);
    }

    @Test
    void shouldShowAllElementsInNativeOrderWhenSeenAsABuffer() {
      try (TypedAllocation<Integer> elements = allocator.allocate(ElementTypes.INT32, 3)) {
        elements.set(2, 0x01020304);
        ByteBuffer view = elements.byteBuffer();
        assertEquals(ByteOrder.nativeOrder(), view.order());
        assertEquals(12, view.remaining());
        assertEquals(0x01020304, view.getInt(8));
        view.position(5).order(ByteOrder.BIG_ENDIAN);
        view.putInt(0, 7);
        assertEquals(0, elements.byteBuffer().position());
        assertEquals(Integer.reverseBytes(7), elements.get(0));
      }
    }

    @Test
    void shouldNotLetSlotsBeWrittenWhenTheyHoldAddresses() {
      try (TypedAllocation<byte[]> elements = allocator.allocate(ElementTypes.STRING, 1)) {
        assertThrows(ReadOnlyBufferException.class, () -> elements.byteBuffer().putLong(0, 0x1234));
        assertEquals(ByteOrder.nativeOrder(), elements.byteBuffer().order());
      }
    }

    @Test
    void shouldOwnItsBytesOffTheHeapWhenAString() {
      TypedAllocation<byte[]> elements = allocator.allocate(ElementTypes.STRING, 3);
      long slots = allocator.stats().bytesInUse();
      assertEquals(48, slots);
      assertArrayEquals(new byte[0], elements.get(0));

      byte[] value = {1, 2, 3};
      elements.set(0, value);
      value[0] = 9;
      assertArrayEquals(new byte[] {1, 2, 3}, elements.get(0));
      elements.set(2, new byte[50_000]);
      assertEquals(slots + 50_003, allocator.stats().bytesInUse());
      assertEquals(3, elements.byteBuffer().getLong(8));

      // Overwriting gives the old bytes back, and no bytes take none.
      elements.set(2, new byte[] {4, 5});
      assertEquals(slots + 5, allocator.stats().bytesInUse());
      elements.set(0, new byte[0]);
      assertEquals(slots + 2, allocator.stats().bytesInUse());
      assertEquals(0, elements.byteBuffer().getLong(0));
      assertArrayEquals(new byte[0], elements.get(0));
      assertThrows(NullPointerException.class, () -> elements.set(2, null));
      assertArrayEquals(new byte[] {4, 5}, elements.get(2));
      elements.close();
      assertEquals(0, allocator.stats().bytesInUse());
    }

    @Test
    void shouldKeepTheOldBytesWhenThereIsNoMemoryForNewOnes() {
      try (TypedAllocation<byte[]> elements = allocator.allocate(ElementTypes.STRING, 1)) {
        elements.set(0, new byte[] {1, 2});
        long before = allocator.stats().bytesInUse();
        OutOfNativeMemoryException refused =
            assertThrows(
                OutOfNativeMemoryException.class, () -> elements.set(0, new byte[17 << 20]));
        assertEquals(17 << 20, refused.requestedBytes());
        assertEquals(before, refused.bytesInUse());
        assertEquals(16 << 20, refused.limitBytes().orElseThrow());
        assertArrayEquals(new byte[] {1, 2}, elements.get(0));
        assertEquals(before, allocator.stats().bytesInUse());
      }
    }

    @Test
    void shouldReadAndWriteTextAndBuffersWhenAString() {
      try (TypedAllocation<byte[]> elements = allocator.allocate(ElementTypes.STRING, 2)) {
        StringElements strings = StringElements.of(elements);
        assertEquals("", strings.get(1));
        strings.set(1, "Größe 漢字 🚀");
        assertEquals("Größe 漢字 🚀", strings.get(1));
        assertEquals(19, strings.lengthBytes(1));

        ByteBuffer bytes = ByteBuffer.allocateDirect(10);
        bytes.putLong(2, 0x0101010101010102L).position(2).limit(9);
        strings.set(0, bytes);
        assertEquals(2, bytes.position());
        assertArrayEquals(new byte[] {1, 1, 1, 1, 1, 1, 1}, elements.get(0));

        ByteBuffer target = ByteBuffer.allocate(9).position(1);
        strings.copyTo(0, target);
        assertEquals(8, target.position());
        assertArrayEquals(new byte[] {0, 1, 1, 1, 1, 1, 1, 1, 0}, target.array());
        assertEquals(
            "target has room for 1 bytes, element 0 has 7",
            assertThrows(IllegalArgumentException.class, () -> strings.copyTo(0, target))
                .getMessage());
        assertEquals(8, target.position());
      }
    }

    @Test
    void shouldHoldObjectsAndLetGoOfThemWhenAHandle() {
      for (ElementType<Object> type : List.of(ElementTypes.RESOURCE_HANDLE, ElementTypes.VARIANT)) {
        ObjectType table = (ObjectType) type;
        assertEquals(0, table.liveObjects());
        TypedAllocation<Object> elements = allocator.allocate(type, 3);
        assertEquals(24, elements.sizeBytes());
        assertNull(elements.get(0));
        assertEquals(0, elements.byteBuffer().getLong(0));
        Object first = new Object();
        elements.set(0, first);
        elements.set(2, first);
        assertSame(first, elements.get(0));
        assertSame(first, elements.get(2));
        assertEquals(2, table.liveObjects());
        elements.set(0, "second");
        assertEquals("second", elements.get(0));
        assertEquals(2, table.liveObjects());
        elements.set(2, null);
        assertNull(elements.get(2));
        assertEquals(1, table.liveObjects());
        elements.close();
        assertEquals(0, table.liveObjects());
      }
    }

    @Test
    void shouldRefuseAndFreeTheRestWhenAHandlesSlotIsOutOfDate() {
      ObjectType table = (ObjectType) ElementTypes.VARIANT;
      TypedAllocation<Object> elements = allocator.allocate(ElementTypes.VARIANT, 3);
      elements.set(0, "first");
      elements.set(2, "third");
      long number = elements.byteBuffer().getLong(0);
      elements.set(0, "other");
      elements.memory().putLong(8, number); // A copy of what the first one was.
      assertThrows(IllegalStateException.class, () -> elements.get(1));
      assertThrows(IllegalStateException.class, () -> elements.set(1, "x"));
      assertEquals(2, table.liveObjects());
      assertEquals("other", elements.get(0));
      String message = assertThrows(IllegalStateException.class, elements::close).getMessage();
      assertTrue(message.contains("0x" + Long.toHexString(number)), message);
      assertEquals(0, table.liveObjects());
      assertEquals(0, allocator.stats().bytesInUse());
    }
  }

  @Nested
  class OfThePlainAllocator extends Contract {
    @Override
    Allocator create(SubAllocator source) {
      return new CpuAllocator(source);
    }
  }

  @Nested
  class OfThePool extends Contract {
    @Override
    Allocator create(SubAllocator source) {
      return new PooledPoolTest().create(source);
    }
  }

  @Test
  void shouldNameTheLimitThatRefusedTheBytesOfAString() {
    boolean[] full = {false};
    SubAllocator source =
        new SubAllocatorWrapper(SubAllocator.direct()) {
          @Override
          public MemoryRegion alloc(long alignment, long bytes) {
            if (full[0]) {
              throw new OutOfNativeMemoryException(bytes, 0, 1 << 20, Limit.DIRECT_MEMORY, null);
            }
            return wrapped().alloc(alignment, bytes);
          }
        };
    try (Allocator allocator = new CpuAllocator(source);
        TypedAllocation<byte[]> elements = allocator.allocate(ElementTypes.STRING, 1)) {
      full[0] = true;
      OutOfNativeMemoryException refused =
          assertThrows(OutOfNativeMemoryException.class, () -> elements.set(0, new byte[5]));
      assertEquals(Limit.DIRECT_MEMORY, refused.limit());
      assertEquals(5, refused.requestedBytes());
    }
  }

  @Test
  void shouldRefuseWhenATypesSlotsHaveNoBytes() {
    ElementType<Integer> empty =
        new PrimitiveType<>(
            "EMPTY", 0, Integer.class, 0, (memory, offset) -> 0, (memory, offset, value) -> {});
    try (Allocator allocator = new CpuAllocator(SubAllocator.direct())) {
      assertEquals(
          "slotBytes 0 of EMPTY is not positive",
          assertThrows(IllegalArgumentException.class, () -> allocator.allocate(empty, 1))
              .getMessage());
    }
  }

  @Test
  void shouldRefuseWhenElementsAreNoStrings() {
    try (Allocator allocator = new CpuAllocator(SubAllocator.direct());
        TypedAllocation<Integer> elements = allocator.allocate(ElementTypes.INT32, 1)) {
      assertEquals(
          "TypedAllocation[1 of INT32] are no elements of STRING",
          assertThrows(IllegalArgumentException.class, () -> StringElements.of(elements))
              .getMessage());
    }
  }

  @Test
  void shouldNotCallBeginningsAndEndsWhenTheTypeIsTrivial() {
    Diary diary = new Diary();
    ElementType<Integer> trivial =
        new ElementType<>() {
          @Override
          public String name() {
            return "TRIVIAL";
          }

          @Override
          public Class<Integer> valueClass() {
            return Integer.class;
          }

          @Override
          public int slotBytes() {
            return 5;
          }

          @Override
          public boolean isTrivial() {
            return true;
          }

          @Override
          public void construct(Allocator allocator, ByteBuffer memory, int offset) {
            diary.construct(allocator, memory, offset);
          }

          @Override
          public void destroy(Allocator allocator, ByteBuffer memory, int offset) {
            diary.destroy(allocator, memory, offset);
          }

          @Override
          public Integer read(ByteBuffer memory, int offset) {
            return memory.getInt(offset);
          }

          @Override
          public void write(Allocator allocator, ByteBuffer memory, int offset, Integer value) {
            memory.putInt(offset, value);
          }
        };
    try (Allocator allocator = new CpuAllocator(SubAllocator.direct())) {
      allocator.allocate(trivial, 10).close();
    }
    assertEquals(List.of(), diary.entries);
    assertFalse(trivial.dataType().isPresent());
  }
}
