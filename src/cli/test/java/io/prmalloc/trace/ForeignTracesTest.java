package io.prmalloc.trace;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.trace.ForeignTraces.Packets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The formats of other tools: the malloc lab of CS:APP, idealloc, PyTorch. */
@Tag("jdk-independent")
class ForeignTracesTest {

  @TempDir private Path directory;

  private Path file(byte[] bytes) throws IOException {
    return Files.write(directory.resolve("input"), bytes);
  }

  private Path file(String text) throws IOException {
    return file(text.getBytes(UTF_8));
  }

  private static Trace read(Path file) {
    return new TraceInput(file.toString(), null, null).read();
  }

  private static String refusal(Path file, TraceFormat format) {
    TraceFormatException refused =
        assertThrows(
            TraceFormatException.class, () -> new TraceInput(file.toString(), format, null).read());
    String message = refused.getMessage();
    assertTrue(message.startsWith(file.toString()), message);
    return message.substring(file.toString().length() + 1).strip();
  }

  @Test
  void shouldReadTheSameStepWhenToolsWriteItInTheirWays() throws IOException {
    List<byte[]> files =
        List.of(
            ForeignTraces.utf8(ForeignTraces.MALLOC),
            ForeignTraces.idealloc(),
            ForeignTraces.utf8(ForeignTraces.SNAPSHOT));
    List<TraceFormat> formats =
        List.of(TraceFormat.MALLOC, TraceFormat.IDEALLOC, TraceFormat.SNAPSHOT);
    for (int i = 0; i < files.size(); i++) {
      for (byte[] bytes : List.of(files.get(i), ForeignTraces.gzip(files.get(i)))) {
        Path file = file(bytes);
        assertEquals(formats.get(i), TraceFormat.detect(file));
        Trace trace = read(file);
        assertArrayEquals(new long[] {100, 50, 80, 60}, trace.sizesBytes());
        assertArrayEquals(new int[] {0, 1, ~1, 2, ~0, 3, ~2, ~3}, trace.events());
        assertEquals(ForeignTraces.LOAD_BYTES, trace.loadBytes());
      }
    }
  }

