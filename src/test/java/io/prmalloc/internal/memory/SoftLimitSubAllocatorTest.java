package io.prmalloc.internal.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.Allocation;
import io.prmalloc.BrokenLog;
import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SoftLimitSubAllocatorTest {

  private final SubAllocator plain = SubAllocator.direct(10_000);
  private final List<String> told = new ArrayList<>();
  private final SubAllocator source =
      plain.withSoftLimit(
          1000, Runnable::run, (reserved, limit) -> told.add(reserved + " of " + limit));
  private final List<MemoryRegion> out = new ArrayList<>();

  private void take(long bytes) {
    out.add(source.alloc(1, bytes));
  }

  private void giveBackLast() {
    source.free(out.remove(out.size() - 1));
  }

  @AfterEach
  void nothingIsLeft() {
    while (!out.isEmpty()) {
      giveBackLast();
    }
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldTellWhenOneByteOverTheLimitAndNotBefore() {
    take(1000);
    assertEquals(List.of(), told);
    take(1);
    assertEquals(List.of("1001 of 1000"), told);
  }

  @Test
  @SuppressWarnings("try") // the log is broken as long as it is open
  void shouldGrantMemoryWhenTheExecutorRefusesAndTheLogFails() {
    SubAllocator refusing =
        plain.withSoftLimit(
            1000,
            task -> {
              throw new RejectedExecutionException("of the test");
            },
            (reserved, limit) -> told.add("never"));
    try (BrokenLog log = new BrokenLog(SoftLimitSubAllocator.class)) {
      refusing.free(refusing.alloc(1, 1001));
    }
    assertEquals(0, plain.bytesReserved());
  }

  @Test
  void shouldFreeTheRegionWhenTheSourceDoesNotSayWhatIsReserved() {
    SubAllocator silent =
        new SubAllocatorWrapper(plain) {
          @Override
          public long bytesReserved() {
            throw new UnsupportedOperationException("of the test");
          }
        };
    SubAllocator limited = silent.withSoftLimit(1000, Runnable::run, (reserved, limit) -> {});
    assertThrows(UnsupportedOperationException.class, () -> limited.alloc(1, 100));
    assertEquals(0, plain.bytesReserved());
  }

  @Test
  void shouldTellWhatIsLeftOfTheLimitBehindItWhenBytesAreTaken() {
    take(400);
    assertEquals(9600, source.bytesAvailable());
    assertEquals(9600, source.withVisitors(0).bytesAvailable());
  }

  @Test
  void shouldTellOnceWhenReservedBytesStayAboveNineTenths() {
    take(900);
    take(1);
    take(100);
    take(500);
    assertEquals(List.of("1001 of 1000"), told);
    giveBackLast();
    giveBackLast();
    // 901 bytes are left, one too many to begin anew.
    take(200);
    assertEquals(1, told.size());
    giveBackLast();
    giveBackLast();
    take(100);
    assertEquals(1, told.size());
    take(2);
    assertEquals(List.of("1001 of 1000", "1002 of 1000"), told);
  }

  @Test
  void shouldGrantAndRefuseAsTheOneBehindItWhenAboveTheLimit() {
    take(9000);
    assertEquals(10_000, source.bytesLimit().getAsLong());
    assertEquals(plain.isResident(), source.isResident());
    OutOfNativeMemoryException refused =
        assertThrows(OutOfNativeMemoryException.class, () -> take(1001));
    assertEquals(
        "cannot reserve 1001 bytes: 9000 reserved, limit 10000 of the sub-allocator:"
            + " give it a larger limitBytes",
        refused.getMessage());
    assertEquals(9000, source.bytesReserved());
    assertEquals(1, told.size());
  }

  @Test
  void shouldCountWhatOthersReserveWhenTheyShareTheMemory() {
    MemoryRegion other = plain.alloc(1, 999);
    take(2);
    assertEquals(List.of("1001 of 1000"), told);
    source.free(other);
    take(999);
    assertEquals(2, told.size());
  }

  @Test
  void shouldLoseNothingWhenTheOneToldFails() {
    SubAllocator failing =
        plain.withSoftLimit(
            10,
            Runnable::run,
            (reserved, limit) -> {
              throw new IllegalStateException("no cache to drop");
            });
    failing.free(failing.alloc(1, 11));
    SubAllocator refusing =
        plain.withSoftLimit(
            10,
            task -> {
              throw new RejectedExecutionException("shut down");
            },
            (reserved, limit) -> told.add("never"));
    refusing.free(refusing.alloc(1, 11));
    assertEquals(0, plain.bytesReserved());
    assertEquals(List.of(), told);
  }

  @Test
  void shouldRefuseANegativeLimit() {
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class, () -> plain.withSoftLimit(-1, (reserved, limit) -> {}));
    assertEquals("limitBytes -1 is negative; the least is 0", refused.getMessage());
  }

  @Test
  void shouldLetThePoolBeTrimmedWhenItIsTold() throws InterruptedException {
    CountDownLatch trimmed = new CountDownLatch(1);
    AtomicLong went = new AtomicLong();
    List<TensorPoolAllocator> pools = new ArrayList<>();
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(SubAllocator.direct())
            .softLimit(
                100_000,
                (reserved, limit) -> {
                  went.set(pools.get(0).trim());
                  trimmed.countDown();
                })
            .build();
    pools.add(pool);
    pool.allocate(1000).close();
    try (Allocation large = pool.allocate(200_000)) {
      trimmed.await();
      assertEquals(32 * 1024, went.get());
      assertEquals(200_000, large.sizeBytes());
      assertEquals(0, pool.trim(), "nothing more is to be had");
    }
    pool.close();
  }
}
