package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.onnx.OnnxWriter;
import io.prmalloc.tflite.TfliteWriter;
import io.prmalloc.trace.MobileNetGraphs;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Models and graphs as the input of every command. */
@Tag("jdk-independent")
class GraphInputsTest {

  private static final long MOBILENET_V2_BYTES = 1_505_280;

  @TempDir private Path directory;

  private String model() throws IOException {
    byte[] model = TfliteWriter.model(MobileNetGraphs.v2());
    return Files.write(directory.resolve("v2.tflite"), model).toString();
  }

  private static JsonNode json(String... words) throws IOException {
    Outcome outcome = Outcome.of(words);
    assertEquals(0, outcome.exitCode(), outcome.err());
    return new ObjectMapper().readTree(outcome.out());
  }

  @Test
  void shouldNeedThePublishedBytesWhenPlanningAModel() throws IOException {
    String file = model();
    for (List<String> options :
        List.of(List.<String>of(), List.of("--subgraph=0"), List.of("--format=graph"))) {
      String[] words =
          Stream.concat(
                  Stream.of("plan", file, "--kind=offsets", "--strategy=greedy-by-size", "--json"),
                  options.stream())
              .toArray(String[]::new);

      JsonNode report = json(words);

      assertEquals(MOBILENET_V2_BYTES, report.get("lowerBoundBytes").asLong());
      assertEquals(MOBILENET_V2_BYTES, report.get("results").get(0).get("totalBytes").asLong());
      assertTrue(report.get("results").get(0).get("valid").asBoolean());
      assertEquals(67, report.get("tensors").asInt());
    }
  }

  @Test
  void shouldReplayAndLearnWhenTheInputIsAModel() throws IOException {
    String file = model();

    assertEquals(
        MOBILENET_V2_BYTES,
        json("replay", file, "--steps=1", "--settle=0", "--allocator=malloc", "--json")
            .get("lowerBoundBytes")
            .asLong());
    assertEquals(2, json("learn", file, "--steps=2", "--json").get("steps").asInt());
  }

  @ParameterizedTest
  @ValueSource(strings = {"plan", "arena", "replay"})
  void shouldNameFileAndReasonWhenAModelIsCutShort(String command) throws IOException {
    byte[] model = TfliteWriter.model(MobileNetGraphs.v2());
    Path file = Files.write(directory.resolve("cut.tflite"), Arrays.copyOf(model, 3000));

    Outcome outcome = Outcome.of(command, file.toString());

    assertEquals(2, outcome.exitCode());
    assertEquals("", outcome.out());
    assertTrue(
        outcome.err().matches("prmalloc: \\Q" + file + "\\E: .*is not inside the file.*\\R"),
        outcome.err());
  }

  @Test
  void shouldComplainWhenOptionsDoNotFit() throws IOException {
    String file = model();

    assertEquals(
        "prmalloc: " + file + ": subgraphs: there is no subgraph 1; there are 1, from 0\n",
        Outcome.of("plan", file, "--subgraph=1").err());
    assertEquals(
        "prmalloc: --batch 2 means nothing to a graph\n",
        Outcome.of("plan", file, "--subgraph=0", "--batch=2").err());
    assertEquals(
        "prmalloc: --batch 2 means nothing to the format graph of " + file + "\n",
        Outcome.of("plan", file, "--batch=2").err());
    assertEquals(
        "prmalloc: sample:mobilenet is a trace and no graph; sample:mobilenet-v1 and"
            + " sample:mobilenet-v2 are\n",
        Outcome.of("arena", "sample:mobilenet").err());
  }

  private String offline(int first, int second) throws IOException {
    byte[] model = TfliteWriter.offline(first, second);
    return Files.write(directory.resolve("offline.tflite"), model).toString();
  }

  @Test
  void shouldPlanAroundAnOfflinePlanUnlessItsTensorsOverlap() throws IOException {
    Outcome kept = Outcome.of("plan", offline(64, 0), "--strategy=exact", "--json");
    assertEquals("", kept.err());
    assertEquals(128, total(kept));

    String file = offline(0, 0);
    Outcome anew = Outcome.of("plan", file, "--strategy=exact", "--json");
    assertEquals(
        "prmalloc: warning: "
            + file
            + ": its offline plan is not kept: tensors 0 and 1 are both alive in task 0 and share"
            + " bytes from offset 0; `arena` keeps it\n",
        anew.err());
    assertEquals(96, total(anew));
    assertEquals("", Outcome.of("arena", file).err());
  }

  private static long total(Outcome plan) throws IOException {
    assertEquals(0, plan.exitCode(), plan.err());
    return new ObjectMapper().readTree(plan.out()).get("results").get(0).get("totalBytes").asLong();
  }

  private String onnx() throws IOException {
    byte[] model =
        OnnxWriter.model(
            13,
            graph ->
                graph
                    .input("x", "nx1024")
                    .weight("w", 1024, 4096)
                    .node("MatMul", "x,w", "a")
                    .node("Relu", "a", "b")
                    .node("NonZero", "b", "where")
                    .output("b")
                    .output("where"));
    // No name tells what it is.
    return Files.write(directory.resolve("model"), model).toString();
  }

