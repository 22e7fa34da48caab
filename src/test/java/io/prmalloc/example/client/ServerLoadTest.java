package io.prmalloc.example.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.djl.OrtEngine;
import io.prmalloc.example.InferenceServer;
import io.prmalloc.example.MemoryKind;
import io.prmalloc.example.ServerLimits;
import io.prmalloc.example.ServerOptions;
import io.prmalloc.example.client.LoadRun.Load;
import io.prmalloc.example.model.SampleNetwork;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The server under load, in a JVM of its own. In full with the profile {@code server}. */
class ServerLoadTest {

  private static final int CONNECTIONS = 4;
  private static final long SECONDS = 1200;
  private static final int FULL = 100_000;
  private static final int REQUESTS = Integer.getInteger("server.requests", 600);

  /** For each network and kind of memory. */
  private static final int COMPARED = REQUESTS >= FULL ? 40 : 16;

  private static final double RESIDENT_NOISE_BYTES = 16 << 20;

  @BeforeAll
  static void loadFirst() {
    OrtEngine.load();
  }

  @Test
  void shouldAnswerTheSameBitsWhateverTheMemory() throws Exception {
    for (Map.Entry<String, SampleNetwork> model :
        Map.of("small", SampleNetwork.SMALL, "large", SampleNetwork.LARGE).entrySet()) {
      byte[] request = LoadClient.request(model.getKey(), model.getValue(), 2, 5);
      byte[] expected = null;
      for (MemoryKind kind : MemoryKind.values()) {
        try (InferenceServer server =
            new InferenceServer(new ServerOptions(kind, 0, 2, ServerLimits.DEFAULT))) {
          Load load = Load.of(server.address(), request);
          if (expected == null) {
            expected = load.expected();
          }
          assertArrayEquals(expected, load.expected(), model.getKey() + " on " + kind);
          // Every answer is compared with the first.
          LoadRun run = LoadRun.of(server.address(), load, CONNECTIONS, COMPARED, SECONDS);
          assertEquals(COMPARED, run.requests());
        }
      }
    }
  }

  @Test
  void shouldLoseNothingWhenThereWereManyRequests() throws Exception {
    List<String> heap = REQUESTS >= FULL ? List.of() : ServerProcess.SMALL_HEAP;
    try (ServerProcess server = new ServerProcess(MemoryKind.POOL, 2, heap)) {
      Load load = Load.of(server.address(), LoadClient.request("small", SampleNetwork.SMALL, 8, 1));
      LoadRun first = LoadRun.of(server.address(), load, CONNECTIONS, REQUESTS / 2, SECONDS);
      Map<String, Double> half = server.metrics();
      LoadRun second =
          LoadRun.of(server.address(), load, CONNECTIONS, REQUESTS - REQUESTS / 2, SECONDS);
      Map<String, Double> end = idleMetrics(server);

      assertEquals(REQUESTS, first.requests() + second.requests());
      assertEquals(0, end.get("tensor_bytes_in_use"));
      assertEquals(0, end.get("inference_requests_in_flight"));
      assertEquals(1, end.get("prmalloc_planner_phase{phase=\"done\",pool=\"server\"}"));
      String hits = "prmalloc_requests_total{pool=\"server\",result=\"hit\"}";
      assertTrue(end.get(hits) > half.get(hits));
      if (REQUESTS >= FULL) {
        double grown =
            end.get("process_resident_memory_bytes") - half.get("process_resident_memory_bytes");
        System.out.printf(
            "%d requests, RSS %.0f MiB at half and %+.1f MiB at the end%n",
            REQUESTS, half.get("process_resident_memory_bytes") / (1 << 20), grown / (1 << 20));
        assertTrue(grown < RESIDENT_NOISE_BYTES, "RSS grew by " + grown + " bytes");
      }
    } // which throws unless the server says that nothing is in use
  }

  /**
   * A worker frees a request's tensors after its answer is sent, so the last may be on their way.
   */
  private static Map<String, Double> idleMetrics(ServerProcess server) throws Exception {
    Map<String, Double> metrics = server.metrics();
    for (int i = 0; i < 500 && isBusy(metrics); i++) {
      Thread.sleep(10);
      metrics = server.metrics();
    }
    return metrics;
  }

  private static boolean isBusy(Map<String, Double> metrics) {
    return metrics.get("tensor_bytes_in_use") != 0
        || metrics.get("inference_requests_in_flight") != 0;
  }
}
