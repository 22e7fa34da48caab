package io.prmalloc.trace.planning;

import io.prmalloc.trace.TextNumbers;
import java.util.ArrayList;
import java.util.List;

/**
 * A memory with a name and so many bytes.
 *
 * <p>Threading: immutable.
 *
 * @param name what people call it
 * @param bytes how much there is of it, from 0
 */
public record Memory(String name, long bytes) {

  /**
   * Reads two memories, the fast one first: {@code fast=1M,slow=64M}.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if they are not two, have the same name or none, or a size is
   *     not a number of bytes from 0
   */
  public static List<Memory> twoOf(String text) {
    List<Memory> memories = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      int equals = part.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException("memory `" + part + "` is not NAME=BYTES");
      }
      memories.add(new Memory(part.substring(0, equals), bytes(part.substring(equals + 1))));
    }
    if (memories.size() != 2) {
      throw new IllegalArgumentException(
          "memories `"
              + text
              + "` are "
              + memories.size()
              + "; two are needed, the fast one first");
    }
    if (memories.get(0).name.equals(memories.get(1).name)) {
      throw new IllegalArgumentException("two memories are called `" + memories.get(0).name + "`");
    }
    return memories;
  }

  private static long bytes(String text) {
    long bytes;
    try {
      bytes = TextNumbers.bytes(text);
    } catch (NumberFormatException notANumber) {
      throw new IllegalArgumentException(
          "size `" + text + "` of a memory is not a number of bytes such as 65536, 64K or 1MiB",
          notANumber);
    }
    if (bytes < 0) {
      throw new IllegalArgumentException(
          "size " + bytes + " of a memory is negative; the least is 0");
    }
    return bytes;
  }
}
