package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class ProcFilesTest {

  private static byte[] auxv(long... words) {
    ByteBuffer buffer =
        ByteBuffer.allocate(words.length * Long.BYTES).order(ByteOrder.nativeOrder());
    for (long word : words) {
      buffer.putLong(word);
    }
    return buffer.array();
  }

  @Test
  void shouldFindPageSizeWhenAuxvHoldsIt() {
    assertEquals(65536, ProcFiles.pageSizeBytes(auxv(33, 6, 6, 65536, 0, 0)));
  }

  @Test
  void shouldTellNoPageSizeWhenAuxvIsShortOrOdd() {
    assertEquals(0, ProcFiles.pageSizeBytes(new byte[0]));
    assertEquals(0, ProcFiles.pageSizeBytes(auxv(6)));
    assertEquals(0, ProcFiles.pageSizeBytes(auxv(6, 5000)));
    assertEquals(0, ProcFiles.pageSizeBytes(auxv(6, -4096)));
    assertEquals(0, ProcFiles.pageSizeBytes(auxv(16, 4096)));
  }

  @Test
  void shouldGiveBytesWhenLineIsInKibibytes() {
    String status = "Name:\tjava\nVmHWM:\t   1234 kB\nVmRSS:\t 99 kB\n";
    assertEquals(1234 * 1024, ProcFiles.kibibyteLine(status, "VmHWM"));
    assertEquals(0, ProcFiles.kibibyteLine(status, "VmPeak"));
    assertEquals(0, ProcFiles.kibibyteLine(status, "Name"));
  }

  @Test
  void shouldCountFieldsFromBehindNameWhenNameHoldsParentheses() {
    String stat = "42 (a) b (c) S 1 42 42 0 -1 4194560 1111 5 7 0";
    assertEquals(1111, ProcFiles.statField(stat, 10));
    assertEquals(7, ProcFiles.statField(stat, 12));
    assertEquals(0, ProcFiles.statField(stat, 52));
    assertEquals(0, ProcFiles.statField("", 10));
  }

  @Test
  void shouldFindSelectedWordWhenInBrackets() {
    assertEquals("madvise", ProcFiles.selected("always [madvise] never\n"));
    assertEquals("", ProcFiles.selected("always madvise"));
    assertEquals("", ProcFiles.selected(""));
  }

  @Test
  void shouldReadNothingWhenFileIsMissing() {
    assertEquals("", ProcFiles.text("/proc/self/no such file"));
    assertEquals(0, ProcFiles.bytes("/proc/self/no such file").length);
  }
}
