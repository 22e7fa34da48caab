package io.prmalloc.internal.os;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The memory limit of the control group in which this process runs: the least of its own and those
 * of the groups above, for each holds. Version 1 and version 2, and both at a time, wherever {@code
 * /proc/self/mountinfo} says that they are mounted; where it says nothing, at the usual places
 * ({@code /sys/fs/cgroup}, {@code /sys/fs/cgroup/memory}).
 *
 * <p>Source: the kernel's documentation, {@code admin-guide/cgroup-v2.rst} and {@code
 * admin-guide/cgroup-v1/memory.rst}, and proc(5).
 *
 * <p>Threading: any thread.
 */
public final class CgroupMemory {

  // Version 1 says "none" by the largest long, rounded down to a page.
  private static final long NO_LIMIT_BYTES = 1L << 62;

  /** How proc(5) writes a space, a tab, a line's end and a backslash of a path. */
  private static final Pattern OCTAL = Pattern.compile("\\\\([0-7]{3})");

  // Fields of a line of mountinfo, and of what follows its separator.
  private static final int ROOT = 3;
  private static final int MOUNT_POINT = 4;
  private static final int TYPE = 0;
  private static final int OPTIONS = 2;

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
    List<Hierarchy> hierarchies = hierarchies(root);
    return ProcFiles.text(root.resolve("proc/self/cgroup").toString())
        .lines()
        .map(line -> line.split(":", 3))
        .filter(fields -> fields.length == 3)
        .flatMap(fields -> files(hierarchies, fields))
        .map(file -> ProcFiles.text(file.toString()))
        // "max" of version 2, and a file that is not there, read as 0; a limit of 0 counts as none.
        .mapToLong(ProcFiles::number)
        .filter(bytes -> bytes > 0 && bytes < NO_LIMIT_BYTES)
        .min();
  }

  /** The files that may hold a limit, by a line of {@code /proc/self/cgroup}. */
  private static Stream<Path> files(List<Hierarchy> hierarchies, String[] fields) {
    String group = fields[2];
    List<Hierarchy> all = hierarchies.stream().filter(one -> one.isOf(fields)).toList();
    // The groups of other containers may be mounted as well, and their limits are not ours.
    List<Hierarchy> ours = all.stream().filter(one -> one.has(group)).toList();
    return (ours.isEmpty() ? all : ours).stream().flatMap(one -> one.files(group));
  }

  /** All that are mounted. */
  private static List<Hierarchy> hierarchies(Path root) {
    List<Hierarchy> found = new ArrayList<>();
    ProcFiles.text(root.resolve("proc/self/mountinfo").toString())
        .lines()
        .forEach(line -> add(line, root, found));
    if (found.isEmpty()) {
      Path usual = root.resolve("sys/fs/cgroup");
      found.add(new Hierarchy(2, "/", usual));
      found.add(new Hierarchy(1, "/", usual.resolve("memory")));
    }
    return found;
  }

  /** Adds what a line of {@code /proc/self/mountinfo} tells of, if that is one. */
  private static void add(String line, Path root, List<Hierarchy> found) {
    // Any number of optional fields is before the separator.
    String[] halves = line.split(" - ", 2);
    String[] mount = halves[0].split(" ", -1);
    String[] system = halves.length < 2 ? new String[0] : halves[1].split(" ", -1);
    if (mount.length <= MOUNT_POINT || system.length <= OPTIONS) {
      return;
    }
    boolean isTwo = system[TYPE].equals("cgroup2");
    if (isTwo || (system[TYPE].equals("cgroup") && hasMemory(system[OPTIONS]))) {
      below(root, unescaped(mount[MOUNT_POINT]))
          .ifPresent(
              place -> found.add(new Hierarchy(isTwo ? 2 : 1, unescaped(mount[ROOT]), place)));
    }
  }

  /** Whether a list of controllers, with commas between them, has the one of memory. */
  private static boolean hasMemory(String controllers) {
    return Arrays.asList(controllers.split(",", -1)).contains("memory");
  }

  private static String unescaped(String path) {
    return OCTAL
        .matcher(path)
        .replaceAll((MatchResult octal) -> quoted((char) Integer.parseInt(octal.group(1), 8)));
  }

  private static String quoted(char one) {
    return Matcher.quoteReplacement(String.valueOf(one));
  }

  /** Empty if this JVM cannot name it: one that runs with the locale C has ASCII only. */
  private static Optional<Path> below(Path directory, String path) {
    try {
      return Optional.of(directory.resolve(path.replaceFirst("^/+", "")).normalize());
    } catch (InvalidPathException unnameable) {
      return Optional.empty();
    }
  }

  /**
   * A mounted tree of groups.
   *
   * @param version 1 or 2
   * @param root the group that is mounted
   * @param mount where
   */
  private record Hierarchy(int version, String root, Path mount) {

    /** Whether a line of {@code /proc/self/cgroup} is about it. */
    boolean isOf(String[] fields) {
      boolean isTwo = fields[0].equals("0") && fields[1].isEmpty();
      return version == 2 ? isTwo : !isTwo && hasMemory(fields[1]);
    }

    /** Whether the group is the one that is mounted, or below it. */
    boolean has(String group) {
      return root.equals("/") || isBelowRoot(group);
    }

    private boolean isBelowRoot(String group) {
      return !root.equals("/") && (group + "/").startsWith(root + "/");
    }

    /**
     * The file in the group and in all above. Inside a container the group's path may be the
     * host's, and what is mounted the group itself, or one above it: then the path begins with that
     * one's.
     */
    Stream<Path> files(String group) {
      String own = isBelowRoot(group) ? group.substring(root.length()) : group;
      // A path that leads out of the mount ("/..") is of groups that this process does not see.
      Path first = below(mount, own).filter(path -> path.startsWith(mount)).orElse(mount);
      String file = version == 2 ? "memory.max" : "memory.limit_in_bytes";
      return Stream.iterate(first, directory -> directory.startsWith(mount), Path::getParent)
          .map(directory -> directory.resolve(file));
    }
  }
}
