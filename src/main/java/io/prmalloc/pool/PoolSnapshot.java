package io.prmalloc.pool;

import io.prmalloc.AllocatorStats;
import io.prmalloc.lifetime.MemoryPlanner;
import java.util.Optional;
import java.util.SortedMap;

/**
 * All figures of a pool at once, for export to a monitoring system.
 *
 * <p>Threading: immutable.
 *
 * @param memory what is in use and reserved; of one moment if the pool is at rest
 * @param committedBytes reserved bytes without those that {@link TensorPoolAllocator#trim} gave
 *     back page by page and that were not used since: a bound for what the sub-allocator's memory
 *     costs. It may lie above, where pages were never touched
 * @param requests how requests were served
 * @param nullBinsBySize the null bins of {@code requests}, by size: each key is the most bytes of a
 *     class, header included, a power of two from 64 KiB to 2 GiB, and the classes are as many at
 *     all times
 * @param steps how steps were served
 * @param phase where the planner stands
 * @param learningFailures how many attempts to learn a plan failed, the first one or another in its
 *     place
 * @param lastLearningFailure why the latest of them failed: of those for the first plan as long as
 *     none serves, then of those for another
 * @param engine what an engine outside of Java took, if one is attached
 * @param planStore how often plans were {@code published} to the {@link
 *     TensorPoolBuilder#planStore}, {@code taken} from it and {@code refused}, and how often it was
 *     {@code unavailable}; all 0 without one
 */
public record PoolSnapshot(
    AllocatorStats memory,
    long committedBytes,
    PoolStats requests,
    SortedMap<Long, Long> nullBinsBySize,
    StepStats steps,
    MemoryPlanner.Phase phase,
    long learningFailures,
    Optional<String> lastLearningFailure,
    Optional<EngineStats> engine,
    SortedMap<String, Long> planStore) {}
