package io.prmalloc.os;

import java.util.List;
import java.util.Optional;

/** What the kernel says of the mapping at an address. */
final class Mappings {

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

  private static boolean covers(String line, long address) {
    int dash = line.indexOf('-');
    int space = line.indexOf(' ', dash);
    return Long.parseUnsignedLong(line.substring(0, dash), 16) <= address
        && address < Long.parseUnsignedLong(line.substring(dash + 1, space), 16);
  }
}
