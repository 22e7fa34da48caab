package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Allocation;
import io.prmalloc.SubAllocator;
import io.prmalloc.os.ProcessBarrier;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a pool takes because it served the last request of a size. */
class RecentBlocksTest {

  private static final long SIZE = 64 * 1024;

  /** So many uses of a block that something was learnt at one. */
  private static final int ENOUGH = 1000;

  private final SubAllocator source = SubAllocator.direct();
  private final TensorPoolAllocator pool =
      PoolTests.builder(source).executor(Runnable::run).build();

  @BeforeEach
  void learn() {
    assumeTrue(ProcessBarrier.isSupported(), "without a process-wide barrier nothing is marked");
    Pools.learn(pool, SIZE, SIZE, 2 * SIZE);
    PoolTests.step(pool, () -> {});
    assertTrue(pool.isPooling());
    use(SIZE);
    use(2 * SIZE);
  }

  @AfterEach
  void nothingIsLeft() {
    pool.close();
    assertNull(pool.recent(SIZE));
    assertEquals(0, source.bytesReserved());
  }

  private void use(long bytes) {
    for (int i = 0; i < ENOUGH; i++) {
      pool.allocate(bytes).close();
    }
  }

  @Test
  void shouldServeASizeFromTheBlockThatServedItLast() {
    PooledBlock block = pool.recent(SIZE);
    long uses = block.uses();
    long hits = pool.poolStats().hits();
    try (Allocation again = pool.allocate(SIZE)) {
      assertTrue(block.isLive());
      assertEquals(SIZE, again.byteBuffer().limit());
      assertEquals(block.startAddress(), again.address());
    }
    assertEquals(uses + 1, block.uses());
    assertEquals(hits + 1, pool.poolStats().hits());
    assertNotSame(block, pool.recent(2 * SIZE));
  }

  @Test
  void shouldForgetWhatIsOutWhenTheSizeIsWantedAgain() {
    PooledBlock block = pool.recent(SIZE);
    List<Allocation> out = Pools.take(pool, SIZE, SIZE);
    assertNotEquals(out.get(0).address(), out.get(1).address());
    // The other one's first use is one in which something is learnt.
    assertNotSame(block, pool.recent(SIZE));
    out.forEach(Allocation::close);
    assertTrue(block.isAtHome());
    out.forEach(each -> assertThrows(IllegalStateException.class, each::close));
    use(SIZE);
    assertTrue(pool.recent(SIZE) != null);
  }

  /** It stays noted while it is out, and others come upon it. */
  @ParameterizedTest
  @ValueSource(strings = {"size", "alignment", "address"})
  void shouldForgetWhatMisledAnotherRequest(String kind) {
    PooledBlock block = pool.recent(SIZE);
    try (Allocation held = pool.allocate(SIZE)) {
      assertTrue(block.isLive());
      assertSame(block, pool.recent(SIZE));
      Set<Long> addresses = new HashSet<>(Set.of(held.address()));
      List<Runnable> others = List.of(takeOther(kind, addresses), takeOther(kind, addresses));
      assertNull(pool.recent(SIZE), "one of the two came upon it");
      assertEquals(3, addresses.size(), "and got another");
      others.forEach(Runnable::run);
    }
    use(SIZE);
    assertTrue(pool.recent(SIZE) != null, "learnt anew");
  }

  /** Takes something of the same size class, and tells how to give it back. */
  private Runnable takeOther(String kind, Set<Long> addresses) {
    if (kind.equals("address")) {
      long address = pool.allocateRaw(64, SIZE - 64);
      addresses.add(address - 64);
      return () -> pool.deallocateRaw(address);
    }
    Allocation other =
        kind.equals("alignment") ? pool.allocate(SIZE, 64) : pool.allocate(SIZE - 64);
    addresses.add(other.address());
    return other::close;
  }

  private void useRaw(long bytes) {
    for (int i = 0; i < ENOUGH; i++) {
      pool.deallocateRaw(pool.allocateRaw(64, bytes));
    }
  }

