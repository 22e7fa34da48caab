package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.BrokenLog;
import io.prmalloc.LogRecords;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.lifecycle.PlanSharing;
import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.PlanStore;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Pools that share plans through a store. */
class PlanStoreTest {

  private static final String KEY = "model.v" + KeptPlan.FORMAT_VERSION;
  private static final int[] SHARED = {100_000, 40_000, 300_000, 40_000, 100_000, 50_000};
  private static final int[] PLANNED = {70_000, 100, 90_000, 100};

  /** Looks often, but waits for the first look as long as it takes. */
  private static final PlanSharing.Pace QUICK =
      new PlanSharing.Pace(
          Duration.ofMillis(2), Duration.ofMillis(4), Duration.ofMillis(8), Duration.ofHours(1));

  /** A store in memory that can be away, or hang. */
  private static final class TestStore implements PlanStore {
    private final Map<String, byte[]> plans = new ConcurrentHashMap<>();
    private final AtomicInteger reads = new AtomicInteger();
    private volatile boolean away;
    private volatile boolean readOnly;
    private volatile boolean hangs;
    private final CountDownLatch hanging = new CountDownLatch(1);

    @Override
    public Optional<byte[]> read(String key) throws IOException {
      reads.incrementAndGet();
      look();
      return Optional.ofNullable(plans.get(key)).map(byte[]::clone);
    }

    private void look() throws IOException {
      if (hangs) {
        hanging.countDown();
        try {
          Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      }
      if (away) {
        IOException cannot = new IOException("cannot connect", new IOException("no password"));
        throw new IOException(cannot.getMessage(), cannot);
      }
    }

    @Override
    public synchronized boolean replace(String key, Optional<byte[]> read, byte[] bytes)
        throws IOException {
      look();
      if (readOnly || !Arrays.equals(plans.get(key), read.orElse(null))) {
        return false;
      }
      plans.put(key, bytes);
      return true;
    }

    @Override
    public void close() {}

    @Override
    public String toString() {
      return "store";
    }

    KeptPlan plan() {
      return KeptPlan.decode(plans.get(KEY));
    }
  }

  private final TestStore store = new TestStore();

  private TensorPoolBuilder builder() {
    return TensorPoolAllocator.builder()
        .startStatisticStep(0)
        .executor(Runnable::run)
        .planStore(store, "model")
        .sharingPace(QUICK);
  }

  private static void step(TensorPoolAllocator pool, boolean planned, int... sizes) {
    try (ScopedMemoryCollector step = pool.collect()) {
      Deque<Allocation> live = new ArrayDeque<>();
      for (int size : sizes) {
        live.add(planned ? step.allocate(size) : pool.allocate(size));
        if (live.size() > 2) {
          live.poll().close();
        }
      }
      live.forEach(Allocation::close);
    }
  }

  private static void learn(TensorPoolAllocator pool) {
    while (!pool.isPooling()) {
      step(pool, false, SHARED);
    }
  }

  private static void learnSteps(TensorPoolAllocator pool, int... sizes) {
    for (int i = 0; i < KeyedSteps.REPEATS + 1; i++) {
      step(pool, true, sizes);
    }
    assertTrue(pool.stepStats().plans() > 0);
  }

  private static long count(TensorPoolAllocator pool, String result) {
    return pool.snapshot().planStore().get(result);
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) {
      Thread.sleep(1);
    }
  }

  /** Waits until a pool has looked twice from now on: the second look began after this call. */
  private void awaitLook() throws InterruptedException {
    int before = store.reads.get();
    await(() -> store.reads.get() >= before + 3);
  }

  private void publish() throws InterruptedException {
    try (TensorPoolAllocator pool = builder().build()) {
      learn(pool);
      learnSteps(pool, PLANNED);
      await(() -> store.plans.containsKey(KEY) && store.plan().equals(pool.plan()));
      assertTrue(count(pool, "published") > 0);
      assertEquals(0, count(pool, "refused") + count(pool, "unavailable"));
    }
  }

  @Test
  void shouldHitFromTheFirstRequestOnWhenAnotherHasLearnt() throws InterruptedException {
    publish();
    byte[] published = store.plans.get(KEY);
    try (TensorPoolAllocator pool = builder().build()) {
      assertTrue(pool.isPooling());
      step(pool, false, SHARED);
      step(pool, true, PLANNED);
      assertEquals(SHARED.length, pool.poolStats().hits());
      assertEquals(0, pool.poolStats().unpooledRequests());
      assertEquals(1, pool.stepStats().plannedSteps());
      assertEquals(0, pool.stepStats().departedSteps() + pool.stepStats().unplannedSteps());
      awaitLook();
      assertEquals(1, count(pool, "taken"));
      assertEquals(0, count(pool, "published"));
      assertTrue(pool.dumpStats().contains("taken=1"), pool::dumpStats);
    }
    assertEquals(published, store.plans.get(KEY), "what was taken is not published again");
  }

