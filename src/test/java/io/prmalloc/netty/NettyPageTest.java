package io.prmalloc.netty;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.util.ResourceLeakDetector;
import io.prmalloc.PageCode;
import io.prmalloc.pool.TensorPoolAllocator;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The code on the page {@code docs/netty.md}, under Netty's strictest leak detection. */
class NettyPageTest {

  private static final long SEED = 20_261_121;

  private final ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();

  @BeforeEach
  void watchEveryBuffer() {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
  }

  @AfterEach
  void watchAsBefore() {
    ResourceLeakDetector.setLevel(level);
  }

  @Test
  void shouldShowThisCodeWhenThePageIsRead() throws Exception {
    PageCode.check("netty.md", NettyPageTest.class, EchoServer.class, NettyStepsTest.class);
  }

  @Test
  void shouldTakeBuffersFromThePool() {
    byte[] request = new byte[100];
    // page
    TensorPoolAllocator pool = TensorPoolAllocator.builder().build();
    PrmallocByteBufAllocator buffers = new PrmallocByteBufAllocator(pool);

    ByteBuf buffer = buffers.buffer(16); // direct, from the pool
    buffer.writeBytes(request); // grows
    buffer.release(); // back to the pool
    // end of page
    assertEquals(0, buffers.metric().usedDirectMemory());
    pool.close();
  }

  @Test
  @SuppressWarnings("try") // a step is there to be closed
  void shouldEchoAndLoseNothingWhenAServerRunsOnThePool() throws Exception {
    Random random = new Random(SEED);
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder().startStatisticStep(2).executor(Runnable::run).build();
    PrmallocByteBufAllocator buffers = new PrmallocByteBufAllocator(pool);
    try (EchoServer server = new EchoServer(buffers, 1)) {
      HttpClient client = HttpClient.newHttpClient();
      for (int i = 0; i < 60; i++) {
        byte[] body = new byte[i % 3 == 0 ? 3 << 20 : random.nextInt(100_000)];
        random.nextBytes(body);
        try (AutoCloseable step = pool.collect()) {
          HttpResponse<byte[]> answer =
              client.send(
                  HttpRequest.newBuilder(server.address())
                      .POST(BodyPublishers.ofByteArray(body))
                      .build(),
                  BodyHandlers.ofByteArray());
          assertEquals(200, answer.statusCode());
          assertArrayEquals(body, answer.body(), "request " + i + " of seed " + SEED);
        }
      }
      assertTrue(pool.stats().numAllocs() > 60, "the server did not use the pool");
    }
    assertEquals(0, buffers.metric().usedDirectMemory());
    pool.close();
  }

  @Test
  void shouldEchoBodiesOfManyReadsWholeWhenNobodyOpensSteps() throws Exception {
    Random random = new Random(SEED);
    TensorPoolAllocator pool = TensorPoolAllocator.builder().build();
    PrmallocByteBufAllocator buffers = new PrmallocByteBufAllocator(pool);
    try (EchoServer server = new EchoServer(buffers, 2)) {
      HttpClient client = HttpClient.newHttpClient();
      for (int round = 0; round < 2; round++) {
        List<byte[]> bodies = new ArrayList<>();
        List<CompletableFuture<HttpResponse<byte[]>>> answers = new ArrayList<>();
        for (int connection = 0; connection < 3; connection++) {
          byte[] body = new byte[(4 << 20) + random.nextInt(4 << 20)];
          random.nextBytes(body);
          bodies.add(body);
          answers.add(
              client.sendAsync(
                  HttpRequest.newBuilder(server.address())
                      .POST(BodyPublishers.ofByteArray(body))
                      .build(),
                  BodyHandlers.ofByteArray()));
        }
        for (int i = 0; i < bodies.size(); i++) {
          assertArrayEquals(
              bodies.get(i),
              answers.get(i).join().body(),
              "body " + i + " of round " + round + " of seed " + SEED);
        }
      }
      assertTrue(pool.stats().largestAllocSize() > 4 << 20, () -> pool.stats().toString());
    }
    assertEquals(0, buffers.metric().usedDirectMemory());
    assertEquals(0, pool.stats().bytesInUse());
    pool.close();
  }
}
