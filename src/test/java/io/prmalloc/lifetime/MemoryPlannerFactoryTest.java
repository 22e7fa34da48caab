package io.prmalloc.lifetime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.prmalloc.lifetime.MemoryPlanner.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

class MemoryPlannerFactoryTest {

  @Test
  void shouldBeOnePlannerWhenShared() {
    MemoryPlanner shared = MemoryPlannerFactory.shared();
    assertSame(shared, MemoryPlannerFactory.shared());
    assertEquals(Phase.WAITING, shared.phase());
  }

  @Test
  void shouldRunTasksInOrderOnADaemonWhenTheExecutorIsTheDefault() throws Exception {
    Executor executor = MemoryPlannerFactory.newPlannerExecutor();
    List<String> seen = new ArrayList<>();
    CountDownLatch done = new CountDownLatch(1);
    executor.execute(() -> seen.add("first " + Thread.currentThread().isDaemon()));
    executor.execute(() -> seen.add("second " + Thread.currentThread().getName()));
    executor.execute(done::countDown);
    done.await();
    assertEquals(List.of("first true", "second prmalloc-planner"), seen);
  }
}