  @Test
  void shouldTakeAPlanThatAppearsWhileItLearns() throws InterruptedException {
    try (TensorPoolAllocator pool = builder().build()) {
      step(pool, false, SHARED);
      // In use while the plan takes over, and one step of those that are learnt.
      Allocation before = pool.allocate(200_000);
      step(pool, true, PLANNED);
      publish();
      await(() -> count(pool, "taken") > 0 && pool.isPooling() && pool.stepStats().plans() == 1);
      before.close();
      long unpooled = pool.poolStats().unpooledRequests();
      step(pool, false, SHARED);
      step(pool, true, PLANNED);
      assertEquals(SHARED.length, pool.poolStats().hits());
      assertEquals(unpooled, pool.poolStats().unpooledRequests());
      assertEquals(1, pool.stepStats().plannedSteps());
    }
  }

  @Test
  void shouldKeepItsOwnPlanWhenAnotherAppearsLater() throws InterruptedException {
    publish();
    int[] own = {50_000, 200_000};
    store.away = true;
    try (TensorPoolAllocator pool = builder().build()) {
      learnSteps(pool, own);
      store.away = false;
      await(() -> store.plan().steps().size() == 2);
      // Another structure, and a pool's plan, it had none of itself.
      await(() -> pool.stepStats().plans() == 2 && pool.isPooling());
      // The first one may be taken for one of the other structure.
      step(pool, true, own);
      long departed = pool.stepStats().departedSteps();
      assertTrue(departed <= 1);
      step(pool, true, own);
      step(pool, true, PLANNED);
      assertEquals(departed, pool.stepStats().departedSteps());
    }
  }

  @Test
  void shouldPublishOnlyWhatServesMore() throws InterruptedException {
    int[] larger = {140_000, 200, 180_000, 200};
    try (TensorPoolAllocator first = builder().build()) {
      learnSteps(first, larger);
      await(() -> count(first, "published") == 1);
    }
    KeptPlan published = store.plan();
    store.away = true;
    try (TensorPoolAllocator smaller = builder().build()) {
      learnSteps(smaller, PLANNED);
      store.away = false;
      awaitLook();
      awaitLook();
      assertEquals(0, count(smaller, "published"));
      assertEquals(published, store.plan());
      // It learns that there are larger steps, and then has more to say.
      int[] largest = {280_000, 400, 360_000, 400};
      for (int i = 0; i < 3; i++) {
        step(smaller, true, largest);
      }
      await(() -> count(smaller, "published") > 0);
    }
    assertEquals(1, store.plan().steps().size());
    assertTrue(store.plan().steps().get(0).sizesBytes()[2] >= 360_000);
  }

  @Test
  void shouldWarnOnceAndReplaceWhatIsNoPlan() throws InterruptedException {
    store.plans.put(KEY, "{\"format\":\"something else\"}".getBytes(StandardCharsets.UTF_8));
    try (LogRecords log = new LogRecords(PlanSharing.class.getName())) {
      try (TensorPoolAllocator pool = builder().build()) {
        assertFalse(pool.isPooling());
        awaitLook();
        learn(pool);
        await(() -> count(pool, "published") == 1);
        assertEquals(1, count(pool, "refused"));
        assertEquals(pool.plan(), store.plan());
      }
      List<String> refused =
          log.all().stream().filter(line -> line.contains("is refused: ")).toList();
      assertEquals(1, refused.size(), log.all()::toString);
    }
  }

  @Test
  void shouldRefuseAPlanThatWasChangedByHand() throws InterruptedException {
    publish();
    String text = new String(store.plans.get(KEY), StandardCharsets.UTF_8);
    String changed = text.replaceFirst("\"reserved\" : (\\d+)", "\"reserved\" : 1$1");
    store.plans.put(KEY, changed.getBytes(StandardCharsets.UTF_8));
    try (TensorPoolAllocator pool = builder().build()) {
      assertFalse(pool.isPooling());
      assertEquals(1, count(pool, "refused"));
    }
  }

