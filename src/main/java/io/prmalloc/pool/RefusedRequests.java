package io.prmalloc.pool;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.ReservationGate;
import java.util.function.Supplier;

/**
 * Tries requests again that were refused for lack of memory: the one rule for all requests of
 * users.
 *
 * <p>Threading: any thread that holds no lock of the pool.
 */
final class RefusedRequests {

  // While a request tries again, plans reserve nothing (see ReservationGate). It tries again while
  // memory is given back, for other threads may be quicker to take it, and at least once, for other
  // threads may have freed some. It waits for memory that is on its way only if it would be refused
  // otherwise.

  /** How often memory is given back for a request that is refused nevertheless. */
  private static final int MAX_RETRIES = 8;

  private final PoolAccounting accounting;
  private final Reclaim reclaim;
  private final ReservationGate gate;

  RefusedRequests(PoolAccounting accounting, Reclaim reclaim, ReservationGate gate) {
    this.accounting = accounting;
    this.reclaim = reclaim;
    this.gate = gate;
  }

  /**
   * Takes a block after the first refusal.
   *
   * @param bytes what the user asked for
   * @param raw whether by address: then the exception is not seen by users, and memory in use is
   *     not added up for it
   * @param attempt takes a block, or throws
   * @throws OutOfNativeMemoryException if the request is refused
   */
  Block retry(
      long bytes, boolean raw, OutOfNativeMemoryException refused, Supplier<Block> attempt) {
    OutOfNativeMemoryException last = refused;
    gate.close(refused);
    try {
      for (int i = 0; i < MAX_RETRIES && (makesRoom(last.requestedBytes()) || i == 0); i++) {
        try {
          return attempt.get();
        } catch (OutOfNativeMemoryException again) {
          last = again;
        }
      }
    } finally {
      gate.open();
    }
    throw raw ? last : last.forUser(bytes, accounting.bytesInUse());
  }

  private boolean makesRoom(long bytes) {
    if (reclaim.run(bytes) > 0) {
      return true;
    }
    boolean waited = gate.awaitMoves();
    if (waited) {
      reclaim.run(bytes);
    }
    return waited;
  }
}
