package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class TextLinesTest {

  private static TextLines.Source of(String text) {
    return TextLines.Source.of(text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<String> lines(String text) {
    List<String> found = new ArrayList<>();
    try (TextLines lines = new TextLines("file", of(text))) {
      while (lines.next()) {
        found.add(lines.number() + ":" + lines.line());
      }
    }
    return found;
  }

  @Test
  void shouldGiveLinesWithTheirNumbersWhenSomeAreBlank() {
    assertEquals(List.of(), lines(""));
    assertEquals(List.of(), lines(" \t\r\n\n  "));
    assertEquals(
        List.of("1:a b", "3:c\td", "5:é"), lines("\uFEFF a b \r\n\nc\td\n   \n\u2003é\u2003"));
  }

  @Test
  void shouldRefuseALineWhenItIsTooLongWithoutItsBlanks() {
    String most = "x".repeat(TextLines.MAX_LINE_BYTES);
    assertEquals(1, lines("   " + most + "   \n").size());
    TraceFormatException wrong =
        assertThrows(TraceFormatException.class, () -> lines("\n" + most + "  x\n"));
    assertEquals("file:2: is longer than 1048576 bytes", wrong.getMessage());
  }

  /** A file that unpacks to a thousand times its size may be nothing but empty lines. */
  @Test
  void shouldTakeManyBytesAtATimeFromItsSource() {
    String text = "\n".repeat(100_000) + "a".repeat(50_000) + "\n\nb";
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    TextLines.Source source =
        () ->
            new ByteArrayInputStream(bytes) {
              @Override
              public synchronized int read() {
                throw new AssertionError("a single byte was asked for");
              }

              @Override
              public synchronized int read(byte[] into, int offset, int length) {
                return super.read(into, offset, length);
              }
            };

    try (TextLines lines = new TextLines("file", source)) {
      assertTrue(lines.next());
      assertEquals(100_001, lines.number());
      assertEquals(50_000, lines.line().length());
      assertTrue(lines.next());
      assertEquals("100003:b", lines.number() + ":" + lines.line());
      assertFalse(lines.next());
    }
  }

  @Test
  void shouldPassOverCommentsWhenTheyStandBetweenLines() {
    assertEquals(List.of("2:a", "4:b # c"), lines("\uFEFF# c\na\n  \t# d\nb # c\n#"));
    assertEquals(new TextLines.Start(3, "a"), TextLines.startOf(of("\uFEFF# c\n #d\na\n")));
    assertNull(TextLines.startOf(of("# c\n#")));
    assertEquals(
        new TextLines.Start(2, "a"), TextLines.startOf(of("#" + "x".repeat(9000) + "\na")));
  }

  @Test
  void shouldKeepTabsAtTheEndsWhenItIsATable() {
    try (TextLines lines = TextLines.ofTable("file", of("a\t \n\t\n \tb\t\t\r\n\n\u2003c\u2003"))) {
      List<String> found = new ArrayList<>();
      while (lines.next()) {
        found.add(lines.line());
      }
      assertEquals(List.of("a\t", "\t", "\tb\t\t", "c"), found);
    }
  }

  @Test
  void shouldFindTheStartWhenItIsFarIn() {
    assertNull(TextLines.startOf(of("")));
    assertNull(TextLines.startOf(of("\n \n")));
    assertEquals(new TextLines.Start(1, "ab"), TextLines.startOf(of("\uFEFFab")));
    assertEquals(
        new TextLines.Start(10_001, "ab c"),
        TextLines.startOf(of(" \n".repeat(10_000) + " ".repeat(9000) + "ab c\nd")));
    assertEquals(9001, TextLines.startOf(of("{" + "x".repeat(9000) + "\nd")).text().length());
    assertEquals(
        TextLines.MAX_LINE_BYTES,
        TextLines.startOf(of("x".repeat(2 * TextLines.MAX_LINE_BYTES))).text().length());
  }

  @Test
  void shouldPartFieldsAsThePatternDoesWhenBlanksAndTabsMix() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    Pattern blanks = Pattern.compile("[ \t]+");
    for (int round = 0; round < 2000; round++) {
      StringBuilder line = new StringBuilder();
      for (int i = random.nextInt(12); i > 0; i--) {
        line.append(" \tab\u00A0".charAt(random.nextInt(5)));
      }

      assertArrayEquals(
          blanks.split(line, -1), TextLines.fields(line.toString()), "seed " + seed + ": " + line);
    }
  }
}