  @Test
  void shouldServeWarnOnceAndRecoverWhenTheStoreIsAway() throws InterruptedException {
    store.away = true;
    try (LogRecords log = new LogRecords(PlanSharing.class.getName())) {
      try (TensorPoolAllocator pool = builder().build()) {
        learn(pool);
        await(() -> count(pool, "unavailable") > 3);
        store.away = false;
        await(() -> count(pool, "published") == 1);
        // It has lost everything, as after a restart.
        store.plans.clear();
        await(() -> count(pool, "published") == 2);
        assertEquals(pool.plan(), store.plan());
      }
      List<String> lines = log.all();
      String warning = "the plan store store is not available, going on without: ";
      assertEquals(warning + "java.io.IOException: cannot connect: no password", lines.get(0));
      assertEquals(
          1,
          lines.stream().filter(line -> line.contains("is there again")).count(),
          lines::toString);
    }
  }

  private static boolean isSharing() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("prmalloc-plan-store"));
  }

  @Test
  @SuppressWarnings("try") // the log is broken as long as it is open
  void shouldShareWhenTheStoreComesBackThoughItsFailureCouldNotBeLogged()
      throws InterruptedException {
    store.away = true;
    try (BrokenLog log = new BrokenLog(PlanSharing.class);
        TensorPoolAllocator pool = builder().build()) {
      int before = store.reads.get();
      await(() -> store.reads.get() >= before + 2 || !isSharing());
      assertTrue(isSharing());
      learn(pool);
      store.away = false;
      await(() -> store.plans.containsKey(KEY));
      assertTrue(count(pool, "unavailable") >= 2);
    }
  }

  @Test
  void shouldWaitForNobodyWhenTheStoreHangs() throws InterruptedException {
    store.hangs = true;
    Duration least = Duration.ofMillis(1);
    PlanSharing.Pace impatient = new PlanSharing.Pace(least, least, least, least);
    try (TensorPoolAllocator pool = builder().sharingPace(impatient).build()) {
      store.hanging.await();
      learn(pool);
      step(pool, false, SHARED);
      assertTrue(pool.poolStats().hits() > 0);
    }
    // Closed, although nobody answered.
    assertEquals(1, store.reads.get());
  }

  @Test
  void shouldLeaveAPlanInTheStoreWhenItIsTooLargeForThisPoolAlone() throws InterruptedException {
    publish();
    KeptPlan published = store.plan();
    SubAllocator little = SubAllocator.direct(450_000);
    try (TensorPoolAllocator pool = builder().subAllocator(little).build()) {
      assertEquals(1, count(pool, "refused"));
      assertFalse(pool.isPooling());
      assertEquals(0, little.bytesReserved());
      while (!pool.isPooling()) {
        step(pool, false, 50_000, 60_000);
      }
      awaitLook();
      awaitLook();
      assertEquals(0, count(pool, "published"));
    }
    assertEquals(published, store.plan());
  }

  @Test
  void shouldNotBeBusyWhenTheStoreIsForReadingOnly() throws InterruptedException {
    store.readOnly = true;
    Duration least = Duration.ofMillis(20);
    PlanSharing.Pace slow = new PlanSharing.Pace(least, least, least, Duration.ofHours(1));
    try (TensorPoolAllocator pool = builder().sharingPace(slow).build()) {
      learn(pool);
      long start = System.nanoTime();
      int before = store.reads.get();
      Thread.sleep(100);
      int looks = store.reads.get() - before;
      long most = 1 + (System.nanoTime() - start) / least.toNanos();
      assertTrue(looks <= most, looks + " looks where there may be " + most);
      assertEquals(0, count(pool, "published") + count(pool, "unavailable"));
    }
  }

  @Test
  void shouldEndItsThreadWhenThePoolIsForgotten() throws InterruptedException {
    SubAllocator memory = SubAllocator.direct();
    WeakReference<TensorPoolAllocator> pool =
        new WeakReference<>(builder().subAllocator(memory).build());
    while (pool.get() != null) {
      System.gc();
      Thread.sleep(1);
    }
    await(
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("prmalloc-plan-store")));
  }

  @Test
  void shouldRefuseAModelWhoseNameIsNoKey() {
    for (String bad : List.of("", ".hidden", "a/b", "a:b", "../a", "x".repeat(101))) {
      IllegalArgumentException refused =
          assertThrows(
              IllegalArgumentException.class,
              () -> TensorPoolAllocator.builder().planStore(store, bad));
      assertTrue(refused.getMessage().startsWith("model `" + bad + "` is not 1 to 100 letters"));
    }
    TensorPoolAllocator.builder().planStore(store, "Bert-base_2.1");
  }
}
