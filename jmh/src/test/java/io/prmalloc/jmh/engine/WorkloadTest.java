package io.prmalloc.jmh.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkloadTest {

  @TempDir Path directory;
  private String file;

  @BeforeEach
  void makeFile() throws IOException {
    file = Files.createFile(directory.resolve("a.onnx")).toString();
  }

  private Workload workload(String arguments) {
    Workload.Arguments read = new Workload.Arguments();
    String[] words = arguments.replace("FILE", file).split(" ", -1);
    for (int i = 0; i < words.length; i += 2) {
      read.set(words[i], words[i + 1]);
    }
    return read.build();
  }

  @Test
  void shouldReadARangeForEachOpenDimension() {
    InputShape shape = InputShape.of("--shape", "a=b=1xL:8..9x128..640/32");

    assertEquals("a=b", shape.input());
    assertEquals(
        List.of(
            new Dimension("", 1, 1, 1),
            new Dimension("L", 8, 9, 1),
            new Dimension("", 128, 640, 32)),
        shape.dimensions());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "x=1x640..128 | in --shape x=1x640..128 a number of `640..128` is `128`, not 640 to",
        "x=1x0 | a number of `0` is `0`, not 1 to 1000000000",
        "x=1x4..8/0 | a number of `4..8/0` is `0`, not 1 to",
        "x=1x9999999999999999999 | is `9999999999999999999`, not 1 to",
        "x=1xax3 | --shape x=1xax3 has `a`, not N, LEAST..MOST or LEAST..MOST/STEP",
        "x=1x4.. | has `4..`, not N",
        "x= | has ``, not N",
        "1x3 | --shape is `1x3`, not an input's name",
        "=1x3 | --shape is `=1x3`, not an input's name",
        "x=L:1..4xL:1..5 | --shape is `x=L:1..4xL:1..5`, and L has another range already",
      })
  void shouldSayWhatIsWrongWithAShape(String shape, String part) {
    assertMessage(part, "--model FILE --shape " + shape);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--shapes 3 | there is no --model",
        "--shape x=1 | --shape is `x=1`, and no --model stands before it",
        "--model none.onnx | --model is `none.onnx`, where there is no file",
        "--model FILE --shape x=1 --shape x=2 | --shape is `x=2`, and that input",
        "--model FILE --shape x=L:1..2 --shape y=L:1..3 | and L has another range already",
        "--model FILE --shapes 0 | --shapes is `0`, not 1 to 10000000",
        "--model FILE --runs many | --runs is `many`, not 1 to 10000000",
        "--model FILE --threads 1001 | --threads is `1001`, not 1 to 1000",
        "--model FILE --engine-threads 0 | --engine-threads is `0`, not 1 to 1000",
        "--model FILE --seed 1.5 | --seed is `1.5`, not -9007199254740992 to 9007199254740992",
        "--model FILE --memory heap | --memory is `heap`, not direct, mmap or huge",
        "--model FILE --shapes 8 --runs 7 | --runs is `7`, not at least one for each of --shapes 8",
        "--model FILE --model FILE --shapes 8 --runs 15 | --runs is `15`, not at least one for each"
            + " of --shapes 8 of 2 models",
        "--model FILE --sides 8 | `--sides` is no option",
      })
  void shouldNameTheArgumentItsValueAndItsBound(String arguments, String part) {
    assertMessage(part, arguments);
  }

  private void assertMessage(String part, String arguments) {
    String message =
        assertThrows(IllegalArgumentException.class, () -> workload(arguments)).getMessage();
    assertTrue(message.contains(part), message);
  }

  @Test
  void shouldDrawEveryNumberOfARangeAndNoOther() {
    Workload workload = workload("--model FILE --shape x=3x128..200/32 --shapes 200 --runs 200");

    TreeSet<Long> drawn = new TreeSet<>();
    for (Map<String, long[]> shape : workload.drawShapes().get(0)) {
      assertEquals(3, shape.get("x")[0]);
      drawn.add(shape.get("x")[1]);
    }

    assertEquals(List.of(128L, 160L, 192L), List.copyOf(drawn));
  }

  @Test
  void shouldDrawDimensionsOfOneNameOnceForAllInputsOfAModel() {
    Workload workload =
        workload("--model FILE --shape x=L:1..1000x1..1000 --shape y=2xL:1..1000 --shapes 20");

    boolean differ = false;
    for (Map<String, long[]> shape : workload.drawShapes().get(0)) {
      assertEquals(shape.get("x")[0], shape.get("y")[1]);
      differ |= shape.get("x")[0] != shape.get("x")[1];
    }
    assertTrue(differ);
  }

  @Test
  void shouldDrawTheSameForTheSameSeedOnly() {
    String arguments = "--model FILE --shape x=1..1000000 --seed ";
    assertEquals(shapes(arguments + 5), shapes(arguments + 5));
    assertNotEquals(shapes(arguments + 5), shapes(arguments + 6));
    assertArrayEquals(workload(arguments + 5).drawOrder(), workload(arguments + 5).drawOrder());
    assertNotEquals(
        Arrays.toString(workload(arguments + 5).drawOrder()),
        Arrays.toString(workload(arguments + 6).drawOrder()));
  }

  private String shapes(String arguments) {
    return workload(arguments).drawShapes().get(0).stream()
        .map(shape -> Arrays.toString(shape.get("x")))
        .toList()
        .toString();
  }

  @Test
  void shouldLetEveryShapeOfEachModelHaveItsTurnBeforeOneHasItsSecond() {
    int[] order = workload("--model FILE --model FILE --shapes 5 --runs 23").drawOrder();

    for (int model = 0; model < 2; model++) {
      for (int turn = 0; turn < 2; turn++) {
        TreeSet<Integer> shapes = new TreeSet<>();
        for (int i = 0; i < 5; i++) {
          shapes.add(order[(turn * 5 + i) * 2 + model]);
        }
        assertEquals(List.of(0, 1, 2, 3, 4), List.copyOf(shapes));
      }
    }
  }
}
