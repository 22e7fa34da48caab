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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The code and commands on the page {@code docs/planners.md}, and the output that it shows. */
@Tag("jdk-independent")
class PlannersGuideTest {

  private static final String IMPORTS =
      """
      import io.prmalloc.SubAllocator;
      import io.prmalloc.plan.LowerBounds;
      import io.prmalloc.plan.MemoryStrategy;
      import io.prmalloc.plan.ObjectsAssignment;
      import io.prmalloc.plan.OffsetsAssignment;
      import io.prmalloc.plan.PlannedArena;
      import io.prmalloc.plan.TensorUsageRecord;
      import java.nio.ByteBuffer;
      import java.util.List;
      """;

  @TempDir private Path directory;

  @Test
  void shouldCompileAndPrintWhatThePageSaysWhenTheExampleRuns() throws Exception {
    GuidePage page = GuidePage.of("planners.md");

    List<String> printed = GuidePage.linesOf(IMPORTS, page.blocks("java").get(0), directory);

    assertTrue(page.text().contains("It prints " + String.join(", ", printed) + "."), printed + "");
  }

  @Test
  void shouldSucceedWhenTheCommandsOfThePageRun() throws IOException {
    GuidePage page = GuidePage.of("planners.md");
    Path out = directory.resolve("placed.csv");
    Map<String, Path> files =
        Map.of(
            "tensors.csv",
            Files.writeString(directory.resolve("tensors.csv"), page.blocks("csv").get(0)),
            "placed.csv",
            out,
            "plan.html",
            directory.resolve("plan.html"),
            "model.tflite",
            Files.write(
                directory.resolve("model.tflite"), TfliteWriter.model(MobileNetGraphs.v2())),
            "model.onnx",
            Files.write(
                directory.resolve("model.onnx"),
                OnnxWriter.model(
                    13,
                    it ->
                        it.input("input", "batchx3x224x224")
                            .node("Relu", "input", "out")
                            .output("out"))));
    assertEquals(7, page.commands().size());
    for (String command : page.commands()) {
      String printed = GuidePage.run(command, files);

      if (command.equals("plan tensors.csv --kind offsets")) {
        assertEquals(withoutTimes(page.blocks("").get(0)), withoutTimes(printed));
      }
    }
    assertEquals(page.blocks("csv").get(1), Files.readString(out));
    assertTrue(Files.size(directory.resolve("plan.html")) > 1000);
  }

  private static String withoutTimes(String table) {
    return table.replaceAll("[0-9]+\\.[0-9]{3}    yes", "yes").replaceAll(" +", " ");
  }
}
