package io.prmalloc.tflite;

import io.prmalloc.model.ModelFormatException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of a FlatBuffers file, and the checks before they are used.
 *
 * <p>Threading: one thread at a time.
 */
final class FlatFile {

  // Offsets may point anywhere forward, so that many of them can point at one place: a small file
  // can describe a huge amount of data, although no writer makes such files. What is read through
  // vectors is therefore counted, and must not exceed the file by more than a small factor; without
  // shared places it could not even exceed its length.

  private static final int BUDGET_FACTOR = 4;

  private final String name;
  private final ByteBuffer bytes;
  private long budgetBytes;

  /**
   * @param name what errors call the file
   * @param bytes all of it, from position 0 to its limit
   */
  FlatFile(String name, ByteBuffer bytes) {
    this.name = name;
    this.bytes = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
    this.budgetBytes = (long) BUDGET_FACTOR * bytes.remaining();
  }

  ByteBuffer bytes() {
    return bytes;
  }

  /** An error at a place in the file; empty for the file as a whole. */
  ModelFormatException error(String place, String what) {
    return new ModelFormatException(name, place, what);
  }

  /** Refuses a stretch that is not all inside the file. */
  void checkInside(long position, long length, String place, String what) {
    if (position < 0 || length < 0 || position + length > bytes.limit()) {
      throw error(
          place,
          what
              + " of "
              + length
              + " bytes at "
              + position
              + " is not inside the file, which has "
              + bytes.limit()
              + " bytes");
    }
  }

  /** Where the offset at a position points; there are at least 4 bytes there. */
  int target(long position, String place) {
    checkInside(position, 4, place, "an offset");
    long distance = Integer.toUnsignedLong(bytes.getInt((int) position));
    if (distance == 0) {
      throw error(place, "an offset at " + position + " points nowhere");
    }
    checkInside(position + distance, 4, place, "what the offset at " + position + " points at,");
    return (int) (position + distance);
  }

  /** Counts bytes read through a vector. */
  void spend(long vectorBytes, String place) {
    budgetBytes -= vectorBytes;
    if (budgetBytes < 0) {
      throw error(
          place, "the vectors up to here share places and sum to more than the file can hold");
    }
  }
}
