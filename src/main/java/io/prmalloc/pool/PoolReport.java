package io.prmalloc.pool;

import io.prmalloc.AllocatorStats;
import io.prmalloc.internal.arena.Bin;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.arena.Buffer;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.steps.StepKind;
import java.util.List;
import java.util.Locale;

/** The text of {@link TensorPoolAllocator#dumpStats}. */
final class PoolReport {

  private PoolReport() {}

  static String of(PoolSnapshot now, int slabs, BinTable table, List<StepKind> kinds) {
    AllocatorStats stats = now.memory();
    PoolStats pool = now.requests();
    StringBuilder text = new StringBuilder();
    line(text, "phase %s after %d packed steps", now.phase(), pool.packedSteps());
    if (now.learningFailures() > 0) {
      line(
          text,
          "learning failed %d times, the last time: %s",
          now.learningFailures(),
          now.lastLearningFailure().orElse("?"));
    }
    line(
        text,
        "bytes: in use %,d, peak at most %,d, reserved %,d, committed %,d, peak reserved %,d,"
            + " limit %s",
        stats.bytesInUse(),
        stats.peakBytesInUse(),
        stats.bytesReserved(),
        now.committedBytes(),
        stats.peakBytesReserved(),
        stats.bytesLimit().isPresent()
            ? String.format(Locale.ROOT, "%,d", stats.bytesLimit().getAsLong())
            : "none");
    line(
        text,
        "requests: hits %,d, misses %,d, null bins %,d, small %,d in %,d slabs, unpooled %,d",
        pool.hits(),
        pool.misses(),
        pool.nullBins(),
        pool.smallRequests(),
        slabs,
        pool.unpooledRequests());
    if (table != null) {
      plan(text, pool, table);
    }
    steps(text, now.steps(), kinds);
    now.engine().ifPresent(engine -> engine(text, engine));
    if (now.planStore().values().stream().anyMatch(count -> count > 0)) {
      line(text, "plan store: %s", now.planStore());
    }
    return text.toString();
  }

  private static void engine(StringBuilder text, EngineStats engine) {
    line(
        text,
        "engine %s: tensors %,d of %,d bytes, weights %,d bytes, beyond the limit %,d bytes, peak"
            + " %,d, in %,d requests of %,d",
        engine.engine(),
        engine.tensors(),
        engine.tensorBytes(),
        engine.weightBytes(),
        engine.overrunBytes(),
        engine.overrunPeakBytes(),
        engine.overruns(),
        engine.requests());
  }

  private static void steps(StringBuilder text, StepStats steps, List<StepKind> kinds) {
    if (steps.plannedSteps() + steps.unplannedSteps() == 0) {
      return;
    }
    line(
        text,
        "steps: planned %,d, of them departed %,d, unplanned %,d, replans %,d, arenas %,d of %,d"
            + " bytes; plans raised %,d, lowered %,d; requests departed %,d",
        steps.plannedSteps(),
        steps.departedSteps(),
        steps.unplannedSteps(),
        steps.replans(),
        steps.arenas(),
        steps.arenaBytes(),
        steps.raisedPlans(),
        steps.loweredPlans(),
        steps.departedRequests());
    line(
        text,
        "%14s %10s %12s %10s %10s %8s %14s  %s",
        "first request",
        "phase",
        "planned",
        "departed",
        "unplanned",
        "arenas",
        "arena bytes",
        "key");
    for (StepKind kind : kinds) {
      StepStats stats = kind.stats();
      line(
          text,
          "%,14d %10s %,12d %,10d %,10d %,8d %,14d  %s",
          kind.firstBytes(),
          kind.phase().toLowerCase(Locale.ROOT),
          stats.plannedSteps(),
          stats.departedSteps(),
          stats.unplannedSteps(),
          stats.arenas(),
          stats.arenaBytes(),
          kind.key() == null ? "-" : kind.key());
    }
  }

  private static void plan(StringBuilder text, PoolStats pool, BinTable table) {
    line(
        text,
        "plan: interval %,d, %,d bytes planned, %,d reserved, %,d blocks added",
        pool.policyIntervalBytes(),
        pool.planBytes(),
        pool.arenaBytes(),
        pool.addedBlocks());
    line(
        text,
        "%8s %14s %10s %8s %8s %8s %12s",
        "bin",
        "chunk",
        "alignment",
        "blocks",
        "free",
        "used",
        "uses");
    for (Bin bin : table.bins()) {
      Buffer own = bin.own();
      if (own == null) {
        line(text, "%8d %,14d %10s %8d   borrows only", bin.index(), bin.chunkBytes(), "-", 0);
        continue;
      }
      PoolCounts counts = new PoolCounts();
      bin.allOwn().forEach(buffer -> buffer.addTo(counts));
      line(
          text,
          "%8d %,14d %10d %8d %8d %8d %,12d",
          bin.index(),
          bin.chunkBytes(),
          own.alignment(),
          bin.allOwn().stream().mapToInt(Buffer::count).sum(),
          bin.allOwn().stream().mapToInt(Buffer::freeBlocks).sum(),
          bin.allOwn().stream().mapToInt(Buffer::blocksUsed).sum(),
          counts.uses);
    }
  }

  private static void line(StringBuilder text, String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
