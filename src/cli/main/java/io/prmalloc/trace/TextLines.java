package io.prmalloc.trace;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The lines of a text in UTF-8 that are neither blank nor comments, one at a time: the file may be
 * larger than memory, a line may not. A comment is a line that begins with {@code #}.
 *
 * <p>Threading: one thread at a time.
 */
final class TextLines implements AutoCloseable {

  // Blanks at the ends of a line are dropped as they come, so that a line of nothing else takes no
  // memory, whatever its length. Bytes are decoded a line at a time and strictly, because a
  // replaced character could make one id of two.

  /** The longest line, without blanks at its ends, in bytes. */
  static final int MAX_LINE_BYTES = 1 << 20;

  /** A text that can be read again. */
  @FunctionalInterface
  interface Source {
    /** Its bytes from the start. Threading: any thread. */
    InputStream open() throws IOException;

    /** A file, which may be compressed with gzip. */
    static Source of(Path path) {
      return () -> InputFile.open(path);
    }

    /** Bytes in memory. */
    static Source of(byte[] bytes) {
      return () -> new ByteArrayInputStream(bytes);
    }
  }

  private final String file;
  private final boolean keepsTabs;
  private final InputStream in;
  private final CharsetDecoder decoder =
      StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPORT)
          .onUnmappableCharacter(CodingErrorAction.REPORT);

  /**
   * How a text begins.
   *
   * @param number of the first line that is neither blank nor a comment
   * @param text that line, or the first {@link #MAX_LINE_BYTES} of it
   */
  record Start(long number, String text) {}

  private static final int AHEAD_BYTES = 1 << 13;
  private static final String BYTE_ORDER_MARK = "\uFEFF";

  /** What a comment begins with. */
  static final char COMMENT = '#';

  // What was read and is not yet part of a line: calls of the stream, byte by byte, would take
  // longer than all the rest.
  private final byte[] ahead = new byte[AHEAD_BYTES];
  private int aheadFrom;
  private int aheadTo;

  private byte[] bytes = new byte[256];
  private long number;
  private String line;

  /**
   * Opens a text.
   *
   * @param file what errors call it
   * @throws UncheckedIOException if it cannot be read
   */
  TextLines(String file, Source source) {
    this(file, source, false);
  }

  private TextLines(String file, Source source, boolean keepsTabs) {
    this.file = file;
    this.keepsTabs = keepsTabs;
    try {
      this.in = source.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Opens a table: a tab at an end of a line may stand beside an empty cell, and is part of the
   * line.
   *
   * @param file what errors call it
   * @throws UncheckedIOException if it cannot be read
   */
  static TextLines ofTable(String file, Source source) {
    return new TextLines(file, source, true);
  }

  /**
   * How a text begins, or null if there is nothing but blanks and comments. What is no UTF-8 is
   * replaced.
   *
   * @throws UncheckedIOException if it cannot be read
   */
  static Start startOf(Source source) {
    try (InputStream in = new BufferedInputStream(source.open())) {
      skipByteOrderMark(in);
      long number = 1;
      byte[] start = new byte[256];
      int length = 0;
      boolean comment = false;
      int next = in.read();
      while (next >= 0 && length < MAX_LINE_BYTES && (next != '\n' || length == 0)) {
        comment = next != '\n' && (comment || (length == 0 && next == COMMENT));
        if (next == '\n') {
          number++;
        } else if (!comment && (length > 0 || !isBlank(next))) {
          start = length < start.length ? start : Arrays.copyOf(start, 2 * length);
          start[length++] = (byte) next;
        }
        next = in.read();
      }
      String text = new String(start, 0, length, StandardCharsets.UTF_8).strip();
      return text.isEmpty() ? null : new Start(number, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void skipByteOrderMark(InputStream in) throws IOException {
    byte[] mark = BYTE_ORDER_MARK.getBytes(StandardCharsets.UTF_8);
    in.mark(mark.length);
    if (!Arrays.equals(in.readNBytes(mark.length), mark)) {
      in.reset();
    }
  }

  private static boolean isBlank(int next) {
    return next == ' ' || next == '\t' || next == '\r';
  }

  /**
   * Goes to the next line that is neither blank nor a comment.
   *
   * @return false if there is none
   * @throws TraceFormatException if it is not UTF-8 or too long
   * @throws UncheckedIOException if the text cannot be read
   */
  boolean next() {
    try {
      boolean found;
      do {
        found = readLine();
      } while (found && (line.isEmpty() || line.charAt(0) == COMMENT));
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean readLine() throws IOException {
    int next = read();
    if (next < 0) {
      return false;
    }
    number++;
    int length = 0;
    // Up to here there is something but blanks.
    int end = 0;
    while (next >= 0 && next != '\n') {
      boolean blank = isBlank(next) && !(keepsTabs && next == '\t');
      if (length < MAX_LINE_BYTES && !(blank && end == 0)) {
        append(length++, (byte) next);
      } else if (!blank) {
        throw TraceFormatException.atLine(
            file, number, "is longer than " + MAX_LINE_BYTES + " bytes");
      }
      end = blank ? end : length;
      next = read();
    }
    line = end == 0 ? "" : decode(end);
    return true;
  }

  /** The next byte, or -1. */
  private int read() throws IOException {
    if (aheadFrom == aheadTo) {
      aheadFrom = 0;
      aheadTo = in.read(ahead, 0, ahead.length);
      if (aheadTo <= 0) {
        aheadTo = 0;
        return -1;
      }
    }
    return ahead[aheadFrom++] & 0xff;
  }

  private void append(int at, byte next) {
    if (at == bytes.length) {
      bytes = Arrays.copyOf(bytes, 2 * at);
    }
    bytes[at] = next;
  }

  private String decode(int length) {
    try {
      String text = decoder.decode(ByteBuffer.wrap(bytes, 0, length)).toString();
      text = number == 1 && text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
      return keepsTabs ? stripAllButTabs(text) : text.strip();
    } catch (CharacterCodingException notText) {
      throw TraceFormatException.atLine(file, number, "is not text in UTF-8");
    }
  }

  private static String stripAllButTabs(String text) {
    int from = 0;
    int to = text.length();
    while (from < to && text.charAt(from) != '\t' && Character.isWhitespace(text.charAt(from))) {
      from++;
    }
    while (to > from
        && text.charAt(to - 1) != '\t'
        && Character.isWhitespace(text.charAt(to - 1))) {
      to--;
    }
    return text.substring(from, to);
  }

  /**
   * What stands in a line between blanks and tabs, one or more of them. Traces have millions of
   * lines, so no pattern is used; the fields are those of {@code Pattern.compile("[ \t]+")}.
   */
  static String[] fields(String line) {
    List<String> fields = new ArrayList<>(4);
    int from = 0;
    for (int at = 0; at < line.length(); at++) {
      if (isFieldEnd(line, at)) {
        fields.add(line.substring(from, at));
        while (at + 1 < line.length() && isFieldEnd(line, at + 1)) {
          at++;
        }
        from = at + 1;
      }
    }
    fields.add(line.substring(from));
    return fields.toArray(new String[0]);
  }

  private static boolean isFieldEnd(String line, int at) {
    return line.charAt(at) == ' ' || line.charAt(at) == '\t';
  }

  /** The line, without blanks at its ends. */
  String line() {
    return line;
  }

  /** Its number among all lines, from 1. */
  long number() {
    return number;
  }

  @Override
  public void close() {
    try {
      in.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
