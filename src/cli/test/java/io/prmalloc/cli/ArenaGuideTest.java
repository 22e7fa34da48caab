package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.onnx.OnnxWriter;
import io.prmalloc.tflite.TfliteWriter;
import io.prmalloc.trace.MobileNetGraphs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The code and commands on the page {@code docs/arena.md}, and the output that it shows. */
class ArenaGuideTest {

  private static final String IMPORTS =
      """
      import io.prmalloc.SubAllocator;
      import io.prmalloc.plan.arena.ArenaOptions;
      import io.prmalloc.plan.arena.ArenaPlanner;
      import io.prmalloc.plan.arena.Graph;
      import io.prmalloc.plan.arena.TensorKind;
      import java.nio.ByteBuffer;
      import java.util.List;
      """;

  @TempDir private Path directory;

  @Test
  void shouldCompileAndPrintWhatThePageSaysWhenTheExampleRuns() throws Exception {
    GuidePage page = GuidePage.of("arena.md");

    assertEquals(
        List.of("551936", "100352"),
        GuidePage.linesOf(IMPORTS, page.blocks("java").get(0), directory));
    assertTrue(page.text().contains("It prints 551936 and 100352:"));
  }

  @Test
  void shouldSucceedWhenTheCommandsOfThePageRun() throws IOException {
    GuidePage page = GuidePage.of("arena.md");
    Path graph = Files.writeString(directory.resolve("graph.json"), page.blocks("json").get(0));
    Path model =
        Files.write(directory.resolve("model.tflite"), TfliteWriter.model(MobileNetGraphs.v1()));
    Path audio = Files.write(directory.resolve("audio.tflite"), TfliteWriter.open());
    Path onnx =
        Files.write(
            directory.resolve("model.onnx"),
            OnnxWriter.model(
                13,
                it ->
                    it.input("input", "batchx3x224x224")
                        .node("Relu", "input", "out")
                        .output("out")));
    Map<String, Path> files =
        Map.of(
            "graph.json", graph, "model.tflite", model, "audio.tflite", audio, "model.onnx", onnx);
    assertEquals(9, page.commands().size());
    for (String command : page.commands()) {
      String out = GuidePage.run(command, files);

      if (command.equals("arena graph.json")) {
        assertEquals(page.blocks("").get(0), out);
      }
    }
  }
}
