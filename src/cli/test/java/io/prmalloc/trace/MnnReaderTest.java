package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.SharedData;
import io.prmalloc.plan.TensorUsageRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("jdk-independent")
class MnnReaderTest {

  private static final String OPS =
      """
      [{"op": "conv", "id": 0, "inputs": [], "outputs": [0], "temporary": [0], "release": []},
       {"op": "relu", "id": 1, "inputs": [0], "outputs": [1, 2], "temporary": [], "release": [0]}]
      """;
  private static final String RESIZE =
      """
      [[["alloc", "0:0"], ["free", "0:0"], ["alloc", "0:1"], ["free", "0:1"]],
       [["alloc", "1:0"]]]
      """;
  private static final String SIZES =
      """
      {"0": 100, "1": 3000000000, "2": 0, "0:0": 10, "0:1": 20, "0:2": 40, "1:0": 5, "99": 1}
      """;

  @TempDir private Path directory;

  @BeforeEach
  void writeGoodProfile() throws IOException {
    write("Net.io_info.json", OPS);
    write("Net.4.resize_info.json", RESIZE);
    write("Net.4.tensor_size.json", SIZES);
    write("Net.4.redundent_parent.json", "{\"0:2\": \"0:3\", \"0:3\": \"0:1\"}");
    write("Net.4.cost_info.json", "{\"0\": 2, \"1\": 0.5}");
  }

  @Test
  void shouldFollowTheDocumentedOrderWhenRead() {
    Trace trace = TraceFormat.MNN.read(directory, 4);

    // 0, then both scratch tensors of op 0 at once, then 1, 2, 1:0; what is left lives to the end.
    assertArrayEquals(new int[] {0, 1, 2, ~1, ~2, 3, 4, 5, ~0, ~3, ~4, ~5}, trace.events());
    assertEquals(
        List.of("0", "0:0", "0:1", "1", "2", "1:0"),
        java.util.stream.IntStream.range(0, 6).mapToObj(trace::id).toList());
    assertEquals(3_000_000_105L, trace.loadBytes());
    assertEquals(directory + " batch 4", trace.name());
  }

  /** An operator is a task; what is never released or freed lives to the last. */
  @Test
  void shouldLiveByOperatorsWhenReadAsLifetimes() throws IOException {
    write(
        "Net.4.resize_info.json",
        """
        [[["alloc", "0:0"], ["alloc", "0:1"], ["free", "0:1"]],
         [["alloc", "1:0"], ["free", "1:0"]]]
        """);

    TensorLifetimes tensors = TraceFormat.MNN.readLifetimes(directory, 4);

    assertEquals(List.of("0", "0:0", "0:1", "1", "2", "1:0"), tensors.ids());
    assertEquals(
        List.of(
            new TensorUsageRecord(100, 0, 1),
            new TensorUsageRecord(10, 0, 1),
            new TensorUsageRecord(20, 0, 0),
            new TensorUsageRecord(3_000_000_000L, 1, 1),
            new TensorUsageRecord(0, 1, 1),
            new TensorUsageRecord(5, 1, 1)),
        tensors.records());
  }

  @Test
  void shouldKnowCostsAndParentsWhenRead() {
    MnnProfile profile = MnnReader.read(directory, 4);

    assertEquals("Net", profile.model());
    assertEquals(4, profile.batch());
    assertEquals(Map.of(0, 2.0, 1, 0.5), profile.costMillis());
    assertEquals(Map.of("0:2", "0:3", "0:3", "0:1"), profile.redundantParents());
    assertEquals(List.of("0"), profile.ops().get(1).inputs());
    assertEquals("relu", profile.ops().get(1).name());
  }

  @Test
  void shouldReadWhenThereIsNoCostFile() throws IOException {
    Files.delete(directory.resolve("Net.4.cost_info.json"));

    assertEquals(Map.of(), MnnReader.read(directory, 4).costMillis());
  }

  @Test
  void shouldReadWhenAParentsRootIsNeverAllocated() throws IOException {
    write("Net.4.redundent_parent.json", "{\"0:7\": \"0:8\"}");

    assertEquals(6, TraceFormat.MNN.read(directory, 4).tensorCount());
  }

  @Test
  void shouldListTheBatchesWhenItIsNotThere() throws IOException {
    write("Net.16.resize_info.json", RESIZE);

    assertWrong(directory + ": holds no batch 5; there are --batch [4, 16]", 5);
    assertWrong(directory + ": which batch is not said; there are --batch [4, 16]", null);
  }

  @Test
  void shouldRefuseWhenTheDirectoryHoldsNotOneModel() throws IOException {
    write("Other.io_info.json", OPS);
    assertWrong(directory + ": holds 2 files MODEL.io_info.json, not one", 4);
    Files.delete(directory.resolve("Other.io_info.json"));
    Files.delete(directory.resolve("Net.io_info.json"));
    assertWrong(directory + ": holds 0 files MODEL.io_info.json, not one", 4);
  }

