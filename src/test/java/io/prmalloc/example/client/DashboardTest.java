package io.prmalloc.example.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.prmalloc.djl.OrtEngine;
import io.prmalloc.example.InferenceServer;
import io.prmalloc.example.MemoryKind;
import io.prmalloc.example.ServerLimits;
import io.prmalloc.example.ServerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/**
 * The queries of the dashboard and the alert rules, checked against the metrics of the example
 * server.
 */
class DashboardTest {

  /** Those that Prometheus itself adds. */
  private static final Set<String> ADDED = Set.of("job", "instance");

  private static final int GRID_COLUMNS = 24;

  private static final Pattern GROUPING = Pattern.compile("(?:by|on) \\(([^)]*)\\)");
  private static final Pattern IN_BRACES = Pattern.compile("[{][{] ?(?:\\$labels[.])?(\\w+) ?}}");

  private static InferenceServer server;
  private static Scrape scrape;

  @BeforeAll
  static void scrape() throws Exception {
    OrtEngine.load();
    server = new InferenceServer(new ServerOptions(MemoryKind.POOL, 0, 1, ServerLimits.DEFAULT));
    try (LoadClient client = new LoadClient(server.address())) {
      scrape = Scrape.of(client.get("/metrics").text());
    }
  }

  @AfterAll
  static void close() {
    server.close();
  }

  /** The labels that every series of a query has. */
  private static Set<String> assertFinds(String query) {
    List<Scrape.Selector> selectors = Scrape.Selector.of(query);
    assertFalse(selectors.isEmpty(), () -> "no metric of ours in: " + query);
    Set<String> common = null;
    for (Scrape.Selector selector : selectors) {
      List<Scrape.Series> found = scrape.found(selector);
      assertFalse(found.isEmpty(), () -> selector + " finds nothing, of query: " + query);
      for (Map.Entry<String, Pattern> wanted : selector.wanted().entrySet()) {
        assertAllAlternatives(selector, wanted.getKey(), wanted.getValue().pattern());
      }
      common = common == null ? new TreeSet<>(found.get(0).labels().keySet()) : common;
      common.retainAll(found.get(0).labels().keySet());
    }
    Set<String> known = new TreeSet<>(common);
    known.addAll(ADDED);
    Matcher grouping = GROUPING.matcher(query);
    while (grouping.find()) {
      List<String> names = Arrays.asList(grouping.group(1).split(", ", -1));
      assertTrue(known.containsAll(names), () -> names + " are not among " + known + ": " + query);
    }
    return known;
  }

  /** Of "a|b" both must be there, or one may be misspelt. */
  private static void assertAllAlternatives(Scrape.Selector selector, String label, String values) {
    for (String value : values.split("\\|", -1)) {
      Scrape.Selector one =
          new Scrape.Selector(selector.name(), Map.of(label, Pattern.compile(value)));
      assertFalse(scrape.found(one).isEmpty(), () -> one + " finds nothing");
    }
  }

  private static void assertHas(Set<String> labels, String text) {
    Matcher named = IN_BRACES.matcher(text);
    while (named.find()) {
      assertTrue(labels.contains(named.group(1)), () -> text + " of " + labels);
    }
  }

  @Test
  void shouldFindTheSeriesOfEveryQueryOfTheDashboard() throws IOException {
    List<Dashboard.Panel> panels = Dashboard.read().panels();
    assertEquals(9, panels.size());
    for (Dashboard.Panel panel : panels) {
      assertFalse(panel.targets().isEmpty(), panel.title());
      for (Dashboard.Target target : panel.targets()) {
        assertHas(assertFinds(target.query()), target.legend());
      }
    }
    String variable = "label_values(prmalloc_memory_used_bytes, pool)";
    assertTrue(Files.readString(Dashboard.FILE).contains(variable));
    assertTrue(assertFinds(variable).contains("pool"));
  }

  /** What Grafana asks of a dashboard, which no test loads into one. */
  @Test
  void shouldLieInGrafanasGridAndNameTheSourceOfEachQuery() throws IOException {
    JsonNode dashboard = JsonMapper.builder().build().readTree(Dashboard.FILE.toFile());
    Set<String> variables = new TreeSet<>();
    dashboard.at("/templating/list").forEach(one -> variables.add(one.path("name").asText()));
    assertEquals(Set.of("datasource", "pool"), variables);
    assertTrue(dashboard.path("schemaVersion").isInt() && dashboard.path("uid").isTextual());
    Set<Integer> ids = new TreeSet<>();
    Set<String> cells = new TreeSet<>();
    for (JsonNode panel : dashboard.path("panels")) {
      assertTrue(ids.add(panel.path("id").intValue()), () -> "id of " + panel);
      assertEquals("timeseries", panel.path("type").asText());
      JsonNode grid = panel.path("gridPos");
      for (int x = 0; x < grid.path("w").intValue(); x++) {
        int column = grid.path("x").intValue() + x;
        assertTrue(column < GRID_COLUMNS, () -> "gridPos of " + panel);
        for (int y = 0; y < grid.path("h").intValue(); y++) {
          assertTrue(cells.add(column + "," + (grid.path("y").intValue() + y)), panel::toString);
        }
      }
      Set<String> letters = new TreeSet<>();
      for (JsonNode target : panel.path("targets")) {
        assertTrue(letters.add(target.path("refId").asText()), panel::toString);
        assertEquals("${datasource}", target.at("/datasource/uid").asText());
      }
    }
  }

  @Test
  void shouldFindTheSeriesOfEveryAlertRule() throws IOException {
    List<String> names = new ArrayList<>();
    for (Map<String, ?> rule : rules()) {
      names.add((String) rule.get("alert"));
      Set<String> labels = assertFinds((String) rule.get("expr"));
      Map<?, ?> annotations = (Map<?, ?>) rule.get("annotations");
      annotations.values().forEach(text -> assertHas(labels, (String) text));
    }
    assertEquals(
        List.of(
            "PrmallocNotPooling",
            "PrmallocMissesRising",
            "PrmallocNearLimit",
            "PrmallocLearningFailed"),
        names);
  }

  @SuppressWarnings("unchecked") // as the file is
  private static List<Map<String, ?>> rules() throws IOException {
    String text = Files.readString(Path.of("../docs/operations/alerts.yaml"));
    Map<String, List<Map<String, ?>>> file = new Yaml().load(text);
    return (List<Map<String, ?>>) file.get("groups").get(0).get("rules");
  }

  @Test
  void shouldFindNothingByAnotherNameOrTag() {
    for (String query :
        List.of(
            "prmalloc_memory_used",
            "prmalloc_planner_phase{phase=\"finished\"}",
            "prmalloc_requests_total{kind=\"hit\"}")) {
      assertTrue(scrape.found(Scrape.Selector.of(query).get(0)).isEmpty(), query);
    }
  }
}
