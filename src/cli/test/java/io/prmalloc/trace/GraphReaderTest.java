package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import io.prmalloc.plan.arena.TensorKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("jdk-independent")
class GraphReaderTest {

  private static final String GOOD =
      """
      {"inputs": [0, -1], "outputs": [2],
       "variables": [3],
       "nodes": [{"inputs": [0, 4], "outputs": [1], "temporaries": [5]},
                 {"inputs": [1, 3], "outputs": [2]}],
       "note": {"tensors": [1, {}]},
       "tensors": [{"bytes": 3, "type": "arena", "name": "image"},
                   {"bytes": 6, "type": "dynamic"},
                   {"bytes": 9, "type": "arena", "shape": [9], "offset": 0},
                   {"bytes": 12, "type": "persistent"},
                   {"bytes": 15, "type": "constant"},
                   {"bytes": 1099511627776, "type": "arena"}]}
      """;

  @TempDir private Path directory;

  private Path file(String text) throws IOException {
    return Files.writeString(directory.resolve("graph.json"), text);
  }

  private void assertWrong(String what, String text) throws IOException {
    Path file = file(text);
    TraceFormatException wrong =
        assertThrows(TraceFormatException.class, () -> GraphReader.read(file));
    assertEquals(file + what, wrong.getMessage());
    assertEquals(file.toString(), wrong.file());
  }

  @Test
  void shouldReadEveryListWhenTheFileIsSound() throws IOException {
    assertEquals(
        new Graph(
            List.of(
                new Tensor(3, TensorKind.ARENA, "image"),
                new Tensor(6, TensorKind.DYNAMIC),
                new Tensor(9, TensorKind.ARENA, "", 0),
                new Tensor(12, TensorKind.PERSISTENT),
                new Tensor(15, TensorKind.CONSTANT),
                new Tensor(1L << 40, TensorKind.ARENA)),
            List.of(
                new Node(List.of(0, 4), List.of(1), List.of(5)),
                new Node(List.of(1, 3), List.of(2), List.of())),
            List.of(0, -1),
            List.of(2),
            List.of(3)),
        GraphReader.read(file(GOOD)));
  }

