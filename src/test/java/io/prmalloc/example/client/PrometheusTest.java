package io.prmalloc.example.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.prmalloc.djl.OrtEngine;
import io.prmalloc.example.InferenceServer;
import io.prmalloc.example.MemoryKind;
import io.prmalloc.example.ServerLimits;
import io.prmalloc.example.ServerOptions;
import io.prmalloc.example.model.SampleNetwork;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The alert rules and the queries of the dashboard in Prometheus itself, where that is installed.
 */
class PrometheusTest {

  private static final Path ALERTS = Path.of("../docs/operations/alerts.yaml");

  @TempDir private Path directory;

  private static void assumeInstalled(String program) {
    assumeTrue(
        Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
            .anyMatch(path -> Files.isExecutable(Path.of(path, program))),
        program + " is not installed; Debian: apt-get install prometheus");
  }

  private void promtool(String... arguments) throws Exception {
    assumeInstalled("promtool");
    List<String> command = new ArrayList<>(List.of("promtool"));
    command.addAll(List.of(arguments));
    Path said = directory.resolve("said");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    assertEquals(0, process.waitFor(), Files.readString(said));
  }

  @Test
  void shouldBeRulesThatPrometheusTakes() throws Exception {
    promtool("check", "rules", ALERTS.toString());
  }

  @Test
  void shouldFireWhenTheRulesSayAndNotElse() throws Exception {
    promtool("test", "rules", "test/resources/alerts-test.yaml");
  }

  @Test
  void shouldAnswerEveryQueryOfTheDashboardFromTheServersMetrics() throws Exception {
    assumeInstalled("prometheus");
    OrtEngine.load();
    try (InferenceServer server =
            new InferenceServer(new ServerOptions(MemoryKind.POOL, 0, 1, ServerLimits.DEFAULT));
        LoadClient client = new LoadClient(server.address());
        Prometheus prometheus = new Prometheus(directory, server.address())) {
      byte[] request = LoadClient.request("small", SampleNetwork.SMALL, 1, 1);
      assertEquals(200, client.send(request).status());
      for (Dashboard.Panel panel : Dashboard.read().panels()) {
        for (Dashboard.Target target : panel.targets()) {
          prometheus.awaitSeries(
              target.query().replace("$pool", ".*").replace("$__rate_interval", "1m"));
        }
      }
      assertEquals(4, prometheus.get("/api/v1/rules").at("/data/groups/0/rules").size());
    }
  }

  /** A Prometheus that scrapes one server each second. */
  private static final class Prometheus implements AutoCloseable {
    private final HttpClient http = HttpClient.newHttpClient();
    private final Path log;
    private final String address;
    private final Process process;

    Prometheus(Path directory, URI scraped) throws IOException {
      InetAddress loopback = InetAddress.getLoopbackAddress();
      try (ServerSocket free = new ServerSocket(0, 1, loopback)) {
        address = loopback.getHostAddress() + ":" + free.getLocalPort();
      }
      log = directory.resolve("log");
      Path settings =
          Files.writeString(
              directory.resolve("prometheus.yml"),
              """
              global: {scrape_interval: 1s}
              rule_files: [%s]
              scrape_configs:
                - job_name: example
                  static_configs: [{targets: ["%s"]}]
              """
                  .formatted(ALERTS.toAbsolutePath().normalize(), scraped.getAuthority()));
      process =
          new ProcessBuilder(
                  "prometheus",
                  "--config.file=" + settings,
                  "--storage.tsdb.path=" + directory.resolve("data"),
                  "--web.listen-address=" + address)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
    }

    /** Waits until a query has an answer that is not empty. */
    void awaitSeries(String query) throws IOException, InterruptedException {
      String path = "/api/v1/query?query=" + URLEncoder.encode(query, StandardCharsets.UTF_8);
      JsonNode answer = get(path);
      while (answer.at("/data/result").isEmpty()) {
        assertEquals("success", answer.path("status").asText("success"), () -> query);
        Thread.sleep(100);
        answer = get(path);
      }
    }

    /** What it answers; nothing before it listens. */
    JsonNode get(String path) throws IOException, InterruptedException {
      assertTrue(process.isAlive(), Files.readString(log));
      HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + path)).build();
      try {
        String body = http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        return JsonMapper.builder().build().readTree(body);
      } catch (IOException notYet) {
        return JsonMapper.builder().build().createObjectNode();
      }
    }

    @Override
    public void close() {
      process.destroy();
      try {
        // Not onExit(): on 17 its task may be left lying in the JVM's common pool.
        process.waitFor();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
