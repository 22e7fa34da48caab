package io.prmalloc.pool;

import java.util.SortedMap;

/**
 * The JMX view of a pool. The JVM's own beans know nothing of mapped memory, nor which direct
 * memory is a pool's.
 *
 * <p>Registered by a pool that is built with {@link TensorPoolBuilder#jmx}, as {@code
 * io.prmalloc:type=TensorPool,name=…}, and removed when the pool is closed. If a pool was dropped
 * without being closed, every attribute throws an {@link IllegalStateException}, and the first read
 * removes the bean.
 *
 * <p>Sizes are bytes. Figures are those of {@link PoolSnapshot}; each attribute is looked up on its
 * own, and costs a few walks over the pool's blocks.
 *
 * <p>Threading: any thread.
 */
// JMX finds attributes by the names of their getters.
public interface TensorPoolMXBean {

  /** Bytes taken from the system. Threading: any thread. */
  long getReservedBytes();

  /** The most bytes that were reserved. Threading: any thread. */
  long getPeakReservedBytes();

  /** {@link PoolSnapshot#committedBytes}. Threading: any thread. */
  long getCommittedBytes();

  /** Bytes given out. Threading: any thread. */
  long getUsedBytes();

  /** A bound for the most bytes that were allocated at a time. Threading: any thread. */
  long getPeakUsedBytes();

  /** The sub-allocator's limit, −1 if it has none. Threading: any thread. */
  long getLimitBytes();

  /** {@link PoolStats#hits}. Threading: any thread. */
  long getHits();

  /** {@link PoolStats#misses}. Threading: any thread. */
  long getMisses();

  /** {@link PoolSnapshot#nullBinsBySize}. Threading: any thread. */
  SortedMap<Long, Long> getNullBins();

  /** {@link PoolStats#smallRequests}. Threading: any thread. */
  long getSmallRequests();

  /** {@link PoolStats#unpooledRequests}. Threading: any thread. */
  long getUnpooledRequests();

  /** The planner's phase. Threading: any thread. */
  String getPhase();

  /** {@link PoolSnapshot#learningFailures}. Threading: any thread. */
  long getLearningFailures();

  /** {@link PoolSnapshot#lastLearningFailure}, empty for none. Threading: any thread. */
  String getLastLearningFailure();

  /** {@link PoolSnapshot#planStore}. Threading: any thread. */
  SortedMap<String, Long> getPlanStore();

  /** {@link StepStats#plannedSteps}. Threading: any thread. */
  long getPlannedSteps();

  /** {@link StepStats#departedSteps}. Threading: any thread. */
  long getDepartedSteps();

  /** {@link StepStats#unplannedSteps}. Threading: any thread. */
  long getUnplannedSteps();

  /** {@link StepStats#replans}. Threading: any thread. */
  long getReplans();

  /** {@link StepStats#raisedPlans}. Threading: any thread. */
  long getRaisedStepPlans();

  /** {@link StepStats#loweredPlans}. Threading: any thread. */
  long getLoweredStepPlans();

  /** {@link StepStats#departedRequests}. Threading: any thread. */
  long getDepartedStepRequests();

  /** {@link StepStats#arenaBytes}. Threading: any thread. */
  long getStepArenaBytes();

  /** {@link TensorPoolAllocator#trim}. Threading: any thread. */
  long trim();

  /** {@link TensorPoolAllocator#dumpStats}. Threading: any thread. */
  String dumpStats();

  /** {@link TensorPoolAllocator#clearStats}. Threading: any thread. */
  void clearStats();
}