  @Test
  void shouldRefuseWhenItIsNoDirectory() {
    Path file = directory.resolve("Net.io_info.json");

    TraceFormatException wrong =
        assertThrows(TraceFormatException.class, () -> TraceFormat.MNN.read(file, 4));

    assertEquals(file + ": is not a directory, which the format mnn needs", wrong.getMessage());
  }

  @ParameterizedTest
  @CsvSource({"Net.4.tensor_size.json", "Net.4.redundent_parent.json"})
  void shouldNameTheFileWhenItIsAbsent(String file) throws IOException {
    Files.delete(directory.resolve(file));

    assertWrong(directory.resolve(file) + ": is not there", 4);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        // file | what to replace | by what | the error behind the file's name
        "Net.4.tensor_size.json | \"1\": 3000000000, | `` | : \"1\": no size of this tensor, which"
            + " op 1, outputs of DIR/Net.io_info.json allocates",
        "Net.4.tensor_size.json | \"0:1\": 20, | `` | : \"0:1\": no size of this tensor, which"
            + " op 0 of DIR/Net.4.resize_info.json allocates",
        "Net.4.tensor_size.json | 100 | -100 | :1: size -100 of tensor \"0\" is not from 0 to"
            + " 1099511627776",
        "Net.4.tensor_size.json | 100 | 1099511627777 | :1: size 1099511627777 of tensor \"0\" is"
            + " not from 0 to 1099511627776",
        "Net.4.tensor_size.json | 100 | 99999999999999999999 | :1: size of tensor \"0\" does not"
            + " fit 64 bits",
        "Net.4.tensor_size.json | 100 | 1.5 | :1: expected size of tensor \"0\", a whole number,"
            + " found a number that is not whole",
        "Net.4.tensor_size.json | 100 | \"1\" | :1: expected size of tensor \"0\", a whole number,"
            + " found a string",
        "Net.4.tensor_size.json | 100 | null | :1: expected size of tensor \"0\", a whole number,"
            + " found null",
        "Net.4.tensor_size.json | \"99\" | \"0\" | :1: is not JSON: Duplicate field '0'",
        "Net.io_info.json | \"release\": [0] | \"release\": [7] | : op 1, release: tensor 7 is"
            + " released but was never allocated",
        "Net.io_info.json | \"release\": [0] | \"release\": [0, 0] | : op 1, release: tensor 0 is"
            + " released a second time",
        "Net.io_info.json | \"outputs\": [1, 2] | \"outputs\": [1, 0] | : op 1, outputs: tensor 0"
            + " is allocated while it is alive",
        "Net.io_info.json | \"id\": 1 | \"id\": 2 | :2: operator 1 has the id 2",
        "Net.io_info.json | \"outputs\" | \"output\" | :1: operator 0 has no \"outputs\"",
        "Net.io_info.json | [1, 2] | [1, \"2\"] | :2: expected \"outputs\"[1] of operator 1, a whole"
            + " number, found a string",
        "Net.io_info.json | [1, 2] | 1 | :2: expected \"outputs\" of operator 1, an array, found a"
            + " whole number",
        "Net.4.resize_info.json | [[\"alloc\", \"1:0\"]] | [], [] | : its list: has 3 operators, but"
            + " DIR/Net.io_info.json has 2",
        "Net.4.resize_info.json | [\"alloc\", \"0:1\"], | `` | : operator 0[2]: scratch tensor 0:1"
            + " is freed without having been allocated",
        "Net.4.resize_info.json | [\"alloc\", \"1:0\"] | [\"free\", \"1:0\"], [\"alloc\", \"1:0\"]"
            + " | : operator 1[0]: scratch tensor 1:0 is freed without having been allocated",
        "Net.4.resize_info.json | [\"free\", \"0:0\"] | [\"alloc\", \"0:0\"] | : operator 0[1]:"
            + " scratch tensor 0:0 is allocated while it is alive",
        "Net.4.resize_info.json | \"1:0\" | \"0:2\" | : operator 1[0]: scratch tensor 0:2 is used,"
            + " although DIR/Net.4.redundent_parent.json calls it redundant",
        "Net.4.resize_info.json | \"1:0\"] | \"1:0\", 1] | :2: expected operator 1[0][2], a string,"
            + " found a whole number",
        "Net.4.resize_info.json | \"1:0\"] | \"1:0\", \"1\"] | :2: operator 1[0] has 3 elements"
            + " instead of 2",
        "Net.4.resize_info.json | [\"free\", \"0:0\"] | [\"fre\", \"0:0\"] | :1: operator 0[1] is"
            + " `fre` instead of `alloc` or `free`",
        "Net.4.redundent_parent.json | \"0:1\" | \"0:2\" | : \"0:2\": its parents lead in a circle"
            + " through \"0:2\"",
        "Net.4.redundent_parent.json | \"0:1\" | 1 | :1: expected parent of \"0:3\", a string, found a"
            + " whole number",
        "Net.4.cost_info.json | 0.5 | -0.5 | :1: milliseconds -0.5 of operator \"1\" are negative",
        "Net.4.cost_info.json | \"1\" | \"2\" | :1: there is no operator \"2\" of 2",
        "Net.4.cost_info.json | 0.5 | 1e308 | :1: milliseconds 1.0E308 of operator \"1\" exceed 1e12",
        "Net.4.cost_info.json | 0.5 | 1e999 | :1: milliseconds of operator \"1\" is too large",
        "Net.4.cost_info.json | 0.5 | true | :1: expected milliseconds of operator \"1\", a number,"
            + " found a truth value",
      })
  void shouldNameFileAndPlaceWhenSomethingIsWrong(
      String file, String replaced, String replacement, String what) throws IOException {
    String good = Files.readString(directory.resolve(file));
    assertTrue(good.contains(replaced), "nothing to replace in " + file);
    int at = good.indexOf(replaced);
    write(file, good.substring(0, at) + replacement + good.substring(at + replaced.length()));

    assertWrong(directory.resolve(file) + what.replace("DIR", directory.toString()), 4);
  }

  @ParameterizedTest
  @CsvSource({
    "Net.io_info.json",
    "Net.4.resize_info.json",
    "Net.4.tensor_size.json",
    "Net.4.redundent_parent.json",
    "Net.4.cost_info.json"
  })
  void shouldNameTheFileWhenItIsCutOffAnywhere(String file) throws IOException {
    String good = Files.readString(directory.resolve(file)).strip();
    for (int length = 0; length < good.length(); length++) {
      write(file, good.substring(0, length));

      TraceFormatException wrong =
          assertThrows(TraceFormatException.class, () -> TraceFormat.MNN.read(directory, 4));

      assertEquals(directory.resolve(file).toString(), wrong.file());
      assertEquals(1, wrong.getMessage().lines().count());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "not json | :1: is not JSON: Unrecognized token 'not': was expecting (JSON String, Number,"
            + " Array, Object or token 'null', 'true' or 'false')",
        "[] [] | :1: something follows the end of the JSON value",
        "{} | :1: expected the list of operators, found an object",
        "`` | : is empty instead of JSON",
      })
  void shouldNameTheFileWhenItsTextIsNoList(String text, String what) throws IOException {
    write("Net.io_info.json", text);

    assertWrong(directory.resolve("Net.io_info.json") + what, 4);
  }

  @ParameterizedTest
  @CsvSource({
    "Squeezenet, 2",
    "Squeezenet, 4",
    "Squeezenet, 8",
    "Squeezenet, 16",
    "MobilenetV2, 2",
    "MobilenetV2, 4",
    "MobilenetV2, 8",
    "MobilenetV2, 16"
  })
  void shouldHaveTheExpectedLoadWhenTheProfileIsReal(String model, int batch) throws IOException {
    JsonNode expected =
        new ObjectMapper()
            .readTree(SharedData.path("expected/mnn.json").toFile())
            .get(model + "." + batch);

    MnnProfile profile = MnnReader.read(SharedData.path("mnn/" + model), batch);
    Trace trace = profile.toTrace();

    assertEquals(expected.get("ops").asInt(), profile.ops().size());
    assertEquals(expected.get("tensors").asInt(), trace.tensorCount());
    assertEquals(expected.get("oraclePeakBytes").asLong(), trace.loadBytes());
    assertEquals(expected.get("lowerBoundBytes").asLong(), trace.alignedLoadBytes(64));
    assertEquals(profile.ops().size(), profile.costMillis().size());
  }

  @Test
  void shouldHoldTheTensorsOfTheEventsWhenBothAreOfOneProfile() {
    Trace profile = TraceFormat.MNN.read(SharedData.path("mnn/Squeezenet"), 2);
    Trace events = TraceFormat.EVENTS.read(SharedData.path("events/Squeezenet.2.ev"), null);

    assertArrayEquals(sorted(events.sizesBytes()), sorted(profile.sizesBytes()));
  }

  private static long[] sorted(long[] sizesBytes) {
    Arrays.sort(sizesBytes);
    return sizesBytes;
  }

  private void assertWrong(String message, Integer batch) {
    TraceFormatException wrong =
        assertThrows(TraceFormatException.class, () -> TraceFormat.MNN.read(directory, batch));
    assertEquals(message, wrong.getMessage());
  }

  private void write(String name, String text) throws IOException {
    Files.writeString(directory.resolve(name), text);
  }
}
