package io.prmalloc.internal.os;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The memory limit of the control group in which this process runs: the least of its own and those
 * of the groups above, for each holds. Version 1 and version 2, at the places where systems and
 * containers mount them ({@code /sys/fs/cgroup}, {@code /sys/fs/cgroup/memory}).
 *
 * <p>Source: the kernel's documentation, {@code admin-guide/cgroup-v2.rst} and {@code
 * admin-guide/cgroup-v1/memory.rst}.
 *
 * <p>Threading: any thread.
 */
public final class CgroupMemory {

  // Version 1 says "none" by the largest long, rounded down to a page.
  private static final long NO_LIMIT_BYTES = 1L << 62;

  private CgroupMemory() {}

  /**
   * The limit of this process. Reads a few small files.
   *
   * <p>Threading: any thread.
   *
   * @return bytes; empty where there is no limit, no such group, or no file that tells
   */
  public static OptionalLong limitBytes() {
    return limitBytes(Path.of("/"));
  }

  /**
   * The same with the files below another root. Threading: any thread.
   *
   * @param root below which {@code proc} and {@code sys} are
   */
  public static OptionalLong limitBytes(Path root) {
    return ProcFiles.text(root.resolve("proc/self/cgroup").toString())
        .lines()
        .map(line -> Arrays.asList(line.split(":", 3)))
        .filter(fields -> fields.size() == 3)
        .flatMap(fields -> files(root.resolve("sys/fs/cgroup"), fields))
        .map(file -> ProcFiles.text(file.toString()))
        // "max" of version 2, and a file that is not there, read as 0; a limit of 0 counts as none.
        .mapToLong(ProcFiles::number)
        .filter(bytes -> bytes > 0 && bytes < NO_LIMIT_BYTES)
        .min();
  }

  /** Those that may hold a limit, by a line of {@code /proc/self/cgroup}. */
  private static Stream<Path> files(Path mount, List<String> fields) {
    if (fields.get(0).equals("0") && fields.get(1).isEmpty()) {
      return upwards(mount, fields.get(2), "memory.max");
    }
    return Arrays.asList(fields.get(1).split(",", -1)).contains("memory")
        ? upwards(mount.resolve("memory"), fields.get(2), "memory.limit_in_bytes")
        : Stream.empty();
  }

  /**
   * The file in the group and in all above. Inside a container the group's path may be the host's,
   * and what is mounted the group itself: then only the last one is there.
   */
  private static Stream<Path> upwards(Path mount, String group, String file) {
    Path own = mount.resolve(group.replaceFirst("^/+", "")).normalize();
    // A path that leads out of the mount ("/..") is of groups that this process does not see.
    Path first = own.startsWith(mount) ? own : mount;
    return Stream.iterate(first, directory -> directory.startsWith(mount), Path::getParent)
        .map(directory -> directory.resolve(file));
  }
}
