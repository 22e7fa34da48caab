package io.prmalloc.example;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.util.ResourceLeakDetector;
import io.prmalloc.djl.OrtEngine;
import io.prmalloc.example.client.LoadClient;
import io.prmalloc.example.client.LoadClient.Answer;
import io.prmalloc.example.client.LoadRun;
import io.prmalloc.example.model.SampleNetwork;
import io.prmalloc.micrometer.PrmallocMetrics;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The example server on the pool: what it answers, what it refuses, and that it loses nothing. */
class InferenceServerTest {

  private static final long LIMIT = 1 << 20;
  private static final ServerLimits LIMITS =
      new ServerLimits(64, LIMIT, 8 * LIMIT, ServerTimeouts.DEFAULT);
  private static final SampleNetwork SMALL = SampleNetwork.SMALL;
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();
  private InferenceServer server;

  @BeforeAll
  static void loadFirst() {
    OrtEngine.load();
  }

  @BeforeEach
  void start() throws Exception {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    server = new InferenceServer(new ServerOptions(MemoryKind.POOL, 0, 2, LIMITS));
  }

  /** Closing the server closes the pool, which refuses if anything is out. */
  @AfterEach
  void nothingIsLost() {
    server.close();
    ResourceLeakDetector.setLevel(level);
    assertEquals(0, server.tensorBytes());
    assertEquals(0, server.requestsInFlight());
  }

  private LoadClient client() throws IOException {
    return new LoadClient(server.address());
  }

  private static byte[] image(int batch, long seed) {
    return LoadClient.request("small", SMALL, batch, seed);
  }

  private static JsonNode json(Answer answer) throws IOException {
    String length = answer.headers().get("inference-header-content-length");
    int bytes = length == null ? answer.body().remaining() : Integer.parseInt(length);
    return JSON.readTree(answer.body().array(), 0, bytes);
  }

  private static String header(String shape, String datatype, long bytes) {
    return "{\"id\":\"7\",\"inputs\":[{\"name\":\"image\",\"shape\":"
        + shape
        + ",\"datatype\":\""
        + datatype
        + "\",\"parameters\":{\"binary_data_size\":"
        + bytes
        + "}}],\"outputs\":[{\"name\":\"scores\",\"parameters\":{\"binary_data\":true}}]}";
  }

  @Test
  void shouldTellItsHealthAndItsModels() throws IOException {
    try (LoadClient client = client()) {
      assertEquals("{\"live\":true}", client.get("/v2/health/live").text());
      assertEquals("{\"ready\":true}", client.get("/v2/health/ready").text());
      assertEquals("{\"ready\":true}", client.get("/v2/models/small/ready").text());
      assertTrue(client.get("/v2").text().contains("binary_tensor_data"));
      JsonNode model = json(client.get("/v2/models/small/versions/1"));
      assertEquals("small", model.path("name").asText());
      assertEquals("[-1,3,32,32]", model.path("inputs").get(0).path("shape").toString());
      assertEquals("FP32", model.path("outputs").get(0).path("datatype").asText());
      assertEquals(404, client.get("/v2/models/none").status());
      assertEquals(404, client.get("/v3").status());
    }
  }

  @Test
  void shouldAnswerInBytesOrInJsonAsIsAskedFor() throws IOException {
    try (LoadClient client = client()) {
      Answer inBytes = client.send(image(2, 1));
      assertEquals("small", json(inBytes).path("model_name").asText());
      JsonNode output = json(inBytes).path("outputs").get(0);
      assertEquals("[2,10]", output.path("shape").toString());
      assertEquals(80, output.path("parameters").path("binary_data_size").asInt());
      byte[] request = image(2, 1);
      String asJson =
          new String(request, StandardCharsets.ISO_8859_1)
              .replace("output\":true", "output\":null");
      Answer inJson = client.send(asJson.getBytes(StandardCharsets.ISO_8859_1));
      JsonNode data = json(inJson).path("outputs").get(0).path("data");
      ByteBuffer bytes = ByteBuffer.wrap(LoadRun.elements(inBytes)).order(ByteOrder.LITTLE_ENDIAN);
      assertEquals(20, data.size());
      for (JsonNode score : data) {
        assertEquals(bytes.getFloat(), score.floatValue());
      }
    }
  }

