package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.management.Attribute;
import javax.management.JMX;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanFeatureInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import org.junit.jupiter.api.Test;

/** The beans that JMX shows for pools. */
class PoolBeanTest {

  private static final int KIB = 1024;

  private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();

  private static TensorPoolBuilder builder() {
    return TensorPoolAllocator.builder().planner(Steps.planner(1));
  }

  private Set<String> beans() throws Exception {
    return server.queryNames(new ObjectName("io.prmalloc:type=TensorPool,*"), null).stream()
        .map(name -> name.getKeyProperty("name"))
        .collect(Collectors.toSet());
  }

  private static ObjectName name(String value) throws Exception {
    return new ObjectName("io.prmalloc:type=TensorPool,name=" + value);
  }

  @Test
  void shouldShowTheSameAsThePoolWhenAsked() throws Exception {
    TensorPoolAllocator pool =
        builder().maxOversize(1).subAllocator(SubAllocator.direct(1 << 20)).jmx("shown").build();
    TensorPoolMXBean bean = JMX.newMXBeanProxy(server, name("shown"), TensorPoolMXBean.class);
    assertEquals("WAITING", bean.getPhase());
    assertEquals(0, bean.getLearningFailures());
    assertEquals("", bean.getLastLearningFailure());
    Pools.learn(pool, 64 * KIB);
    Allocation hit = pool.allocate(64 * KIB);
    Allocation miss = pool.allocate(64 * KIB);
    Allocation unknown = pool.allocate(40 * KIB);
    Allocation small = pool.allocate(100);
    assertEquals("DONE", bean.getPhase());
    assertEquals(1, bean.getHits());
    assertEquals(1, bean.getMisses());
    assertEquals(1, bean.getNullBins().get(64L * KIB));
    assertEquals(0, bean.getNullBins().get(128L * KIB));
    assertEquals(1, bean.getSmallRequests());
    assertEquals(2, bean.getUnpooledRequests());
    assertEquals(168 * KIB + 100, bean.getUsedBytes());
    assertEquals(1 << 20, bean.getLimitBytes());
    assertEquals(pool.stats().bytesReserved(), bean.getReservedBytes());
    assertEquals(pool.dumpStats(), bean.dumpStats());
    hit.close();
    miss.close();
    unknown.close();
    small.close();
    long went = bean.trim();
    assertTrue(went > 0);
    // Slabs are not reserved any more, blocks are.
    assertEquals(64 * KIB, bean.getReservedBytes());
    bean.clearStats();
    assertEquals(0, bean.getPeakUsedBytes());
    pool.close();
  }

  @Test
  void shouldShowHowPlansOfStepsChangeWhenSizesDo() throws Exception {
    try (TensorPoolAllocator pool =
        builder()
            .executor(Runnable::run)
            .stepArenaIdle(Duration.ofMillis(10))
            .stepPlanningTime(Duration.ZERO)
            .jmx("changing")
            .build()) {
      TensorPoolMXBean bean = JMX.newMXBeanProxy(server, name("changing"), TensorPoolMXBean.class);
      for (int i = 0; i < KeyedSteps.REPEATS; i++) {
        step(pool, 64 * KIB, 64 * KIB);
      }
      assertEquals(0, bean.getDepartedStepRequests());
      step(pool, 200 * KIB, 200 * KIB);
      assertEquals(2, bean.getDepartedStepRequests());
      assertEquals(1, bean.getRaisedStepPlans());
      assertEquals(0, bean.getLoweredStepPlans());
      while (bean.getLoweredStepPlans() == 0) {
        step(pool, 64 * KIB, 64 * KIB);
      }
      assertEquals(pool.stepStats().loweredPlans(), bean.getLoweredStepPlans());
      assertEquals(1, bean.getRaisedStepPlans());
    }
  }

  private static void step(TensorPoolAllocator pool, long... sizes) {
    try (ScopedMemoryCollector step = pool.collect()) {
      for (long size : sizes) {
        step.allocate(size).close();
      }
    }
  }

  @Test
  void shouldAnswerForEveryAttribute() throws Exception {
    try (TensorPoolAllocator pool = builder().jmx("every").build()) {
      pool.allocate(1).close();
      for (MBeanAttributeInfo info : server.getMBeanInfo(name("every")).getAttributes()) {
        Attribute attribute =
            (Attribute) server.getAttributes(name("every"), new String[] {info.getName()}).get(0);
        assertEquals(info.getName(), attribute.getName());
      }
      assertEquals(-1L, server.getAttribute(name("every"), "LimitBytes"));
    }
  }

  @Test
  void shouldDescribeEveryAttributeAndOperation() throws Exception {
    try (TensorPoolAllocator pool = builder().jmx("described").build()) {
      MBeanInfo info = server.getMBeanInfo(name("described"));
      assertEquals("A pool of off-heap memory; sizes are bytes", info.getDescription());
      List<MBeanFeatureInfo> features = new ArrayList<>(List.of(info.getAttributes()));
      features.addAll(List.of(info.getOperations()));
      assertEquals(26, features.size());
      // No two have the same, and none has what JMX makes of a name.
      assertEquals(26, features.stream().map(MBeanFeatureInfo::getDescription).distinct().count());
      for (MBeanFeatureInfo feature : features) {
        String text = String.valueOf(feature.getDescription());
        assertTrue(
            text.contains(" ") && !text.startsWith("Attribute exposed"),
            () -> feature.getName() + ": " + text);
      }
      assertEquals(pool.snapshot().phase().name(), server.getAttribute(name("described"), "Phase"));
    }
  }

  @Test
  void shouldTellPoolsApartWhenTheyHaveOneName() throws Exception {
    TensorPoolAllocator first = builder().jmx("twin").build();
    TensorPoolAllocator second = builder().jmx("twin").build();
    TensorPoolAllocator odd = builder().jmx("a,b=\"*\"").build();
    assertTrue(beans().containsAll(Set.of("twin", "twin-2", ObjectName.quote("a,b=\"*\""))));
    first.close();
    assertFalse(beans().contains("twin"));
    assertTrue(beans().contains("twin-2"));
    second.allocate(1);
    second.closeForcibly();
    odd.close();
    assertFalse(beans().contains("twin-2"));
    assertFalse(beans().contains(ObjectName.quote("a,b=\"*\"")));
  }

  @Test
  void shouldGoWithThePoolWhenThatIsDropped() throws Exception {
    builder().jmx("dropped").build();
    boolean there = true;
    while (there) {
      System.gc();
      try {
        server.getAttribute(name("dropped"), "UsedBytes");
      } catch (RuntimeMBeanException gone) {
        assertEquals("the pool was dropped without being closed", gone.getCause().getMessage());
        there = false;
      }
    }
    assertFalse(beans().contains("dropped"));
  }

  @Test
  void shouldRegisterNothingWhenNotAsked() throws Exception {
    Set<String> before = beans();
    try (TensorPoolAllocator pool = builder().build()) {
      pool.allocate(1).close();
      assertEquals(before, beans());
    }
    assertThrows(IllegalArgumentException.class, () -> builder().jmx(""));
  }
}
