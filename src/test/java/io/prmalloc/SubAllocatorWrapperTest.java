package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.memory.DeferredFreeSubAllocator;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class SubAllocatorWrapperTest extends SubAllocatorContractTest {

  @Override
  public SubAllocator unlimited() {
    return new SubAllocatorWrapper(SubAllocator.direct());
  }

  @Override
  public SubAllocator limited(long limitBytes) {
    return new SubAllocatorWrapper(SubAllocator.direct(limitBytes));
  }

  /** What cannot be used here, and says a number of its own to each question. */
  private static final class Unusable extends SubAllocatorWrapper {
    private final UnsupportedOperationException why = new UnsupportedOperationException("no JNA");

    Unusable() {
      super(SubAllocator.direct());
    }

    @Override
    public void checkUsable() {
      throw why;
    }

    @Override
    public boolean isResident() {
      return false;
    }

    @Override
    public boolean isGuarded() {
      return true;
    }

    @Override
    public long bytesAvailable() {
      return 7;
    }
  }

  @Test
  void shouldAskTheOneBehindWhateverIsAsked() {
    Unusable behind = new Unusable();
    for (SubAllocator source :
        List.of(
            new SubAllocatorWrapper(behind),
            new DeferredFreeSubAllocator(behind),
            behind.withVisitors(0),
            behind.withSoftLimit(1, (reserved, limit) -> {}))) {
      assertSame(
          behind.why, assertThrows(UnsupportedOperationException.class, source::checkUsable));
      assertTrue(source.isGuarded() && !source.isResident());
      assertEquals(7, source.bytesAvailable());
    }
  }

  @Test
  void shouldGiveAllBackWhenOneIsRefused() {
    SubAllocator system = SubAllocator.direct();
    RefusingSource source = new RefusingSource(system);
    MemoryRegion refused = source.alloc(64, 100);
    MemoryRegion other = source.alloc(64, 200);
    source.refuse(1);
    List<MemoryRegion> regions = Arrays.asList(refused, null, other);
    assertThrows(IllegalStateException.class, () -> source.freeAll(regions));
    assertEquals(100, system.bytesReserved());
    source.free(refused);
    assertEquals(0, system.bytesReserved());
  }
}
