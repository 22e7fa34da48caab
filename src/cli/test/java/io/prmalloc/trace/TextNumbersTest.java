package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextNumbersTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "-3, -3",
    "0x1F, 31",
    "0X7fffffffffffffff, 9223372036854775807",
    "0x1B, 27",
    "64B, 64",
    "4K, 4096",
    "4k, 4096",
    "4 KiB, 4096",
    "2MiB, 2097152",
    "2mib, 2097152",
    "1g, 1073741824",
    "0x10K, 16384",
    "8388607T, 9223370937343148032",
    "0T, 0",
  })
  void shouldReadBytesAsToolsWriteThem(String text, long bytes) {
    assertEquals(bytes, TextNumbers.bytes(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "0x",
        "0x-1",
        "0x+1",
        "0x 1",
        "-0x1",
        "0x8000000000000000",
        "4KB",
        "4MB",
        "1.5K",
        "-4K",
        "K",
        "8388608T",
        "9223372036854775808",
        "4KiBB",
        "4  K",
        "4E",
        "1e3",
        "4K1",
        "0x1G2",
        "1 2"
      })
  void shouldRefuseWhatIsNoNumberOfBytes(String text) {
    assertThrows(NumberFormatException.class, () -> TextNumbers.bytes(text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"4K", "4B", "2MiB", ""})
  void shouldRefuseUnitsWhereThereAreNone(String text) {
    assertThrows(NumberFormatException.class, () -> TextNumbers.whole(text));
  }
}
