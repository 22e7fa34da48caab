package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.SharedData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SimulateCommandTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path directory;

  private static JsonNode json(String... args) throws IOException {
    Outcome outcome = Outcome.of(args);
    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    assertEquals(1, outcome.out().lines().count());
    return JSON.readTree(outcome.out());
  }

  @Test
  void shouldPrintTheContractsKeysWhenTheInputIsAProfile() throws IOException {
    String profile = SharedData.path("mnn/Squeezenet").toString();
    JsonNode expected =
        JSON.readTree(SharedData.path("expected/mnn.json").toFile()).get("Squeezenet.2");

    JsonNode byDefault = json("simulate", profile, "--batch=2", "--json");
    JsonNode other =
        json("simulate", profile, "--batch=2", "--json", "--reuse-children", "--order=size");

    for (String key :
        new String[] {"ops", "tensors", "oraclePeakBytes", "poolPeakBytes", "lowerBoundBytes"}) {
      assertEquals(expected.get(key).asLong(), byDefault.get(key).asLong(), key);
    }
    assertEquals(expected.get("heuristicLifeOrderBytes"), byDefault.get("heuristicBytes"));
    assertEquals(expected.get("poolReuseChildrenPeakBytes"), other.get("poolPeakBytes"));
    assertEquals(expected.get("heuristicSizeOrderBytes"), other.get("heuristicBytes"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a x 100\na y 30\nf x 0\na z 64\n",
        "id,lower,upper,size\nx,0,2,100\ny,1,4,30\nz,3,4,64\n",
        "id,size,first,last\nx,100,0,1\ny,30,1,3\nz,64,3,3\n"
      })
  void shouldCountWhenTheInputHasNoOperators(String text) throws IOException {
    Path input = Files.writeString(directory.resolve("input"), text);

    JsonNode report = json("simulate", input.toString(), "--json");

    assertEquals(3, report.get("tensors").asInt());
    assertEquals(130, report.get("oraclePeakBytes").asLong());
    assertEquals(192, report.get("lowerBoundBytes").asLong());
    assertEquals(192, report.get("poolPeakBytes").asLong());
    assertEquals(192, report.get("heuristicBytes").asLong());
  }

  @Test
  void shouldComparePlacementsWithoutConstraintsAndSaySo() throws IOException {
    Path input =
        Files.writeString(
            directory.resolve("input"),
            "id,lower,upper,size,offset,gaps\na,0,9,64,8,2-7\nb,2,7,64,-1,\n");

    Outcome outcome = Outcome.of("simulate", input.toString(), "--json");

    assertEquals(0, outcome.exitCode(), outcome.err());
    assertEquals(
        "prmalloc: warning: " + input + ": only plan observes the columns offset, gaps\n",
        outcome.err());
    JsonNode report = JSON.readTree(outcome.out());
    assertEquals(128, report.get("lowerBoundBytes").asLong());
    assertEquals(128, report.get("heuristicBytes").asLong());
  }

  @Test
  void shouldNameTheFileWhenATensorIsTooLargeToAllocate() throws IOException {
    Path input =
        Files.writeString(
            directory.resolve("input"), "id,lower,upper,size\na,0,9,9223372036854775807\n");

    Outcome outcome = Outcome.of("simulate", input.toString());

    assertEquals(2, outcome.exitCode());
    assertEquals(
        "prmalloc: " + input + ": size 9223372036854775807 of tensor a exceeds 1099511627776\n",
        outcome.err());
  }

  @Test
  void shouldPrintATableWhenNotAskedForJson() {
    Outcome outcome = Outcome.of("simulate", "sample:mobilenet");

    assertEquals(0, outcome.exitCode(), outcome.err());
    assertTrue(outcome.out().startsWith("sample:mobilenet: 128 tensors, "), outcome.out());
    assertTrue(outcome.out().contains("MNN's pool, parts reused"), outcome.out());
  }

  @Test
  void shouldNameTheInputWhenItHasTooManyTensors() throws IOException {
    Path input = Files.writeString(directory.resolve("many.ev"), "a x 1\nf x 0\n".repeat(200_001));

    Outcome outcome = Outcome.of("simulate", input.toString());

    assertEquals(2, outcome.exitCode());
    assertEquals(
        "prmalloc: " + input + ": has 200001 tensors; the placement takes up to 200000\n",
        outcome.err());
  }
}