  @Test
  void shouldReadElementsFromJsonToo() throws IOException {
    String data =
        IntStream.range(0, SMALL.imageBytes() / 4)
            .mapToObj(i -> i % 32 == 0 ? "0.5" : "1.0")
            .collect(Collectors.joining(","));
    String json =
        "{\"inputs\":[{\"name\":\"image\",\"shape\":[1,3,32,32],\"datatype\":\"FP32\",\"data\":[["
            + data
            + "]]}]}";
    String request =
        "POST /v2/models/small/infer HTTP/1.1\r\nHost: x\r\nContent-Length: "
            + json.length()
            + "\r\n\r\n"
            + json;
    try (LoadClient client = client()) {
      Answer answer = client.send(request.getBytes(StandardCharsets.UTF_8));
      assertEquals(10, json(answer).path("outputs").get(0).path("data").size(), answer.text());
      // As a header in front of no bytes it is the same.
      String withLength =
          request.replace(
              "Host: x", "Host: x\r\nInference-Header-Content-Length: " + json.length());
      Answer same = client.send(withLength.getBytes(StandardCharsets.UTF_8));
      assertEquals(answer.text(), same.text());
      String tooMany = request.replace("[1,3,32,32]", "[1,3,32,31]");
      assertEquals(400, client.send(tooMany.getBytes(StandardCharsets.UTF_8)).status());
      String noNumber = request.replaceFirst("0[.]5", "\"a\"");
      Answer refused = client.send(noNumber.getBytes(StandardCharsets.UTF_8));
      assertEquals(400, refused.status());
      assertTrue(refused.text().contains("element 1 is \\\"a\\\""), refused.text());
      for (String tooLarge : List.of("1e999", "-1e999", "3.5e38", "1" + "0".repeat(400))) {
        String infinite = json.replaceFirst("1[.]0", tooLarge);
        byte[] sent =
            request
                .replace(json, infinite)
                .replace("Length: " + json.length(), "Length: " + infinite.length())
                .getBytes(StandardCharsets.UTF_8);
        Answer none = client.send(sent);
        assertEquals(400, none.status(), tooLarge);
        assertTrue(none.text().contains("element 2 is "), none.text());
        assertTrue(none.text().length() < 200, none.text());
      }
    }
  }

  @Test
  void shouldKeepTheOrderWhenRequestsAreSentAhead() throws IOException {
    byte[] first;
    byte[] second;
    try (LoadClient client = client()) {
      first = LoadRun.elements(client.send(image(1, 1)));
      second = LoadRun.elements(client.send(image(3, 2)));
      for (int i = 0; i < 5; i++) {
        client.write(image(1, 1));
        client.write(image(3, 2));
      }
      for (int i = 0; i < 5; i++) {
        assertArrayEquals(first, LoadRun.elements(client.read()));
        assertArrayEquals(second, LoadRun.elements(client.read()));
      }
    }
  }

  /** What is refused, and the words that say why. */
  private record Wrong(int status, String reason, Supplier<byte[]> request) {
    Wrong(int status, String reason, byte[] request) {
      this(status, reason, () -> request);
    }
  }

