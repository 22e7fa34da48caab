package io.prmalloc.pool;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.SortedMap;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * The JMX bean of a pool.
 *
 * <p>Threading: any thread.
 */
final class PoolBean implements TensorPoolMXBean {

  // The server holds the bean, so the bean must not hold the pool, or a pool that was forgotten
  // would never be collected.

  private static final Logger LOGGER = System.getLogger(PoolBean.class.getName());

  private final WeakReference<TensorPoolAllocator> pool;
  private final MBeanServer server;

  /** Set once it is registered. */
  private volatile ObjectName name;

  private PoolBean(TensorPoolAllocator pool, MBeanServer server) {
    this.pool = new WeakReference<>(pool);
    this.server = server;
  }

  /**
   * Registers a bean, or says in the log why that is not possible.
   *
   * @param wanted its name; if it is taken, it gets a number
   */
  static PoolBean register(TensorPoolAllocator pool, String wanted) {
    PoolBean bean = new PoolBean(pool, ManagementFactory.getPlatformMBeanServer());
    try {
      bean.register(wanted);
    } catch (JMException | SecurityException e) {
      LOGGER.log(Level.WARNING, "the pool `" + wanted + "` cannot be shown by JMX", e);
    }
    return bean;
  }

  private void register(String wanted) throws JMException {
    for (int number = 1; name == null; number++) {
      ObjectName tried = nameOf(number == 1 ? wanted : wanted + "-" + number);
      try {
        server.registerMBean(this, tried);
        name = tried;
      } catch (InstanceAlreadyExistsException taken) {
        LOGGER.log(Level.DEBUG, "{0} is another pool", tried);
      }
    }
  }

  private static ObjectName nameOf(String value) throws JMException {
    String plain = value.matches("[\\w. -]+") ? value : ObjectName.quote(value);
    return new ObjectName("io.prmalloc:type=TensorPool,name=" + plain);
  }

  /** Takes the bean away, if it is there. */
  void unregister() {
    ObjectName known = name;
    if (known == null) {
      return;
    }
    try {
      server.unregisterMBean(known);
    } catch (InstanceNotFoundException gone) {
      LOGGER.log(Level.DEBUG, "{0} was taken away before", known);
    } catch (JMException | SecurityException e) {
      LOGGER.log(Level.WARNING, "the bean " + known + " cannot be taken away", e);
    }
  }

  private TensorPoolAllocator pool() {
    TensorPoolAllocator present = pool.get();
    if (present == null) {
      unregister();
      throw new IllegalStateException("the pool was dropped without being closed");
    }
    return present;
  }

  private PoolSnapshot now() {
    return pool().snapshot();
  }

  @Override
  public long getReservedBytes() {
    return now().memory().bytesReserved();
  }

  @Override
  public long getPeakReservedBytes() {
    return now().memory().peakBytesReserved();
  }

  @Override
  public long getCommittedBytes() {
    return now().committedBytes();
  }

  @Override
  public long getUsedBytes() {
    return now().memory().bytesInUse();
  }

  @Override
  public long getPeakUsedBytes() {
    return now().memory().peakBytesInUse();
  }

  @Override
  public long getLimitBytes() {
    return now().memory().bytesLimit().orElse(-1);
  }

  @Override
  public long getHits() {
    return now().requests().hits();
  }

  @Override
  public long getMisses() {
    return now().requests().misses();
  }

  @Override
  public SortedMap<Long, Long> getNullBins() {
    return now().nullBinsBySize();
  }

  @Override
  public long getSmallRequests() {
    return now().requests().smallRequests();
  }

  @Override
  public long getUnpooledRequests() {
    return now().requests().unpooledRequests();
  }

  @Override
  public String getPhase() {
    return now().phase().name();
  }

  @Override
  public long getLearningFailures() {
    return now().learningFailures();
  }

  @Override
  public String getLastLearningFailure() {
    return now().lastLearningFailure().orElse("");
  }

  @Override
  public SortedMap<String, Long> getPlanStore() {
    return now().planStore();
  }

  @Override
  public long getPlannedSteps() {
    return now().steps().plannedSteps();
  }

  @Override
  public long getDepartedSteps() {
    return now().steps().departedSteps();
  }

  @Override
  public long getUnplannedSteps() {
    return now().steps().unplannedSteps();
  }

  @Override
  public long getReplans() {
    return now().steps().replans();
  }

  @Override
  public long getRaisedStepPlans() {
    return now().steps().raisedPlans();
  }

  @Override
  public long getLoweredStepPlans() {
    return now().steps().loweredPlans();
  }

  @Override
  public long getDepartedStepRequests() {
    return now().steps().departedRequests();
  }

  @Override
  public long getStepArenaBytes() {
    return now().steps().arenaBytes();
  }

  @Override
  public long trim() {
    return pool().trim();
  }

  @Override
  public String dumpStats() {
    return pool().dumpStats();
  }

  @Override
  public void clearStats() {
    pool().clearStats();
  }
}
