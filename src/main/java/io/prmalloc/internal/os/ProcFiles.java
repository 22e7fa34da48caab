package io.prmalloc.internal.os;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads the kernel's small text files. Whatever is not there, or not as expected, reads as nothing:
 * these files tell what the platform offers, and not to have one is an answer.
 *
 * <p>Threading: any thread.
 */
final class ProcFiles {

  /** Key of the page size among the values the kernel hands to a new process. */
  private static final long AUXV_PAGE_SIZE = 6;

  private ProcFiles() {}

  /** The file's text, or an empty string if it cannot be read. */
  static String text(String path) {
    // Not as UTF-8: a process name may hold any bytes, and one odd byte must not hide the rest.
    return new String(bytes(path), StandardCharsets.ISO_8859_1);
  }

  /** The file's bytes, or none if it cannot be read. */
  static byte[] bytes(String path) {
    try {
      return Files.readAllBytes(Path.of(path));
    } catch (IOException notThere) {
      return new byte[0];
    }
  }

  /**
   * The page size from {@code /proc/self/auxv}: pairs of 8-byte words in native order, key and
   * value.
   *
   * @return bytes, or 0 if the pairs do not tell
   */
  static int pageSizeBytes(byte[] auxv) {
    ByteBuffer words = ByteBuffer.wrap(auxv).order(ByteOrder.nativeOrder());
    while (words.remaining() >= 16) {
      long key = words.getLong();
      long value = words.getLong();
      if (key == AUXV_PAGE_SIZE && value > 0 && value <= 1 << 30 && Long.bitCount(value) == 1) {
        return (int) value;
      }
    }
    return 0;
  }

  /**
   * A line such as {@code VmHWM: 1234 kB} of {@code /proc/self/status} or {@code /proc/meminfo}, in
   * bytes.
   *
   * @return bytes, or 0 if there is no such line
   */
  static long kibibyteLine(String text, String name) {
    String start = name + ":";
    return text.lines()
        .filter(line -> line.startsWith(start))
        .findFirst()
        .map(line -> number(line.substring(start.length()).replace("kB", "")) * 1024)
        .orElse(0L);
  }

  /**
   * A field of {@code /proc/self/stat} by the number the manual gives it, from 3 on. Fields are
   * counted from behind the process's name, which may hold spaces and parentheses.
   *
   * @return the number, or 0 if there is no such field
   */
  static long statField(String stat, int field) {
    int nameEnd = stat.lastIndexOf(')');
    return nameEnd < 0 ? 0 : word(stat.substring(nameEnd + 1), field - 3);
  }

  /** The n-th word of a line as a number, counted from 0; 0 if there is none. */
  static long word(String line, int index) {
    String[] words = line.strip().split("\\s+", -1);
    return index < words.length ? number(words[index]) : 0;
  }

  /** The word in brackets of a line such as {@code always [madvise] never}, or an empty string. */
  static String selected(String line) {
    int open = line.indexOf('[');
    int close = line.indexOf(']', open + 1);
    return open < 0 || close < 0 ? "" : line.substring(open + 1, close);
  }

  /** A text as a number, 0 if it is none. */
  static long number(String text) {
    try {
      return Long.parseLong(text.strip());
    } catch (NumberFormatException notOne) {
      return 0;
    }
  }
}
