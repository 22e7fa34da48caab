package io.prmalloc;

import java.io.Serial;
import java.util.OptionalLong;

/**
 * Thrown where off-heap memory is asked for that the system, or a limit, does not grant. Nothing
 * has changed then.
 */
public final class OutOfNativeMemoryException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  /** What refused. */
  public enum Limit {
    /** A sub-allocator: its own limit is reached. */
    SUB_ALLOCATOR,
    /** The JVM: {@code MaxDirectMemorySize} is reached. */
    DIRECT_MEMORY,
    /** The system: no memory, no address space or no mapping is left. */
    SYSTEM
  }

  private final long requestedBytes;
  private final long bytesInUse;
  private final long reservedBytes;
  private final long limitBytes;
  private final Limit limit;

  /**
   * A refusal by {@link Limit#SUB_ALLOCATOR a limit} if one is given and there is no cause, else by
   * {@link Limit#SYSTEM the system}.
   *
   * <p>Threading: any thread.
   *
   * @param requestedBytes bytes asked for
   * @param reservedBytes bytes held at that moment
   * @param limitBytes the limit in bytes, or a negative number if there is none
   * @param cause what the system said, or null
   */
  public OutOfNativeMemoryException(
      long requestedBytes, long reservedBytes, long limitBytes, Throwable cause) {
    this(
        requestedBytes,
        reservedBytes,
        limitBytes,
        limitBytes >= 0 && cause == null ? Limit.SUB_ALLOCATOR : Limit.SYSTEM,
        cause);
  }

  /**
   * A refusal by the system or a sub-allocator, for which all that is reserved is in use.
   *
   * <p>Threading: any thread.
   *
   * @param requestedBytes bytes asked for
   * @param reservedBytes bytes held at that moment
   * @param limitBytes the limit in bytes, or a negative number if there is none
   * @param limit what refused
   * @param cause what the system said, or null
   */
  public OutOfNativeMemoryException(
      long requestedBytes, long reservedBytes, long limitBytes, Limit limit, Throwable cause) {
    super(
        "cannot reserve "
            + requestedBytes
            + " bytes: "
            + reservedBytes
            + " reserved, "
            + advice(limit, limitBytes, cause),
        cause);
    this.requestedBytes = requestedBytes;
    this.bytesInUse = reservedBytes;
    this.reservedBytes = reservedBytes;
    this.limitBytes = limitBytes;
    this.limit = limit;
  }

  private OutOfNativeMemoryException(
      long requestedBytes, long bytesInUse, OutOfNativeMemoryException refusal) {
    super(
        "cannot allocate "
            + requestedBytes
            + " bytes: "
            + bytesInUse
            + " in use, "
            + refusal.reservedBytes
            + " reserved, "
            + advice(refusal.limit, refusal.limitBytes, refusal.getCause()),
        refusal);
    this.requestedBytes = requestedBytes;
    this.bytesInUse = bytesInUse;
    this.reservedBytes = refusal.reservedBytes;
    this.limitBytes = refusal.limitBytes;
    this.limit = refusal.limit;
  }

  private static String advice(Limit limit, long limitBytes, Throwable cause) {
    if (cause instanceof IllegalArgumentException) {
      // No memory would help.
      return cause.getMessage();
    }
    return switch (limit) {
      case SUB_ALLOCATOR ->
          "limit " + limitBytes + " of the sub-allocator: give it a larger limitBytes";
      case DIRECT_MEMORY ->
          "limit " + limitBytes + " of the JVM: start it with a larger -XX:MaxDirectMemorySize";
      case SYSTEM ->
          "refused by the system: see its free memory, the limit of the container, ulimit -v and"
              + " vm.max_map_count";
    };
  }

  /**
   * The same as an allocator's user sees it, who asked for something else than the allocator did.
   * This one is its cause.
   *
   * <p>Threading: any thread.
   *
   * @param userBytes bytes that the user asked for
   * @param inUseBytes bytes that the allocator has given out
   */
  public OutOfNativeMemoryException forUser(long userBytes, long inUseBytes) {
    return new OutOfNativeMemoryException(userBytes, inUseBytes, this);
  }

  /** Bytes asked for. Threading: any thread. */
  public long requestedBytes() {
    return requestedBytes;
  }

  /**
   * Bytes in use when the request came, of the allocator or sub-allocator that was asked.
   * Threading: any thread.
   */
  public long bytesInUse() {
    return bytesInUse;
  }

  /** Bytes taken from the system when the request came. Threading: any thread. */
  public long reservedBytes() {
    return reservedBytes;
  }

  /** What refused. Threading: any thread. */
  public Limit limit() {
    return limit;
  }

  /**
   * The limit in bytes: the JVM's if that refused, else the sub-allocator's, empty if it has none.
   * Threading: any thread.
   */
  public OptionalLong limitBytes() {
    return limitBytes < 0 ? OptionalLong.empty() : OptionalLong.of(limitBytes);
  }
}
