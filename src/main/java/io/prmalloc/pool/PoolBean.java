package io.prmalloc.pool;

import static java.util.Map.entry;

import io.prmalloc.internal.block.SafeLog;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.SortedMap;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanFeatureInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.StandardMBean;

/**
 * The JMX bean of a pool.
 *
 * <p>Threading: any thread.
 */
final class PoolBean extends StandardMBean implements TensorPoolMXBean {

  // The server holds the bean, so the bean must not hold the pool, or a pool that was forgotten
  // would never be collected.

  private static final Logger LOGGER = SafeLog.logger(PoolBean.class);

  /** Descriptions of attributes and operations, by name. */
  private static final Map<String, String> DESCRIPTIONS =
      Map.ofEntries(
          entry("ReservedBytes", "Bytes that the sub-allocator has from the system"),
          entry("PeakReservedBytes", "The most bytes that were reserved at a time"),
          entry("CommittedBytes", "Reserved bytes without the pages that were given back"),
          entry("UsedBytes", "Bytes that are given out"),
          entry("PeakUsedBytes", "A bound for the most bytes that were given out at a time"),
          entry("LimitBytes", "The most bytes that the sub-allocator reserves; -1 for no limit"),
          entry("Hits", "Requests that were served from the plan's arena"),
          entry("Misses", "Requests that found all blocks of their size in use"),
          entry("NullBins", "Requests of sizes that the plan does not know, by powers of two"),
          entry("SmallRequests", "Requests of up to 32 KiB, which are served from slabs"),
          entry("UnpooledRequests", "Requests that the live heap served, for whatever reason"),
          entry("Phase", "What the planner does: DONE when a plan serves"),
          entry("LearningFailures", "Attempts to learn a plan that failed"),
          entry("LastLearningFailure", "Why the last of them failed; empty for none"),
          entry("PlanStore", "Plans published, taken and refused, and looks at a store away"),
          entry("PlannedSteps", "Steps that leased an arena"),
          entry("DepartedSteps", "Planned steps that asked for something else than planned"),
          entry("UnplannedSteps", "Steps that asked for an arena and got none"),
          entry("Replans", "Plans of steps that were replaced, and kinds learnt anew"),
          entry("RaisedStepPlans", "Plans of steps replaced by ones for larger or longer steps"),
          entry("LoweredStepPlans", "Plans of steps replaced by smaller ones"),
          entry("DepartedStepRequests", "Requests of departed steps served from elsewhere"),
          entry("StepArenaBytes", "Bytes reserved for arenas of planned steps"),
          entry("trim", "Gives back memory that is not in use; returns how many bytes"),
          entry("dumpStats", "All figures as a table for people"),
          entry("clearStats", "Starts peaks anew from what is in use now"));

  private final WeakReference<TensorPoolAllocator> pool;
  private final MBeanServer server;

  /** Set once it is registered. */
  private volatile ObjectName name;

  private PoolBean(TensorPoolAllocator pool, MBeanServer server) {
    super(TensorPoolMXBean.class, true);
    this.pool = new WeakReference<>(pool);
    this.server = server;
  }

  /**
   * Registers a bean, or logs why that is not possible.
   *
   * @param wanted its name; if it is taken, it gets a number
   */
  static PoolBean register(TensorPoolAllocator pool, String wanted) {
    PoolBean bean = new PoolBean(pool, ManagementFactory.getPlatformMBeanServer());
    try {
      bean.register(wanted);
    } catch (JMException | SecurityException e) {
      SafeLog.log(LOGGER, Level.WARNING, "the pool `" + wanted + "` cannot be shown by JMX", e);
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
      SafeLog.log(LOGGER, Level.WARNING, "the bean " + known + " cannot be taken away", e);
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
  protected String getDescription(MBeanInfo info) {
    return "A pool of off-heap memory; sizes are bytes";
  }

  @Override
  protected String getDescription(MBeanFeatureInfo info) {
    return DESCRIPTIONS.get(info.getName());
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
