package io.prmalloc;

import java.io.Serial;
import java.util.OptionalLong;

/**
 * Thrown where off-heap memory is asked for that the system, or a limit, does not grant. Nothing
 * has changed then.
 */
public final class OutOfNativeMemoryException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final long requestedBytes;
  private final long bytesInUse;
  private final long reservedBytes;
  private final long limitBytes;

  /**
   * A refusal by the system or a sub-allocator, to whom all that is reserved is in use.
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
    super(
        "cannot reserve "
            + requestedBytes
            + " bytes: "
            + reservedBytes
            + " reserved, "
            + limit(limitBytes),
        cause);
    this.requestedBytes = requestedBytes;
    this.bytesInUse = reservedBytes;
    this.reservedBytes = reservedBytes;
    this.limitBytes = limitBytes;
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
            + limit(refusal.limitBytes),
        refusal);
    this.requestedBytes = requestedBytes;
    this.bytesInUse = bytesInUse;
    this.reservedBytes = refusal.reservedBytes;
    this.limitBytes = refusal.limitBytes;
  }

  private static String limit(long limitBytes) {
    return limitBytes < 0 ? "no limit set" : "limit " + limitBytes;
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

  /** The limit in bytes, empty if none was set. Threading: any thread. */
  public OptionalLong limitBytes() {
    return limitBytes < 0 ? OptionalLong.empty() : OptionalLong.of(limitBytes);
  }
}
