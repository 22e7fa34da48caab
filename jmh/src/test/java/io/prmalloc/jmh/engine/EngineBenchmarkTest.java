package io.prmalloc.jmh.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EngineBenchmarkTest {

  private static final String SMALL =
      "--model FILE --shape left=1xR:4..64/4x32..32 --shape right=1xR:4..64/4x32"
          + " --model FILE --shape left=1x8x8..256/8 --shape right=1x8x1"
          + " --shapes 4 --runs 40 --threads 2 --heap 32";

  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);

  @TempDir Path directory;
  private String file;

  @BeforeEach
  void writeModel() throws IOException {
    file = TinyModel.write(directory.resolve("tiny.onnx")).toString();
  }

  private boolean run(String arguments) {
    List<String> words = new ArrayList<>();
    for (String word : arguments.split(" ", -1)) {
      words.add(word.equals("FILE") ? file : word);
    }
    return EngineBenchmark.of(words, out).run();
  }

  @Test
  void shouldHaveTheSameOutputsFromAllArmsAndCallJavaForThePoolOnly() throws IOException {
    assertTrue(run(SMALL + " --json"));

    JsonNode arms = new ObjectMapper().readTree(said.toByteArray()).get("arms");
    assertEquals(Arm.values().length, arms.size());
    Iterator<JsonNode> rows = arms.iterator();
    for (Arm arm : Arm.values()) {
      JsonNode each = rows.next();
      String text = each.toString();
      assertEquals(arm.label(), each.get("arm").textValue());
      assertTrue(each.get("equalOutputs").booleanValue(), text);
      assertTrue(each.get("peakMiB").doubleValue() >= each.get("endMiB").doubleValue(), text);
      assertTrue(each.get("p99Millis").doubleValue() >= each.get("p50Millis").doubleValue(), text);
      assertTrue(each.get("cpuMicrosPerRun").isNumber(), text);
      assertTrue(each.get("faultsPerRun").isNumber(), text);
      assertEquals(arm == Arm.POOL, each.get("callPairsPerRun").doubleValue() > 0, text);
    }
  }

  @Test
  void shouldPrintATableWithoutTheEnginesOwnArm() {
    assertTrue(run(SMALL + " --arms no-arena --memory mmap --rounds 2"));

    String table = said.toString(StandardCharsets.UTF_8);
    assertTrue(
        table.contains("runs: 40, shapes of each model: 4, models: 2, threads: 2; medians of 2"),
        table);
    assertTrue(table.contains("| no-arena |") && table.contains("| not compared |"), table);
  }

  /** What else is refused, and why: {@link OpenModelTest}. */
  @Test
  void shouldSayWhatAnArmRefuses() {
    String message =
        assertThrows(
                IllegalArgumentException.class,
                () -> run("--arms own --heap 32 --model FILE --shape middle=1x4x4"))
            .getMessage();
    assertTrue(message.contains("--shape has `middle`, which is no input"), message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--rounds 0 | --rounds is `0`, not 1 to 1000",
        "--heap 15 | --heap is `15`, not 16 to 1048576",
        "--arms own,theirs | --arms has `theirs`, which is none of [own, own-no-pattern,",
        "--arms own,own | --arms is `own,own`, which names an arm twice",
        "--runs | `--runs` is no option, or lacks its value",
        "--quick 1 | `--quick` is no option",
      })
  void shouldNameTheArgumentWhenItIsNotUnderstood(String arguments, String part) {
    List<String> words = List.of(arguments.split(" ", -1));
    String message =
        assertThrows(IllegalArgumentException.class, () -> EngineBenchmark.of(words, out))
            .getMessage();
    assertTrue(message.contains(part), message);
  }
}
