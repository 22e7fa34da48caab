package io.prmalloc.example;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.util.ResourceLeakDetector;
import io.prmalloc.djl.OrtEngine;
import io.prmalloc.example.client.LoadClient;
import io.prmalloc.example.client.LoadClient.Answer;
import io.prmalloc.example.client.LoadRun;
import io.prmalloc.example.model.SampleNetwork;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Clients that stop at each stage of a request, and clients that exceed a limit: the memory that
 * they held goes back, and other clients are served.
 */
class StoppingClientsTest {

  private static final long LIMIT = 1 << 20;
  private static final int PICTURES = 80;
  private static final Duration SHORT = Duration.ofMillis(100);
  private static final Duration LONG = Duration.ofHours(1);
  private static final ServerTimeouts PATIENT = new ServerTimeouts(LONG, LONG, LONG, LONG);
  private static final byte[] REQUEST =
      LoadClient.request("small", SampleNetwork.SMALL, PICTURES, 1);
  private static final byte[] SMALL_REQUEST =
      LoadClient.request("small", SampleNetwork.SMALL, 1, 2);
  private static final int IMAGE_BYTES = PICTURES * SampleNetwork.SMALL.imageBytes();

  private final ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();
  private InferenceServer server;

  @BeforeAll
  static void loadFirst() {
    OrtEngine.load();
  }

  @BeforeEach
  void watchForLeaks() {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
  }

  /** Closing the server closes the pool, which refuses if anything is out. */
  @AfterEach
  void stop() {
    server.close();
    ResourceLeakDetector.setLevel(level);
  }

  private void start(ServerTimeouts timeouts) throws Exception {
    start(new ServerLimits(64, LIMIT, 32 * LIMIT, timeouts));
  }

  private void start(ServerLimits limits) throws Exception {
    server = new InferenceServer(new ServerOptions(MemoryKind.POOL, 0, 2, limits));
  }

