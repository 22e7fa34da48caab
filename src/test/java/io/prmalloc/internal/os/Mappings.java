package io.prmalloc.internal.os;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads what the kernel reports about the mapping at an address. */
public final class Mappings {

  private Mappings() {}

  /** Permissions such as {@code rw-p}, empty if nothing is mapped there or nothing is told. */
  static Optional<String> permissions(long address) {
    return ProcFiles.text("/proc/self/maps")
        .lines()
        .filter(line -> covers(line, address))
        .findFirst()
        .map(line -> line.split(" ", -1)[1]);
  }

  /** Flags such as {@code hg} for huge pages, empty if the kernel does not tell. */
  static List<String> flags(long address) {
    boolean there = false;
    for (String line : ProcFiles.text("/proc/self/smaps").lines().toList()) {
      if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
        there = covers(line, address);
      } else if (there && line.startsWith("VmFlags:")) {
        return List.of(line.substring("VmFlags:".length()).strip().split(" ", -1));
      }
    }
    return List.of();
  }

  /**
   * How much of a range has memory, or swap space, behind it. Unlike the resident size of the
   * process, nothing that the collector and the compiler do meanwhile is in it.
   *
   * @param address of a page
   * @param bytes whole pages
   * @return bytes, empty if the kernel does not tell
   */
  public static OptionalLong residentBytes(long address, int bytes) {
    int page = OperatingSystem.pageSizeBytes();
    // A word for each page, in native order; of its upper two bits one is set if the page is in
    // memory or swapped out of it.
    ByteBuffer words =
        ByteBuffer.allocate(bytes / page * Long.BYTES).order(ByteOrder.nativeOrder());
    try (RandomAccessFile pages = new RandomAccessFile("/proc/self/pagemap", "r")) {
      pages.seek(address / page * Long.BYTES);
      pages.readFully(words.array());
    } catch (IOException notTold) {
      return OptionalLong.empty();
    }
    long resident = 0;
    while (words.hasRemaining()) {
      resident += words.getLong() >>> 62 != 0 ? page : 0;
    }
    return OptionalLong.of(resident);
  }

  private static boolean covers(String line, long address) {
    int dash = line.indexOf('-');
    int space = line.indexOf(' ', dash);
    return Long.parseUnsignedLong(line.substring(0, dash), 16) <= address
        && address < Long.parseUnsignedLong(line.substring(dash + 1, space), 16);
  }
}