  @Test
  void shouldTakeAReallocationForAnAllocationWhenThereWasNothing() throws IOException {
    Trace trace = read(file("1\n2\n4\n1\nr 1 7\nf -1\nr 1 0\na 0 0x10\n"));

    assertArrayEquals(new long[] {7, 0, 16}, trace.sizesBytes());
    assertArrayEquals(new int[] {0, ~0, 1, 2, ~1, ~2}, trace.events());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1;2;3|has 0 requests, but its header says 3",
        "1;2;x|3: `x` is no number; the header has 4 lines with one each",
        "1;2;a 0 1|3: `a 0 1` is no number; the header has 4 lines with one each",
        "1;99999999999999999999|2: number `99999999999999999999` is not a whole number that fits 64"
            + " bits",
        "1;2;3;1;a 0 5|has 1 request, but its header says 3",
        "1;2;3;1;a 0 5;f 0|has 2 requests, but its header says 3",
        "1;2;1;1;a 0 5;f 0|6: is request 2, but the header says there are 1",
        "1;2;0;1|holds no allocation",
        "1;2;1;1;a 2 5|5: id 2 is not from 0 to 1, as the header says",
        "1;2;1;1;a -1 5|5: id -1 is not from 0 to 1, as the header says",
        "1;2;1;1;a x 5|5: id `x` is not a whole number that fits 64 bits",
        "1;2;1;1;a 0 -5|5: size -5 of tensor 0 is negative; the least is 0",
        "1;2;1;1;a 0 1099511627777|5: size 1099511627777 of tensor 0 exceeds 1099511627776",
        "1;2;1;1;a 0|5: has 2 fields, expected `a ID SIZE`, `r ID SIZE` or `f ID`",
        "1;2;1;1;f 0 0|5: has 3 fields, expected `a ID SIZE`, `r ID SIZE` or `f ID`",
        "1;2;1;1;w 0 0|5: starts with `w`, expected `a ID SIZE`, `r ID SIZE` or `f ID`",
        "1;2;2;1;a 0 5;a 0 6|6: tensor 0 is allocated while it is alive",
        "1;2;3;1;a 0 5;f 0;f 0|7: tensor 0 is released a second time",
        "1;2;3;1;a 0 5;f 0;r 0 7|7: tensor 0 is reallocated after its release",
        "1;2;1;1;f 1|5: tensor 1 is released but was never allocated",
      })
  void shouldNameTheLineWhenAMallocTraceIsWrong(String lines, String what) throws IOException {
    Path file = file(lines.replace(';', '\n'));

    assertEquals(TraceFormat.MALLOC, TraceFormat.detect(file));
    assertEquals(what, refusal(file, null));
  }

  @Test
  void shouldReadEveryCallWhenAProgramMakesIt() throws IOException {
    Trace trace =
        read(
            file(
                new Packets()
                    .packet(0x05, 7, 0, 0, 1, 0)
                    .packet(0x46, 64, 128, 0x40, 144, 1, 0)
                    .packet(0x56, 32, 0, 0x80, 32, 1, 0)
                    // Fails, so that 0x40 stays; then gives it back.
                    .packet(0x36, 0x40, 1L << 50, 0, 0, 1, 0)
                    .packet(0x36, 0x40, 0, 0, 0, 1, 0)
                    .packet(0x36, 0, 9, 0x40, 32, 1, 0)
                    .packet(0x36, 0x40, 10, 0x40, 32, 1, 0)
                    .bytes()));

    assertArrayEquals(new long[] {128, 0, 9, 10}, trace.sizesBytes());
    assertArrayEquals(new int[] {0, 1, ~0, 2, ~2, 3, ~1, ~3}, trace.events());
    assertEquals("0x40", trace.id(3));
  }

  @Test
  void shouldPassOverAFreeWhenAnotherThreadsAllocationWasLoggedBeforeIt() throws IOException {
    Packets late =
        new Packets()
            .packet(0x05, 7, 0x40, 0, 1, 0)
            .packet(0x05, 8, 0x40, 0, 2, 0)
            .packet(0x12, 0x40, 1);

    assertArrayEquals(new int[] {0, ~0, 1, ~1}, read(file(late.bytes())).events());
    assertArrayEquals(
        new int[] {0, ~0, 1, ~1}, read(file(late.packet(0x12, 0x40, 2).bytes())).events());
    assertEquals(
        "packet at byte 116: tensor 0x40 is released a second time",
        refusal(file(late.packet(0x12, 0x40, 2).bytes()), null));
  }

  @Test
  void shouldNameThePacketWhenAFileOfIdeallocIsWrong() throws IOException {
    assertEquals(
        "packet at byte 41: is cut off",
        refusal(
            file(new Packets().packet(0x05, 7, 0x40, 0, 1, 0).packet(0x12, 0x40).bytes()), null));
    assertEquals(
        "packet at byte 41: begins with 0x13, which no call does",
        refusal(file(new Packets().packet(0x05, 7, 0x40, 0, 1, 0).packet(0x13, 4).bytes()), null));
    assertEquals(
        "packet at byte 41: 0x40 is allocated while it is alive, and not freed twice later",
        refusal(
            file(
                new Packets()
                    .packet(0x05, 7, 0x40, 0, 1, 0)
                    .packet(0x05, 7, 0x40, 0, 1, 0)
                    .bytes()),
            null));
    assertEquals(
        "packet at byte 82: 0x40 is allocated for the third time",
        refusal(
            file(
                new Packets()
                    .packet(0x05, 7, 0x40, 0, 1, 0)
                    .packet(0x05, 7, 0x40, 0, 1, 0)
                    .packet(0x05, 7, 0x40, 0, 1, 0)
                    .bytes()),
            null));
    assertEquals(
        "packet at byte 0: size 18446744073709551615 of tensor 0x40 exceeds 1099511627776",
        refusal(file(new Packets().packet(0x05, -1, 0x40, 0, 1, 0).bytes()), TraceFormat.IDEALLOC));
    assertEquals(
        "packet at byte 0: calloc of 8589934592 times 4294967296 bytes is over 2^64 - 1",
        refusal(file(new Packets().packet(0x26, 1L << 33, 1L << 32, 64, 0, 1, 0).bytes()), null));
    assertEquals(
        "packet at byte 0: tensor 0x40 is released but was never allocated",
        refusal(file(new Packets().packet(0x12, 0x40, 1).bytes()), null));
    assertEquals(
        "holds no allocation", refusal(file(new Packets().packet(0x12, 0, 1).bytes()), null));
    assertEquals("holds no allocation", refusal(file(new byte[0]), TraceFormat.IDEALLOC));
  }

  private static String snapshot(String segments, String history) {
    return "{\"segments\": [" + segments + "],\n\"device_traces\": [" + history + "]}";
  }

  private static String event(String action, long address, long bytes) {
    return "{\"action\": \"" + action + "\", \"addr\": " + address + ", \"size\": " + bytes + "}";
  }

  @Test
  void shouldLiveFromTheStartWhenTheHistoryDoesNotKnowABlock() throws IOException {
    String segments =
        """
        {"device": 0, "address": 1000, "total_size": 100, "blocks": [
          {"size": 30, "requested_size": 20, "state": "active_pending_free"},
          {"size": 70, "state": "active_allocated"}]},
        {"device": 3, "address": 1000, "total_size": 10, "blocks": [
          {"address": 1000, "size": 10, "state": "active_allocated"}]}
        """;

    Trace trace = read(file(snapshot(segments, "[" + event("alloc", 5, 1) + "], [], [], []")));

    assertArrayEquals(new long[] {20, 70, 1}, trace.sizesBytes());
    assertArrayEquals(new int[] {0, 1, 2, ~0, ~1, ~2}, trace.events());
    assertEquals("0x406", trace.id(1));
  }

  @Test
  void shouldReadTheDeviceThatIsSaidWhenSeveralHaveAHistory() throws IOException {
    Path file =
        file(
            snapshot(
                "",
                "["
                    + event("alloc", 5, 1)
                    + "], [],\n["
                    + event("alloc", 5, 2)
                    + ", "
                    + event("alloc", 6, 3)
                    + "]"));

    assertEquals(
        "3: devices 0 and 2 have a history each, in memories of their own; --device says which to"
            + " read",
        refusal(file, null));
    assertEquals(1, new TraceInput(file.toString(), null, null, 0, Map.of()).read().loadBytes());
    assertEquals(5, new TraceInput(file.toString(), null, null, 2, Map.of()).read().loadBytes());
    assertEquals(
        file
            + ": holds no history of device 1; torch.cuda.memory._record_memory_history() before"
            + " the step makes PyTorch keep one",
        assertThrows(
                TraceFormatException.class,
                () -> new TraceInput(file.toString(), null, null, 1, Map.of()).read())
            .getMessage());
    assertEquals(
        "--device 1 means nothing to the format malloc of " + file,
        assertThrows(IllegalArgumentException.class, () -> TraceFormat.MALLOC.read(file, null, 1))
            .getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'segments': []}|has no \"device_traces\"; torch.cuda.memory._record_memory_history()"
            + " before the step makes PyTorch keep one",
        "{'segments': {}}|1: expected \"segments\", an array, found an object",
        "{'segments': [], 'device_traces': [[]]}|holds no history;"
            + " torch.cuda.memory._record_memory_history() before the step makes PyTorch keep one",
        "{'device_traces': [[{'action': 'alloc', 'addr': 1}]]}|1: device_traces[0][0] has no"
            + " \"size\"",
        "{'device_traces': [[{'action': 'alloc', 'size': 1}]]}|1: device_traces[0][0] has no"
            + " \"addr\"",
        "{'device_traces': [[{'addr': 1, 'size': 1}]]}|1: device_traces[0][0] has no \"action\"",
        "{'device_traces': [[{'action': 'grow'}]]}|1: device_traces[0][0]: the action `grow` is not"
            + " known",
        "{'device_traces': [[{'action': 'alloc', 'addr': 1, 'size': -1}]]}|1:"
            + " device_traces[0][0].size -1 is not from 0 to 1099511627776",
        "{'device_traces': [[{'action': 'alloc', 'addr': 1, 'size': 1.5}]]}|1: expected"
            + " device_traces[0][0].size, a whole number, found a number that is not whole",
        "{'device_traces': [[{'action': 'alloc', 'addr': 99999999999999999999, 'size': 1}]]}|1:"
            + " device_traces[0][0].addr does not fit 64 bits",
        "{'segments': [{'blocks': [{'size': 1, 'state': 'active_allocated'}]}]}|1: segments[0] has"
            + " neither an \"address\" nor blocks with one",
        "{'segments': [{'blocks': [{'size': 1}]}]}|1: segments[0].blocks[0] has no \"state\"",
        "{'segments': [{'total_size': 1, 'blocks': [{'size': 2, 'state': 'inactive'}]}]}|1:"
            + " segments[0] has blocks of 2 bytes, more than its total_size 1",
        "{'segments': [{'blocks': [{'size': 2, 'requested_size': 3, 'state': 'inactive'}]}]}|1:"
            + " segments[0].blocks[0] has a requested_size of 3, more than its size 2",
        "{'segments': [{'blocks': [{'size': -2, 'state': 'inactive'}]}]}|1:"
            + " segments[0].blocks[0].size -2 is not from 0 to 1099511627776",
        "{'segments': [], 'segments': []}|1: is not JSON: Duplicate field 'segments'",
        "{'segments': []|1: is not JSON: Unexpected end-of-input: expected close marker for Object",
      })
  void shouldNameTheLineWhenASnapshotIsWrong(String text, String what) throws IOException {
    Path file = file(text.replace('\'', '"'));

    assertEquals(TraceFormat.SNAPSHOT, TraceFormat.detect(file));
    assertEquals(what, refusal(file, null));
  }

  @Test
  void shouldRefuseWhenAHistoryCannotBe() throws IOException {
    assertEquals(
        "3: device_traces[0][1]: 0x5 is allocated while it is alive",
        refusal(
            file(snapshot("", "[" + event("alloc", 5, 1) + ",\n" + event("alloc", 5, 1) + "]")),
            null));
    assertEquals(
        "3: device_traces[0][1]: 0x5 is freed a second time",
        refusal(
            file(
                snapshot(
                    "",
                    "["
                        + event("free_completed", 5, 1)
                        + ",\n"
                        + event("free_completed", 5, 1)
                        + "]")),
            null));
    String block = "{\"address\": 7, \"size\": 1, \"state\": \"active_allocated\"}";
    assertEquals(
        "two blocks lie at 0x7",
        refusal(
            file(
                snapshot(
                    "{\"blocks\": [" + block + "," + block + "]}",
                    "[" + event("alloc", 5, 1) + "]")),
            null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"comments\": [[{}]], \"nodes\": [], \"segments\": []}",
        "{\"inputs\": []}",
        "{\"more\": 1}",
        "{"
      })
  void shouldTakeJsonForAGraphWhenItsKeysAreAGraphs(String text) throws IOException {
    assertEquals(TraceFormat.GRAPH, TraceFormat.detect(file(text)));
  }
}