  @Test
  void shouldSetShapesAndWarnWhenTheInputIsAnOnnxModel() throws IOException {
    String file = onnx();
    String warning =
        "prmalloc: warning: "
            + file
            + ": 1 of 4 values has no known size and is not planned: `where`; shapes end at"
            + " graph.node[2] (NonZero); ";
    long load = 2 * 8 * 4096 * 4;
    for (String shape : List.of("--shape=n=8", "--shape=x=8x1024")) {
      Outcome plan =
          Outcome.of("plan", file, shape, "--kind=offsets", "--strategy=exact", "--json");

      assertEquals(0, plan.exitCode(), plan.err());
      assertTrue(plan.err().startsWith(warning), plan.err());
      assertEquals(1, plan.err().lines().count());
      JsonNode report = new ObjectMapper().readTree(plan.out());
      assertEquals(load, report.get("lowerBoundBytes").asLong());
      assertEquals(3, report.get("tensors").asInt());
    }

    Path packed = directory.resolve("packed");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
      Files.copy(Path.of(file), out);
    }
    Outcome unpacked = Outcome.of("plan", packed.toString(), "--shape=n=8", "--json");
    assertEquals(0, unpacked.exitCode(), unpacked.err());
    assertEquals(load, new ObjectMapper().readTree(unpacked.out()).get("lowerBoundBytes").asLong());

    Outcome arena = Outcome.of("arena", file, "--shape=n=8", "--json");
    assertTrue(arena.err().startsWith(warning), arena.err());
    assertEquals(load, new ObjectMapper().readTree(arena.out()).get("lowerBoundBytes").asLong());
    for (List<String> words :
        List.of(
            List.of(
                "replay",
                file,
                "--shape=n=8",
                "--steps=1",
                "--settle=0",
                "--allocator=malloc",
                "--json"),
            List.of("learn", file, "--shape=n=8", "--steps=2", "--json"),
            List.of("simulate", file, "--shape=n=8", "--json"))) {
      Outcome outcome = Outcome.of(words.toArray(new String[0]));
      assertEquals(0, outcome.exitCode(), outcome.err());
      assertTrue(outcome.err().startsWith(warning), outcome.err());
    }
  }

  @Test
  void shouldExplainAnOnnxModelByItsOperators() throws IOException {
    byte[] model =
        OnnxWriter.model(
            13,
            graph ->
                graph
                    .input("x", "nx1024")
                    .weight("w", 1024, 4096)
                    .node("MatMul", "x,w", "a")
                    .node("Shape", "a", "unread")
                    .node("Relu", "a", "b")
                    .output("b"));
    String file = Files.write(directory.resolve("model"), model).toString();

    Outcome outcome = Outcome.of("arena", file, "--shape=n=8", "--explain");

    assertEquals(0, outcome.exitCode(), outcome.err());
    assertEquals(
        List.of(
            "0 x (FLOAT 8x1024): 32768 bytes at 131072; input, filled before the first node, read"
                + " last by node 0 (MatMul); 1 node, 0-0",
            "1 w (FLOAT 1024x4096): 16777216 bytes; constant, its data stays in the file",
            "2 a (FLOAT 8x4096): 131072 bytes at 0; written by node 0 (MatMul), read last by node 2"
                + " (Relu); 3 nodes, 0-2",
            "3 unread (INT64 2): 16 bytes at 131072; written by node 1 (Shape), read by no node; 1"
                + " node, 1-1",
            "4 b (FLOAT 8x4096): 131072 bytes at 131072; written by node 2 (Relu), output, kept to"
                + " the end; 1 node, 2-2"),
        outcome.out().lines().skip(2).limit(5).toList());
    assertTrue(outcome.out().contains("Most is alive at node 2 (Relu), "), outcome.out());
  }

  @Test
  void shouldRefuseWhenShapesDoNotFit() throws IOException {
    String file = onnx();

    Outcome open = Outcome.of("plan", file);
    assertEquals(2, open.exitCode());
    assertEquals(
        "prmalloc: "
            + file
            + ": the model leaves the shape of an input open: `x` is nx1024; set it with --shape"
            + " INPUT=AxB, or a named dimension with --shape NAME=N\n",
        open.err());
    assertEquals(
        "prmalloc: --subgraph 1 means nothing to " + file + ", which is no .tflite model\n",
        Outcome.of("plan", file, "--shape=n=1", "--subgraph=1").err());
    String csv = Files.writeString(directory.resolve("l.csv"), "id,lower,upper,size\n").toString();
    Outcome table = Outcome.of("plan", csv, "--shape=n=1");
    assertEquals(2, table.exitCode());
    assertEquals(
        "prmalloc: --shape n means nothing to the format lifetimes of " + csv + "\n", table.err());
    assertEquals(
        "prmalloc: sample:mobilenet takes no --shape\n",
        Outcome.of("learn", "sample:mobilenet", "--shape=n=1", "--steps=1").err());
    Path cut = Files.write(directory.resolve("cut.onnx"), new byte[] {8, 8, 0x3a, 9});
    Outcome wrong = Outcome.of("replay", cut.toString());
    assertEquals(2, wrong.exitCode());
    assertEquals(
        "prmalloc: " + cut + ": graph: is cut short: 9 bytes of it are missing\n", wrong.err());
  }
}
