package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.SharedData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands on the page {@code docs/simulate.md}, and the output that it shows. */
@Tag("jdk-independent")
class SimulateGuideTest {

  @TempDir private Path directory;

  @Test
  void shouldPrintWhatThePageSaysWhenTheSampleIsSimulated() throws IOException {
    GuidePage page = GuidePage.of("simulate.md");

    assertEquals(page.blocks("").get(0), GuidePage.run(page.commands().get(0), Map.of()));
  }

  @Test
  void shouldSucceedWhenTheCommandsOfThePageRun() throws IOException {
    GuidePage page = GuidePage.of("simulate.md");
    Path placed = directory.resolve("placed.csv");
    Path picture = directory.resolve("swap.html");
    Map<String, Path> files =
        Map.of(
            "profiles/Squeezenet",
            SharedData.path("mnn/Squeezenet"),
            "placed.csv",
            placed,
            "swap.html",
            picture);
    List<String> commands = page.commands();
    assertEquals(8, commands.size());

    for (String command : commands) {
      assertTrue(GuidePage.run(command, files).length() > 100, command);
    }

    assertTrue(Files.size(placed) > 10_000);
    assertTrue(Files.size(picture) > 10_000);
  }

  /** The table of budgets: every line is what the command says. */
  @Test
  void shouldSayWhatTheCommandSaysWhenThereIsABudget() throws IOException {
    GuidePage page = GuidePage.of("simulate.md");
    String profile = SharedData.path("mnn/Squeezenet").toString();
    List<String> rows =
        page.text().lines().filter(line -> line.matches("\\| 1[0-9,]+ .*")).toList();
    assertEquals(4, rows.size());

    for (String row : rows) {
      String[] cells = row.replace(",", "").split("\\|", -1);
      assertRow(row, cells[1].strip(), cells[2].strip(), profile);
      assertRow(row, cells[1].strip(), cells[3].strip(), profile, "--recompute");
    }
  }

  private static void assertRow(
      String row, String budget, String millis, String profile, String... more) {
    List<String> words =
        new ArrayList<>(List.of("swap", profile, "--batch=2", "--budget=" + budget));
    words.addAll(List.of(more));
    Outcome outcome = Outcome.of(words.toArray(new String[0]));
    assertEquals(0, outcome.exitCode(), outcome.err());
    String step =
        outcome.out().lines().filter(line -> line.startsWith("step ")).findFirst().orElseThrow();
    assertEquals(
        Double.parseDouble(millis), Double.parseDouble(step.split(" +", -1)[1]), 0.05001, row);
  }
}
