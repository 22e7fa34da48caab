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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The lines of a text in UTF-8 that are not blank, one at a time: the file may be larger than
 * memory, a line may not.
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

    /** A file. */
    static Source of(Path path) {
      return () -> new BufferedInputStream(Files.newInputStream(path), 1 << 16);
    }

    /** Bytes in memory. */
    static Source of(byte[] bytes) {
      return () -> new ByteArrayInputStream(bytes);
    }
  }

  private final String file;
  private final InputStream in;
  private final CharsetDecoder decoder =
      StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPORT)
          .onUnmappableCharacter(CodingErrorAction.REPORT);

  /**
   * How a text begins.
   *
   * @param number of the first line that is not blank
   * @param text that line, or the first few thousand characters of it
   */
  record Start(long number, String text) {}

  private static final int START_BYTES = 4096;
  private static final String BYTE_ORDER_MARK = "\uFEFF";

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
    this.file = file;
    try {
      this.in = source.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * How a text begins, or null if it is blank. What is no UTF-8 is replaced.
   *
   * @throws UncheckedIOException if it cannot be read
   */
  static Start startOf(Source source) {
    try (InputStream in = source.open()) {
      long number = 1;
      byte[] start = new byte[START_BYTES];
      int length = 0;
      int next = in.read();
      while (next >= 0 && length < START_BYTES && (next != '\n' || isBlank(start, length))) {
        boolean blank = isBlank(start, length);
        length = blank ? 0 : length;
        start[length++] = (byte) next;
        number += next == '\n' ? 1 : 0;
        next = in.read();
      }
      String text = new String(start, 0, length, StandardCharsets.UTF_8);
      text = (text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text).strip();
      return text.isEmpty() ? null : new Start(number, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether what was read so far is at most one blank or the end of a line. */
  private static boolean isBlank(byte[] start, int length) {
    return length == 0 || (length == 1 && (start[0] == '\n' || isBlank(start[0])));
  }

  private static boolean isBlank(int next) {
    return next == ' ' || next == '\t' || next == '\r';
  }

  /**
   * Goes to the next line that is not blank.
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
      } while (found && line.isEmpty());
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean readLine() throws IOException {
    int next = in.read();
    if (next < 0) {
      return false;
    }
    number++;
    int length = 0;
    // Up to here there is something but blanks.
    int end = 0;
    while (next >= 0 && next != '\n') {
      boolean blank = isBlank(next);
      if (length < MAX_LINE_BYTES && !(blank && end == 0)) {
        append(length++, (byte) next);
      } else if (!blank) {
        throw TraceFormatException.atLine(
            file, number, "is longer than " + MAX_LINE_BYTES + " bytes");
      }
      end = blank ? end : length;
      next = in.read();
    }
    line = decode(end);
    return true;
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
      return (number == 1 && text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text).strip();
    } catch (CharacterCodingException notText) {
      throw TraceFormatException.atLine(file, number, "is not text in UTF-8");
    }
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
