package io.prmalloc.pool.raw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.CpuAllocator;
import io.prmalloc.MmapOptions;
import io.prmalloc.RefusingSource;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory that the system does not take back at once stays counted as reserved until it does. */
@SuppressWarnings("try") // a step is a bracket: what is asked of the pool meanwhile belongs to it
class RefusedFreeTest {

  private final SubAllocator system =
      SubAllocator.mmap(MmapOptions.DEFAULT).ifUsableElse(SubAllocator.direct());
  private final RefusingSource source = new RefusingSource(system);
  private final TensorPoolAllocator pool =
      TensorPoolAllocator.builder()
          .subAllocator(source)
          .startStatisticStep(1)
          .stableStatisticStep(1)
          .executor(Runnable::run)
          .build();

  /** What brings memory, and what gives it back. */
  private enum Way {
    LARGE {
      @Override
      void use(TensorPoolAllocator pool) {
        pool.allocate(300 << 20).close();
      }
    },
    HEAP {
      @Override
      void use(TensorPoolAllocator pool) {
        pool.allocate(3_000_000).close();
      }

      @Override
      void giveBack(TensorPoolAllocator pool) {
        pool.trim();
      }
    },
    RAW {
      @Override
      void use(TensorPoolAllocator pool) {
        pool.deallocateRaw(pool.allocateRaw(64, 3_000_000));
      }

      @Override
      void giveBack(TensorPoolAllocator pool) {
        pool.trim();
      }
    },
    SLAB {
      @Override
      void use(TensorPoolAllocator pool) {
        pool.allocate(100).close();
      }

      @Override
      void giveBack(TensorPoolAllocator pool) {
        pool.trim();
      }
    },
    PLAN {
      @Override
      void use(TensorPoolAllocator pool) {
        for (int i = 0; i < 20; i++) {
          try (ScopedMemoryCollector step = pool.collect();
              Allocation tensor = pool.allocate(100_000)) {
            assertEquals(100_000, tensor.sizeBytes());
          }
        }
        assertTrue(pool.isPooling());
      }
    },
    STEPS {
      @Override
      void use(TensorPoolAllocator pool) {
        for (int i = 0; i < 20; i++) {
          try (ScopedMemoryCollector step = pool.collect()) {
            step.allocate(100_000).close();
            step.allocate(50_000).close();
          }
        }
        assertTrue(pool.stepStats().arenas() > 0);
      }

      @Override
      void giveBack(TensorPoolAllocator pool) {
        pool.trimSteps(Duration.ZERO);
      }
    };

    abstract void use(TensorPoolAllocator pool);

    void giveBack(TensorPoolAllocator pool) {}
  }

  @ParameterizedTest
  @EnumSource
  void shouldGiveItBackLaterWhenItIsRefusedOnce(Way way) {
    source.refuse(1);
    way.use(pool);
    way.giveBack(pool);
    way.use(pool);
    pool.close();
    assertEquals(0, source.left());
    assertEquals(0, system.bytesReserved());
  }

  @ParameterizedTest
  @EnumSource
  void shouldSayWhatIsLeftAtItsClose(Way way) {
    way.use(pool);
    source.refuse(Integer.MAX_VALUE);
    way.giveBack(pool);
    assertEquals(0, pool.stats().bytesInUse());
    for (int i = 0; i < 2; i++) {
      String message = assertThrows(IllegalStateException.class, pool::close).getMessage();
      assertTrue(message.contains("is closed, but"), message);
      assertTrue(message.contains(" of " + system.bytesReserved() + " bytes"), message);
      assertEquals(system.bytesReserved(), pool.stats().bytesReserved());
    }
    assertThrows(IllegalStateException.class, () -> pool.allocate(3_000_000));
    source.refuse(0);
    pool.close();
    assertEquals(0, system.bytesReserved());
    pool.close();
  }

  @ParameterizedTest
  @EnumSource
  void shouldSayWhatIsLeftWhenItIsClosedForcibly(Way way) {
    way.use(pool);
    Allocation open = pool.allocate(5_000_000);
    source.refuse(Integer.MAX_VALUE);
    assertThrows(IllegalStateException.class, pool::closeForcibly);
    assertThrows(IllegalStateException.class, open::close);
    source.refuse(0);
    pool.closeForcibly();
    assertEquals(0, system.bytesReserved());
  }

  @Test
  void shouldTellNobodyWhoClosesAHandle() {
    CpuAllocator allocator = new CpuAllocator(source);
    Allocation first = allocator.allocate(1000);
    long raw = allocator.allocateRaw(64, 1000);
    source.refuse(2);
    first.close();
    assertThrows(IllegalStateException.class, first::close);
    allocator.deallocateRaw(raw);
    assertEquals(0, allocator.stats().bytesInUse());
    assertTrue(system.bytesReserved() > 2000);
    allocator.close();
    assertEquals(0, system.bytesReserved());
    source.refuse(0);
  }
}