  @Test
  void shouldForgetAnAddressThatMisledAnotherRequest() {
    int bytes = (int) SIZE - 64;
    useRaw(bytes);
    long held = pool.allocateRaw(64, bytes);
    List<Allocation> others = Pools.take(pool, SIZE - 1, SIZE - 1);
    pool.deallocateRaw(held);
    assertNull(pool.reopenRaw(bytes, 64), "one of the two came upon it");
    others.forEach(Allocation::close);
  }

  @Test
  void shouldServeAnAddressFromTheBlockThatServedItLast() {
    int bytes = (int) SIZE - 64;
    assertNull(pool.reopenRaw(bytes, 64));
    useRaw(bytes);
    PooledBlock block = pool.reopenRaw(bytes, 64);
    assertEquals(bytes, block.sizeBytes());
    assertTrue(block.isLive() && block.closeRaw());
    long uses = block.uses();
    long first = pool.allocateRaw(64, bytes);
    assertEquals(block.startAddress() + 64, first);
    assertEquals(uses + 1, block.uses());
    long second = pool.allocateRaw(64, bytes);
    assertNotEquals(first, second);
    assertNotEquals(block.startAddress() + 64, second);
    pool.deallocateRaw(first);
    assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(first));
    pool.deallocateRaw(second);
    try (Allocation handle = pool.allocate(bytes)) {
      assertEquals(bytes, handle.byteBuffer().limit());
    }
  }

  @Test
  void shouldKeepTheAlignmentWhenAddressesAreServedAgain() {
    for (int i = 0; i < ENOUGH; i++) {
      for (long alignment = 1; alignment <= 4096; alignment *= 2) {
        long address = pool.allocateRaw(alignment, SIZE);
        assertEquals(0, address % alignment, () -> "alignment of " + address);
        pool.deallocateRaw(address);
      }
    }
  }

  @Test
  void shouldForgetWhatAnotherThreadClosed() throws Exception {
    PooledBlock block = pool.recent(SIZE);
    Allocation away = pool.allocate(SIZE);
    Buffers.onAnotherStripe(Stripes.many(), Executors.callable(away::close));
    assertTrue(block.isAtHome());
    assertThrows(IllegalStateException.class, away::close);
    try (Allocation next = pool.allocate(SIZE)) {
      assertNotSame(block, pool.recent(SIZE));
      next.byteBuffer().putLong(0, 1);
    }
  }

  @Test
  void shouldShowABufferAsNewToEachUse() {
    try (Allocation first = pool.allocate(SIZE)) {
      first.byteBuffer().position(8).limit(16);
    }
    try (Allocation second = pool.allocate(SIZE)) {
      assertEquals(0, second.byteBuffer().position());
      assertEquals(SIZE, second.byteBuffer().limit());
    }
  }

  @Test
  void shouldLearnNothingForOthers() throws Exception {
    assertNull(Buffers.onAnotherStripe(Stripes.many(), () -> pool.recent(SIZE)));
    PooledBlock block = pool.recent(SIZE);
    try (Allocation held = pool.allocate(SIZE)) {
      assertEquals(block.startAddress(), held.address());
      try (Allocation other = Buffers.onAnotherStripe(Stripes.many(), () -> pool.allocate(SIZE))) {
        assertNotEquals(held.address(), other.address());
      }
    }
  }

  @Test
  void shouldKnowNothingOfANewPlan() {
    PooledBlock before = pool.recent(SIZE);
    assertTrue(pool.replan());
    for (int step = 0; step < 100 && pool.bins().ready() == before.home(); step++) {
      PoolTests.step(pool, () -> use(SIZE));
    }
    assertNotSame(before.home(), pool.bins().ready());
    long uses = before.uses();
    use(SIZE);
    assertEquals(uses, before.uses());
    assertSame(pool.bins().ready(), pool.recent(SIZE).home());
  }
}
