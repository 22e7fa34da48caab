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
  private final long reservedBytes;
  private final long limitBytes;

  /**
   * Threading: any thread.
   *
   * @param requestedBytes bytes asked for
   * @param reservedBytes bytes held at that moment
   * @param limitBytes the limit in bytes, or a negative number if there is none
   * @param cause what the system said, or null
   */
  public OutOfNativeMemoryException(
      long requestedBytes, long reservedBytes, long limitBytes, Throwable cause) {
    super(message(requestedBytes, reservedBytes, limitBytes), cause);
    this.requestedBytes = requestedBytes;
    this.reservedBytes = reservedBytes;
    this.limitBytes = limitBytes;
  }

  private static String message(long requestedBytes, long reservedBytes, long limitBytes) {
    String limit = limitBytes < 0 ? "no limit set" : "limit " + limitBytes;
    return "cannot reserve " + requestedBytes + " bytes: " + reservedBytes + " reserved, " + limit;
  }

  /** Bytes asked for. Threading: any thread. */
  public long requestedBytes() {
    return requestedBytes;
  }

  /** Bytes held when the request came. Threading: any thread. */
  public long reservedBytes() {
    return reservedBytes;
  }

  /** The limit in bytes, empty if none was set. Threading: any thread. */
  public OptionalLong limitBytes() {
    return limitBytes < 0 ? OptionalLong.empty() : OptionalLong.of(limitBytes);
  }
}
