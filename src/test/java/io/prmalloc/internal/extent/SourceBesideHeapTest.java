package io.prmalloc.internal.extent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.MmapOptions;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.OutOfNativeMemoryException.Limit;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.ReservationGate;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** A refusal without a call of the system names the limit that refuses. */
class SourceBesideHeapTest {

  private static final int MIB = 1 << 20;

  private static void assertRefusedBy(
      Limit limit, OptionalLong bytes, OutOfNativeMemoryException refused) {
    assertEquals(limit, refused.limit());
    assertEquals(bytes, refused.limitBytes());
  }

  private static SubAllocator mapped(long limitBytes) {
    return SubAllocator.mmap(MmapOptions.DEFAULT.withLimitBytes(limitBytes));
  }

  @Test
  void shouldNameTheLimitOfMappedMemoryAlsoIfItHasRoomByNow() {
    SubAllocator source = mapped(48 * MIB);
    for (long bytes : new long[] {MIB, 49 * MIB}) {
      assertRefusedBy(
          Limit.SUB_ALLOCATOR,
          OptionalLong.of(48 * MIB),
          SourceBesideHeap.refusal(source.withVisitors(0), bytes));
    }
  }

  @Test
  void shouldNameTheSystemWhenMappedMemoryHasNoLimit() {
    assertRefusedBy(
        Limit.SYSTEM,
        OptionalLong.empty(),
        SourceBesideHeap.refusal(SubAllocator.mmap(MmapOptions.DEFAULT), MIB));
  }

  @Test
  void shouldNameTheTighterLimitOfDirectMemory() {
    long most = Long.MAX_VALUE / 2;
    for (SubAllocator source :
        new SubAllocator[] {SubAllocator.direct(), SubAllocator.direct(most)}) {
      assertEquals(
          Limit.DIRECT_MEMORY,
          SourceBesideHeap.refusal(source.withVisitors(0), Long.MAX_VALUE / 4).limit());
    }
    assertRefusedBy(
        Limit.SUB_ALLOCATOR,
        OptionalLong.of(2),
        SourceBesideHeap.refusal(SubAllocator.direct(2), 1));
  }

  @Test
  void shouldNameTheSubAllocatorWhenItHasLessThanItsLimitSays() {
    SubAllocator less =
        new SubAllocatorWrapper(mapped(48 * MIB)) {
          @Override
          public long bytesAvailable() {
            return 3 * MIB;
          }
        };
    assertRefusedBy(
        Limit.SUB_ALLOCATOR, OptionalLong.of(3 * MIB), SourceBesideHeap.refusal(less, 4 * MIB));
  }

  @Test
  void shouldNameTheLimitThatRefusedTheRequestToWhichAPlanGivesWay() {
    SubAllocator source = mapped(48 * MIB);
    ReservationGate gate = new ReservationGate();
    LiveHeap heap = new LiveHeap(source, BlockIsolation.NONE, new AddressDirectory(), none -> {});
    SubAllocator forPlans = new SourceBesideHeap(source, heap, gate, true);
    gate.close(new OutOfNativeMemoryException(MIB, 0, -1, Limit.SYSTEM, null));
    assertRefusedBy(
        Limit.SYSTEM,
        OptionalLong.empty(),
        assertThrows(OutOfNativeMemoryException.class, () -> forPlans.alloc(64, MIB)));
    gate.open();
    forPlans.free(forPlans.alloc(64, MIB));
  }
}
