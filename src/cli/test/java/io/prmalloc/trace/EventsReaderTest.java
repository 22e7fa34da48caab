package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EventsReaderTest {

  @Test
  void shouldReadWhenLinesAreAsDocumented() {
    Trace trace = read("a 0 100\na scratch:1 0\nf 0 0\nf scratch:1 0\n");

    assertArrayEquals(new int[] {0, 1, ~0, ~1}, trace.events());
    assertEquals("scratch:1", trace.id(1));
    assertEquals(100, trace.loadBytes());
  }

  @Test
  void shouldReadWhenLinesEndAndPartOtherwise() {
    Trace trace = read("\r\na\tx  5 \r\n\n  f x 0");

    assertArrayEquals(new int[] {0, ~0}, trace.events());
    assertEquals(5, trace.sizeBytes(0));
  }

  @Test
  void shouldReadWhenOtherToolsWroteIt() {
    Trace trace = read("# made by x\na k 0x10 7\n  # and y\nr k 4K 8\na j 2MiB 7\nf k 0 7\n");

    assertArrayEquals(new int[] {0, ~0, 1, 2, ~1, ~2}, trace.events());
    assertArrayEquals(new long[] {16, 4096, 2 << 20}, trace.sizesBytes());
    assertEquals("k", trace.id(1));
    assertEquals(4096 + (2 << 20), trace.loadBytes());
  }

  @Test
  void shouldLiveToTheEndWhenNeverReleased() {
    assertArrayEquals(new int[] {0, 1, ~1, ~0}, read("a x 1\na y 1\nf y 0\n").events());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a 0|has 2 fields instead of 3, or 4 with a thread, expected `a ID SIZE`, `r ID SIZE` or `f ID 0`",
        "a|has 1 field instead of 3, or 4 with a thread, expected `a ID SIZE`, `r ID SIZE` or `f ID 0`",
        "a 0 10 10|has 4 fields, but the lines before it have 3",
        "a 0 10 1 1|has 5 fields instead of 3, or 4 with a thread, expected `a ID SIZE`, `r ID SIZE` or `f ID 0`",
        "r 0 10|tensor 0 is released but was never allocated",
        "a 0 8388608T|size `8388608T` is not a whole number of bytes",
        "a 0 4KB|size `4KB` is not a whole number of bytes",
        "a 0 0x|size `0x` is not a whole number of bytes",
        "f k|has 2 fields instead of 3, or 4 with a thread, expected `a ID SIZE`, `r ID SIZE` or `f ID 0`",
        "x 0 10|starts with `x`, expected `a ID SIZE`, `r ID SIZE` or `f ID 0`",
        "a 0 ten|size `ten` is not a whole number of bytes",
        "a 0 1.5|size `1.5` is not a whole number of bytes",
        "a 0 9223372036854775808|size `9223372036854775808` is not a whole number of bytes",
        "a 0 -1|size -1 of tensor 0 is negative; the least is 0",
        "a 0 1099511627777|size 1099511627777 of tensor 0 exceeds 1099511627776",
        "a k 10|tensor k is allocated while it is alive",
        "f 0 0|tensor 0 is released but was never allocated",
        "f k 5|a release ends with `5` instead of 0",
      })
  void shouldNameFileAndLineWhenALineIsWrong(String line, String what) {
    TraceFormatException wrong =
        assertThrows(TraceFormatException.class, () -> read("a k 1\n\n" + line + "\nf k 0\n"));

    assertEquals("steps.ev:3: " + what, wrong.getMessage());
    assertEquals("steps.ev", wrong.file());
    assertEquals("3", wrong.place());
  }

  @Test
  void shouldRefuseWhenReleasedTwice() {
    TraceFormatException wrong =
        assertThrows(TraceFormatException.class, () -> read("a k 1\nf k 0\nf k 0"));

    assertEquals("steps.ev:3: tensor k is released a second time", wrong.getMessage());
  }

  @Test
  void shouldRefuseWhenThereAreNoEvents() {
    TraceFormatException wrong = assertThrows(TraceFormatException.class, () -> read("\n \n"));

    assertEquals(
        "steps.ev: holds no events; expected `a ID SIZE`, `r ID SIZE` or `f ID 0`",
        wrong.getMessage());
  }

  @Test
  void shouldRefuseWhenNotUtf8() {
    byte[] bytes = "a x 1\na y 1\n".getBytes(StandardCharsets.UTF_8);
    bytes[8] = (byte) 0xff;

    TraceFormatException wrong =
        assertThrows(TraceFormatException.class, () -> EventsReader.read("steps.ev", bytes));

    assertEquals("steps.ev:2: is not text in UTF-8", wrong.getMessage());
  }

  @Test
  void shouldRefuseWhenUtf8IsCutOff() {
    byte[] bytes = "a x 1\nf é".getBytes(StandardCharsets.UTF_8);

    TraceFormatException wrong =
        assertThrows(
            TraceFormatException.class,
            () -> EventsReader.read("steps.ev", java.util.Arrays.copyOf(bytes, bytes.length - 1)));

    assertEquals("steps.ev:2: is not text in UTF-8", wrong.getMessage());
  }

  @Test
  void shouldWriteWhatItReadWhenClosed() {
    String text = "a 0 100\na s:1 0\nf s:1 0\nf 0 0\n";

    assertEquals(text, EventsReader.write(read(text)));
  }

  private static Trace read(String text) {
    return EventsReader.read("steps.ev", text.getBytes(StandardCharsets.UTF_8));
  }
}