  @Test
  void shouldReadWhenOptionalListsAreLeftOut() throws IOException {
    assertEquals(
        new Graph(List.of(), List.of(), List.of(), List.of(), List.of()),
        GraphReader.read(file("{\"inputs\":[],\"outputs\":[],\"nodes\":[],\"tensors\":[]}")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        // what to replace | by what | the error behind the file's name
        "[0, -1] | [0, 6] | :1: inputs[1]: tensor 6 does not exist; the graph has 6 tensors",
        "[0, -1] | [0, -2] | :1: inputs[1]: tensor -2 is below -1, which is an absent tensor",
        "[0, -1] | [0, 2147483648] | :1: inputs[1]: tensor 2147483648 is not from -1 to 2147483647",
        "[0, -1] | [0, 1.5] | :1: expected inputs[1], a whole number, found a number that is not"
            + " whole",
        "[0, -1] | 0 | :1: expected inputs, an array, found a whole number",
        "\"outputs\": [2], | \"outputs\": [9], | :1: outputs[0]: tensor 9 does not exist; the graph"
            + " has 6 tensors",
        "\"variables\": [3] | \"variables\": [7] | :2: variables[0]: tensor 7 does not exist; the"
            + " graph has 6 tensors",
        "[0, 4] | [0, 2] | :3: nodes[0].inputs[1]: tensor 2 is read before node 1 produces it",
        "[5] | [77] | :3: nodes[0].temporaries[0]: tensor 77 does not exist; the graph has 6"
            + " tensors",
        "[1, 3] | [5] | :4: nodes[1].inputs[0]: tensor 5 is only a temporary of node 0",
        "\"outputs\": [2]} | \"outputs\": [2, 1]} | :4: nodes[1].outputs[1]: tensor 1 is produced a"
            + " second time; it is an output of node 0 already",
        "\"outputs\": [2]} | \"outputs\": [4]} | :4: nodes[1].outputs[0]: tensor 4 is constant and"
            + " cannot be written",
        "\"persistent\" | \"constant\" | :OK",
        "\"variables\": [3] | \"variables\": [] | :4: nodes[1].inputs[1]: tensor 3 is read but never"
            + " produced",
        "\"bytes\": 9 | \"bytes\": -9 | :8: tensors[2].bytes: bytes -9 is not from 0 to"
            + " 1099511627776",
        "1099511627776 | 1099511627777 | :11: tensors[5].bytes: bytes 1099511627777 is not from 0 to"
            + " 1099511627776",
        "\"offset\": 0 | \"offset\": -2 | :8: tensors[2].offset: offset -2 is not from -1 to"
            + " 1099511627776",
        "\"dynamic\" | \"dynamic\", \"offset\": 4 | :7: tensors[1].offset: offset 4 is of a tensor of"
            + " type dynamic",
        "1099511627776 | 99999999999999999999 | :11: tensors[5].bytes does not fit 64 bits",
        "\"bytes\": 9 | \"bytes\": \"9\" | :8: expected tensors[2].bytes, a whole number, found a"
            + " string",
        "\"bytes\": 9, | `` | :8: tensors[2] has no \"bytes\"",
        "\"type\": \"dynamic\" | \"typ\": 1 | :7: tensors[1] has no \"type\"",
        "\"dynamic\" | \"Dynamic\" | :7: tensors[1].type: type `Dynamic` is none of arena,"
            + " persistent, dynamic, constant",
        "\"dynamic\" | null | :7: expected tensors[1].type, a string, found null",
        "\"type\": \"dynamic\" | \"bytes\": 1 | :7: is not JSON: Duplicate field 'bytes'",
        "{\"inputs\": [1, 3], | { | :4: nodes[1] has no \"inputs\"",
        "{\"inputs\": [1, 3], | [ | :4: expected nodes[1], an object, found an array",
        "\"outputs\": [2], | `` | :11: the graph has no \"outputs\"",
        "\"nodes\" | \"node\" | :11: the graph has no \"nodes\"",
        "\"arena\"}]} | \"arena\"}]} x | :11: is not JSON: Unrecognized token 'x': was expecting"
            + " (JSON String, Number, Array, Object or token 'null', 'true' or 'false')",
        "\"arena\"}]} | \"arena\"}]} 5 | :11: something follows the end of the JSON value",
      })
  void shouldNameFileLineAndPlaceWhenSomethingIsWrong(
      String replaced, String replacement, String what) throws IOException {
    int at = GOOD.indexOf(replaced);
    assertTrue(at >= 0, "nothing to replace: " + replaced);
    String text = GOOD.substring(0, at) + replacement + GOOD.substring(at + replaced.length());

    if (what.equals(":OK")) {
      assertEquals(6, GraphReader.read(file(text)).tensors().size());
    } else {
      assertWrong(what, text);
    }
  }

  @Test
  void shouldNameTheFileWhenItIsCutOffAnywhere() throws IOException {
    String good = GOOD.strip();
    for (int length = 0; length < good.length(); length++) {
      Path file = file(good.substring(0, length));

      TraceFormatException wrong =
          assertThrows(TraceFormatException.class, () -> GraphReader.read(file));

      assertEquals(file.toString(), wrong.file());
      assertEquals(1, wrong.getMessage().lines().count());
    }
  }

  @Test
  void shouldRefuseWhenItIsNoGraph() throws IOException {
    assertWrong(":1: expected the graph, an object, found an array", "[]");
    assertWrong(": is empty instead of JSON", "");
    Path absent = directory.resolve("absent.json");
    assertThrows(UncheckedIOException.class, () -> GraphReader.read(absent));
  }
}
