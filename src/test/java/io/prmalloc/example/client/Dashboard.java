package io.prmalloc.example.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The panels of {@code docs/operations/dashboard.json}.
 *
 * <p>Threading: immutable.
 */
record Dashboard(List<Panel> panels) {

  /** Where its file is. */
  static final Path FILE = Path.of("../docs/operations/dashboard.json");

  /** A panel; {@code unit} as Grafana names it. */
  record Panel(String title, String unit, List<Target> targets) {}

  /** A query and the name of each line of it, with labels in double braces. */
  record Target(String query, String legend) {}

  static Dashboard read() throws IOException {
    List<Panel> panels = new ArrayList<>();
    for (JsonNode panel : JsonMapper.builder().build().readTree(FILE.toFile()).path("panels")) {
      List<Target> targets = new ArrayList<>();
      for (JsonNode target : panel.path("targets")) {
        targets.add(new Target(target.path("expr").asText(), target.path("legendFormat").asText()));
      }
      panels.add(
          new Panel(
              panel.path("title").asText(),
              panel.path("fieldConfig").path("defaults").path("unit").asText(),
              targets));
    }
    return new Dashboard(panels);
  }
}