  private static List<Wrong> wrongRequests() {
    byte[] picture = new byte[SMALL.imageBytes()];
    String right = header("[1,3,32,32]", "FP32", SMALL.imageBytes());
    List<Wrong> wrong = new ArrayList<>();
    wrong.add(
        new Wrong(400, "dimension 3 is 32", post(header("[1,3,32,31]", "FP32", 11904), picture)));
    wrong.add(
        new Wrong(400, "it has 4 dimensions", post(header("[1,3,32]", "FP32", 384), picture)));
    wrong.add(
        new Wrong(
            400,
            "datatype is FP32, not INT32",
            post(header("[1,3,32,32]", "INT32", SMALL.imageBytes()), picture)));
    wrong.add(
        new Wrong(400, "has 12288 bytes, not 5", post(header("[1,3,32,32]", "FP32", 5), picture)));
    wrong.add(new Wrong(400, "no size from 1", post(header("[0,3,32,32]", "FP32", 0), picture)));
    wrong.add(
        new Wrong(
            413,
            "at most 1048576 bytes",
            post(header("[1000000000000,3,32,32]", "FP32", 5), picture)));
    wrong.add(
        new Wrong(413, "at most 1048576", post(header("[86,3,32,32]", "FP32", 1056768), picture)));
    wrong.add(new Wrong(400, "ends after 100 of 12288", post(right, new byte[100])));
    wrong.add(new Wrong(400, "2 or more bytes behind", post(right, new byte[12290])));
    wrong.add(new Wrong(400, "no JSON", post("{\"inputs\":[", picture)));
    wrong.add(new Wrong(400, "no JSON object", post("[]", picture)));
    wrong.add(new Wrong(400, "no array `inputs`", post("{}", picture)));
    wrong.add(new Wrong(400, "has no inputs", post("{\"inputs\":[]}", picture)));
    wrong.add(new Wrong(400, "no text `name`", post(right.replace("name", "nome"), picture)));
    wrong.add(new Wrong(400, "no input `imago`", post(right.replace("image", "imago"), picture)));
    wrong.add(new Wrong(400, "no output `score`", post(right.replace("scores", "score"), picture)));
    wrong.add(new Wrong(400, "is no count", post(right.replace(":12288", ":\"many\""), picture)));
    wrong.add(new Wrong(400, "is no count", post(right.replace(":12288", ":12288.5"), picture)));
    for (String path :
        List.of(
            "/a/b/small/infer",
            "/v2/b/small/infer",
            "/a/models/small/infer",
            "//models/small/infer",
            "/v2/versions/1/models/small/infer",
            "/v2/models/versions/1/small/infer",
            "/v2/models/small/infer/",
            "/infer",
            "/a")) {
      String request = new String(post(right, picture), StandardCharsets.ISO_8859_1);
      request = request.replaceFirst("/v2/models/small/infer", path);
      wrong.add(
          new Wrong(404, "there is nothing at", request.getBytes(StandardCharsets.ISO_8859_1)));
    }
    wrong.add(new Wrong(404, "no model `other`", LoadClient.post("other", right, picture)));
    wrong.add(
        new Wrong(
            405,
            "POST only",
            "GET /v2/models/small/infer HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.UTF_8)));
    wrong.add(
        new Wrong(
            405,
            "GET only",
            "POST /metrics HTTP/1.1\r\nContent-Length: 2\r\n\r\nno"
                .getBytes(StandardCharsets.UTF_8)));
    return wrong;
  }

  private static byte[] post(String json, byte[] elements) {
    return LoadClient.post("small", json, elements);
  }

  @Test
  void shouldSayWhyAndGoOnWhenARequestIsWrong() throws IOException {
    try (LoadClient client = client()) {
      byte[] expected = LoadRun.elements(client.send(image(1, 1)));
      for (Wrong wrong : wrongRequests()) {
        Answer answer = client.send(wrong.request.get());
        assertEquals(wrong.status, answer.status(), () -> wrong.reason + ": " + answer.text());
        assertTrue(answer.text().contains(wrong.reason), answer::text);
        assertEquals(0, server.tensorBytes(), wrong.reason);
        assertArrayEquals(expected, LoadRun.elements(client.send(image(1, 1))), wrong.reason);
      }
    }
  }

  @Test
  void shouldRefuseAtOnceAndReadOnWhenTheBodyIsTooLarge() throws IOException {
    int bytes = (int) LIMIT * 3;
    try (LoadClient client = client()) {
      Answer answer = client.send(post("{}", new byte[bytes]));
      assertEquals(413, answer.status());
      assertTrue(answer.text().contains("is over"), answer::text);
      assertEquals(200, client.get("/v2/health/live").status());
    }
  }

  @Test
  void shouldLoseNothingWhenTheClientGoesInTheMiddle() throws Exception {
    byte[] request = image(20, 1);
    for (int cut : new int[] {10, 150, 250, 5000, request.length - 1}) {
      try (LoadClient client = client()) {
        client.write(Arrays.copyOf(request, cut));
      }
    }
    awaitIdle();
    assertEquals(0, server.tensorBytes());
  }

  /** An answer is there a moment before what it was made of has gone back. */
  private void awaitIdle() {
    while (server.requestsInFlight() > 0) {
      Thread.onSpinWait();
    }
  }

  @Test
  void shouldCloseTheConnectionWhenWhatComesIsNoHttp() throws IOException {
    try (LoadClient client = client()) {
      Answer answer =
          client.send("small picture, please\r\n\r\n\r\n".getBytes(StandardCharsets.UTF_8));
      assertEquals(400, answer.status());
      assertThrows(EOFException.class, client::read);
    }
  }

  @Test
  void shouldShowWhatItCountsToPrometheus() throws IOException {
    try (LoadClient client = client()) {
      LoadRun.elements(client.send(image(1, 1)));
      client.send(post("{}", new byte[0]));
      String page = client.get("/metrics").text();
      for (String line :
          new String[] {
            "inference_responses_total{code=\"2xx\"} 1",
            "inference_responses_total{code=\"4xx\"} 1",
            "inference_seconds_count 1",
            "inference_requests_in_flight 0",
            "tensor_bytes_in_use 0",
            "prmalloc_planner_phase{phase=\"done\",pool=\"server\"} 0.0"
          }) {
        assertTrue(page.lines().anyMatch(line::equals), () -> line + " is not in\n" + page);
      }
      assertTrue(
          page.lines().allMatch(line -> line.matches("#.*|[a-z_]+([{].*[}])? ([0-9.E]+|NaN)")));
    }
  }

  @Test
  void shouldShowTheSameSeriesOfThePoolAsTheLibrarysMetrics() throws IOException {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    new PrmallocMetrics(server.memory().pool(), "server").bindTo(registry);
    try (LoadClient client = client()) {
      Set<String> shown = series(client.get("/metrics").text());
      assertEquals(series(registry.scrape()), shown);
      assertTrue(shown.contains("prmalloc_steps_total{kind=\"unplanned\",pool=\"server\"}"));
    }
  }

  private static Set<String> series(String page) {
    return page.lines()
        .filter(line -> line.startsWith("prmalloc_"))
        .map(line -> line.substring(0, line.lastIndexOf(' ')))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void shouldFinishTheRequestUnderWayWhenItIsClosed() throws Exception {
    byte[] request = image(40, 3);
    try (LoadClient client = client()) {
      byte[] expected = LoadRun.elements(client.send(request));
      awaitIdle();
      client.write(Arrays.copyOf(request, request.length - 1));
      while (server.bufferedBytes() == 0) {
        Thread.onSpinWait();
      }
      Thread closer = new Thread(server::close);
      closer.start();
      while (server.isReady()) {
        Thread.onSpinWait();
      }
      client.write(Arrays.copyOfRange(request, request.length - 1, request.length));
      assertArrayEquals(expected, LoadRun.elements(client.read()));
      closer.join();
    }
  }
}