  private LoadClient client() throws IOException {
    return new LoadClient(server.address());
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Where the body of {@link #REQUEST} begins. */
  private static int headBytes(byte[] request) {
    return new String(request, StandardCharsets.ISO_8859_1).indexOf("\r\n\r\n") + 4;
  }

  private static void await(BooleanSupplier event) throws InterruptedException {
    while (!event.getAsBoolean()) {
      Thread.sleep(1);
    }
  }

  private long poolBytes() {
    return server.memory().pool().stats().bytesInUse();
  }

  /**
   * Has the server serve a client, and waits until it has nothing left of anybody. It accepts that
   * client after all before, of which one that closed at once may not have been accepted yet.
   */
  private void assertAllIsBackAndOthersAreServed() throws Exception {
    assertEquals(200, served().status());
    await(() -> server.connections() == 0 && server.requestsInFlight() == 0);
    await(() -> server.busyWorkers() == 0 && poolBytes() == 0);
    await(() -> server.bufferedBytes() == 0 && server.tensorBytes() == 0);
  }

  /** An answer to a whole request. A timeout that is short may hit any client: it tries again. */
  private Answer served() throws IOException {
    while (true) {
      try (LoadClient good = client()) {
        Answer answer = good.send(SMALL_REQUEST);
        if (answer.status() != 408) {
          return answer;
        }
      } catch (InterruptedIOException stuck) {
        throw stuck;
      } catch (IOException timedOut) {
        // as a client does
      }
    }
  }

  /** Waits until the server has closed the connection, whatever it says before. */
  private static void assertEnds(LoadClient client) {
    IOException end =
        assertThrows(
            IOException.class,
            () -> {
              while (true) {
                client.read();
              }
            });
    assertFalse(end instanceof InterruptedIOException, end::toString);
  }

  /** Has a client send a part of a request and stop. */
  private void assertTimesOut(byte[] part, String what) throws Exception {
    try (LoadClient client = client()) {
      client.write(part);
      Answer answer = client.read();
      assertEquals(408, answer.status());
      assertEquals("close", answer.headers().get("connection"));
      assertTrue(answer.text().contains("the request's " + what), answer::text);
      assertEnds(client);
    }
    assertAllIsBackAndOthersAreServed();
  }

  @Test
  void shouldCloseWhenTheClientSaysNothing() throws Exception {
    start(new ServerTimeouts(SHORT, LONG, LONG, LONG));
    try (LoadClient client = client()) {
      assertEnds(client);
    }
    assertAllIsBackAndOthersAreServed();
  }

  @Test
  void shouldCloseWhenTheClientSaysNothingMore() throws Exception {
    start(new ServerTimeouts(SHORT, LONG, LONG, LONG));
    try (LoadClient client = client()) {
      client.write(SMALL_REQUEST);
      assertEnds(client);
    }
    assertAllIsBackAndOthersAreServed();
  }

  @Test
  void shouldTimeOutWhenTheClientStopsWithinTheRequestLine() throws Exception {
    start(new ServerTimeouts(LONG, SHORT, LONG, LONG));
    assertTimesOut(Arrays.copyOf(REQUEST, 12), "head");
  }

  @Test
  void shouldTimeOutWhenTheClientStopsWithinTheHeaders() throws Exception {
    start(new ServerTimeouts(LONG, SHORT, LONG, LONG));
    assertTimesOut(Arrays.copyOf(REQUEST, headBytes(REQUEST) - 20), "head");
  }

  @Test
  void shouldTimeOutWhenTheClientStopsBehindTheHeaders() throws Exception {
    start(new ServerTimeouts(LONG, LONG, SHORT, LONG));
    assertTimesOut(Arrays.copyOf(REQUEST, headBytes(REQUEST)), "body");
  }

  @Test
  void shouldTimeOutWhenTheClientStopsWithinTheJson() throws Exception {
    start(new ServerTimeouts(LONG, LONG, SHORT, LONG));
    assertTimesOut(Arrays.copyOf(REQUEST, headBytes(REQUEST) + 20), "body");
  }

  @Test
  void shouldTimeOutWhenTheClientStopsWithinTheBody() throws Exception {
    start(new ServerTimeouts(LONG, LONG, SHORT, LONG));
    assertTimesOut(Arrays.copyOf(REQUEST, REQUEST.length / 2), "body");
  }

  @Test
  void shouldTimeOutWhenTheClientSendsAByteNowAndThen() throws Exception {
    start(new ServerTimeouts(LONG, SHORT, LONG, LONG));
    assertTimesOutOf("head", "GET /v2 HTTP/1.1\r\nX: ", 2000);
    server.close();
    start(new ServerTimeouts(LONG, LONG, SHORT, LONG));
    assertTimesOutOf("body", "POST /metrics HTTP/1.1\r\nContent-Length: 7000\r\n\r\n", 0);
    server.close();
    start(new ServerTimeouts(LONG, LONG, SHORT, LONG));
    assertTimesOutOf(
        "body", "POST /v2/models/small/infer HTTP/1.1\r\nContent-Length: 2000\r\n\r\n", 2000);
  }

  /**
   * Sends a byte each millisecond until the server has had enough. It has 0 bytes to go where it
   * was answered before.
   */
  private void assertTimesOutOf(String what, String begin, int bytes) throws Exception {
    try (LoadClient client = client()) {
      client.write(ascii(begin));
      if (bytes == 0) {
        assertEquals(405, client.read().status());
        assertThrows(IOException.class, () -> sendSlowly(client, Integer.MAX_VALUE));
      } else {
        Thread sender = new Thread(() -> sendUntilRefused(client, bytes));
        sender.start();
        Answer answer = client.read();
        assertEquals(408, answer.status());
        assertTrue(answer.text().contains("the request's " + what), answer::text);
        sender.join();
      }
    }
    assertAllIsBackAndOthersAreServed();
  }

  private static void sendUntilRefused(LoadClient client, int bytes) {
    try {
      sendSlowly(client, bytes);
    } catch (IOException | InterruptedException closed) {
      // which is what it is for
    }
  }

  private static void sendSlowly(LoadClient client, int bytes)
      throws IOException, InterruptedException {
    for (int i = 0; i < bytes; i++) {
      client.write(new byte[] {'a'});
      Thread.sleep(1);
    }
  }

  @Test
  void shouldCloseWhenTheClientDoesNotReadItsAnswers() throws Exception {
    start(new ServerTimeouts(LONG, LONG, LONG, SHORT));
    // The answer has the request's name, and a few of these are more than sockets hold.
    String text = new String(SMALL_REQUEST, StandardCharsets.ISO_8859_1);
    int head = headBytes(SMALL_REQUEST);
    String json = text.substring(head, text.length() - SampleNetwork.SMALL.imageBytes());
    byte[] named =
        LoadClient.post(
            "small",
            json.replaceFirst("[{]", "{\"id\":\"" + "n".repeat(1_000_000) + "\","),
            new byte[SampleNetwork.SMALL.imageBytes()]);
    try (LoadClient client = client()) {
      assertThrows(
          IOException.class,
          () -> {
            while (true) {
              client.write(named);
            }
          });
    }
    assertAllIsBackAndOthersAreServed();
  }

  @Test
  void shouldLoseNothingWhenTheClientClosesAtAnyStage() throws Exception {
    start(PATIENT);
    int head = headBytes(REQUEST);
    for (int sent :
        new int[] {0, 12, head - 20, head, head + 20, REQUEST.length / 2, REQUEST.length}) {
      try (LoadClient client = client()) {
        client.write(Arrays.copyOf(REQUEST, sent));
      }
      assertAllIsBackAndOthersAreServed();
    }
  }

  @Test
  void shouldTakeMemoryOnlyAsBytesArrive() throws Exception {
    start(PATIENT);
    int sent = REQUEST.length - IMAGE_BYTES + 1;
    List<LoadClient> clients = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      LoadClient client = client();
      clients.add(client);
      client.write(Arrays.copyOf(REQUEST, sent));
    }
    await(() -> server.bufferedBytes() == 12L * BodyBuffer.PIECE_BYTES);
    assertEquals(0, server.tensorBytes());
    assertTrue(poolBytes() <= 12L * 2 * BodyBuffer.PIECE_BYTES, () -> poolBytes() + " bytes");

    int half = IMAGE_BYTES / 2;
    clients.get(0).write(Arrays.copyOfRange(REQUEST, sent, sent + half));
    long most = half + 13L * BodyBuffer.PIECE_BYTES;
    await(() -> server.bufferedBytes() > half + 11L * BodyBuffer.PIECE_BYTES);
    assertTrue(server.bufferedBytes() <= most, () -> server.bufferedBytes() + " bytes");
    assertEquals(0, server.tensorBytes());

    clients.get(0).write(Arrays.copyOfRange(REQUEST, sent + half, REQUEST.length));
    assertEquals(200, clients.get(0).read().status());
    for (LoadClient client : clients) {
      client.close();
    }
    assertAllIsBackAndOthersAreServed();
  }

  @Test
  void shouldRefuseWhenRequestsHoldAllThatTheyMayTogether() throws Exception {
    start(new ServerLimits(64, LIMIT, LIMIT + ServerLimits.MAX_JSON_BYTES, PATIENT));
    int sent = REQUEST.length - 1;
    try (LoadClient first = client();
        LoadClient second = client();
        LoadClient third = client()) {
      first.write(Arrays.copyOf(REQUEST, sent));
      await(() -> server.bufferedBytes() >= IMAGE_BYTES - 1);
      second.write(Arrays.copyOf(REQUEST, sent));
      await(() -> server.bufferedBytes() >= 2L * (IMAGE_BYTES - 1));
      Answer refused = third.send(REQUEST);
      assertEquals(503, refused.status());
      assertTrue(refused.text().contains("hold all of 2097152 bytes"), refused::text);

      first.write(Arrays.copyOfRange(REQUEST, sent, REQUEST.length));
      assertEquals(200, first.read().status());
      await(() -> server.bufferedBytes() <= IMAGE_BYTES + BodyBuffer.PIECE_BYTES);
      assertEquals(200, third.send(REQUEST).status());
    }
    assertAllIsBackAndOthersAreServed();
  }

  @Test
  void shouldRefuseOneConnectionMoreThanThereMayBe() throws Exception {
    start(new ServerLimits(2, LIMIT, 32 * LIMIT, PATIENT));
    LoadClient first = client();
    try (LoadClient second = client()) {
      byte[] expected = LoadRun.elements(first.send(SMALL_REQUEST));
      assertArrayEquals(expected, LoadRun.elements(second.send(SMALL_REQUEST)));
      try (LoadClient third = client()) {
        Answer refused = third.read();
        assertEquals(503, refused.status());
        assertTrue(refused.text().contains("more than 2 connections"), refused::text);
        assertEnds(third);
      }
      assertArrayEquals(expected, LoadRun.elements(second.send(SMALL_REQUEST)));
      first.close();
      await(() -> server.connections() == 1);
      try (LoadClient third = client()) {
        assertArrayEquals(expected, LoadRun.elements(third.send(SMALL_REQUEST)));
      }
    }
    assertAllIsBackAndOthersAreServed();
  }

  private static byte[] head(String line, String... headers) {
    return ascii(line + " HTTP/1.1\r\n" + String.join("\r\n", headers) + "\r\n\r\n");
  }

  @Test
  void shouldRefuseAtOnceWhenTheHeadSaysThatTheBodyIsTooLarge() throws Exception {
    start(PATIENT);
    String infer = "POST /v2/models/small/infer";
    String json = "Inference-Header-Content-Length: 100";
    try (LoadClient client = client()) {
      Answer answer = client.send(head(infer, json, "Content-Length: 3000000"));
      assertEquals(413, answer.status());
      assertTrue(answer.text().contains("3000000 is over 2097152"), answer::text);
      client.write(new byte[3_000_000]);
      assertEquals(200, client.send(SMALL_REQUEST).status());
      assertEquals(413, client.send(head(infer, "Content-Length: 1048577")).status());
      client.write(new byte[1048577]);
      assertEquals(200, client.send(SMALL_REQUEST).status());
    }
    // More than is worth reading to its end.
    try (LoadClient client = client()) {
      Answer answer = client.send(head(infer, json, "Content-Length: 3000000000"));
      assertEquals(413, answer.status());
      assertEquals("close", answer.headers().get("connection"));
      assertEnds(client);
    }
    // A client that asks first does not send it.
    try (LoadClient client = client()) {
      Answer answer =
          client.send(head(infer, json, "Content-Length: 3000000", "Expect: 100-continue"));
      assertEquals(413, answer.status());
      assertEquals("close", answer.headers().get("connection"));
      assertEnds(client);
    }
    assertAllIsBackAndOthersAreServed();
  }

  @Test
  void shouldRefuseAtOnceWhenTheJsonIsWrong() throws Exception {
    start(PATIENT);
    byte[] request =
        new String(REQUEST, StandardCharsets.ISO_8859_1)
            .replace("FP32", "FP64")
            .getBytes(StandardCharsets.ISO_8859_1);
    int sent = request.length - IMAGE_BYTES;
    try (LoadClient client = client()) {
      Answer answer = client.send(Arrays.copyOf(request, sent));
      assertEquals(400, answer.status());
      assertTrue(answer.text().contains("datatype is FP32, not FP64"), answer::text);
      client.write(Arrays.copyOfRange(request, sent, request.length));
      assertEquals(200, client.send(SMALL_REQUEST).status());
    }
    assertAllIsBackAndOthersAreServed();
  }

  @Test
  void shouldRefuseALineOrHeadersThatAreTooLong() throws Exception {
    start(PATIENT);
    try (LoadClient client = client()) {
      assertEquals(414, client.send(head("GET /" + "v".repeat(4096))).status());
      assertEnds(client);
    }
    try (LoadClient client = client()) {
      String much = "X: " + "x".repeat(3000);
      assertEquals(431, client.send(head("GET /v2", much, much, much)).status());
      assertEnds(client);
    }
    assertAllIsBackAndOthersAreServed();
  }

  @Test
  void shouldReadTinyChunksThatWereSentAhead() throws Exception {
    start(PATIENT);
    StringBuilder chunked =
        new StringBuilder(
            "POST /v2/models/small/infer HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 12_000; i++) {
      chunked.append("1\r\n \r\n");
    }
    chunked.append("0\r\n\r\n");
    byte[] two = Arrays.copyOf(SMALL_REQUEST, SMALL_REQUEST.length + chunked.length());
    System.arraycopy(ascii(chunked.toString()), 0, two, SMALL_REQUEST.length, chunked.length());
    try (LoadClient client = client()) {
      // Netty reads as much at a time as came before.
      assertEquals(200, client.send(REQUEST).status());
      client.write(two);
      assertEquals(200, client.read().status());
      Answer answer = client.read();
      assertEquals(400, answer.status());
      assertTrue(answer.text().contains("no JSON object"), answer::text);
      assertEquals(200, client.send(SMALL_REQUEST).status());
    }
    assertAllIsBackAndOthersAreServed();
  }
}
