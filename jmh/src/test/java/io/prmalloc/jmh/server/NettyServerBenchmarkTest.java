package io.prmalloc.jmh.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class NettyServerBenchmarkTest {

  private static final int LEAST_BYTES = 8;
  private static final int MOST_BYTES = 1 << 20;

  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);

  @ParameterizedTest
  @EnumSource(Gathering.class)
  void shouldAnswerWithTheSumOfEachBodyAndLoseNothing(Gathering gathering) throws IOException {
    ByteBufAllocator buffers = Buffers.PRMALLOC.open();
    Bodies bodies = new Bodies(MOST_BYTES);
    try (BodyServer server = new BodyServer(buffers, gathering, 2);
        Clients clients = new Clients(server.port(), 3, bodies, LEAST_BYTES, MOST_BYTES)) {
      while (clients.answers() < 30) {
        clients.check();
        Thread.onSpinWait();
      }
    }
    assertEquals(0, ((ByteBufAllocatorMetricProvider) buffers).metric().usedDirectMemory());
  }

  @Test
  void shouldLookOnceMoreWhereEightBytesMoreOfAPageAreThere() {
    Bodies bodies = new Bodies(MOST_BYTES);
    assertEquals(bodies.body(LEAST_BYTES).order(ByteOrder.LITTLE_ENDIAN).getLong(), bodies.sum(8));
    assertEquals(bodies.sum(8), bodies.sum(Bodies.LOOK_BYTES + 7));
    assertEquals(
        bodies.sum(8)
            + bodies.body(MOST_BYTES).order(ByteOrder.LITTLE_ENDIAN).getLong(Bodies.LOOK_BYTES),
        bodies.sum(Bodies.LOOK_BYTES + 8));
  }

  @Test
  void shouldPrintARowForEachAllocatorWhenItOnlySmokes() {
    NettyServerBenchmark.of(List.of("--smoke", "--least", "1", "--most", "4"), out).run();

    String table = said.toString(StandardCharsets.UTF_8);
    for (Buffers buffers : Buffers.values()) {
      assertTrue(table.contains("| " + buffers.label() + " |"), table);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--rounds",
        "--rounds 0",
        "--buffers MALLOC",
        "--gathering ALL",
        "--least 5 --most 4",
        "--most 513"
      })
  void shouldNameTheArgumentWhenItIsNotUnderstood(String arguments) {
    List<String> words = List.of(arguments.split(" ", -1));
    String message =
        assertThrows(IllegalArgumentException.class, () -> NettyServerBenchmark.of(words, out))
            .getMessage();
    assertTrue(message.contains(words.get(words.size() - 1)), message);
  }
}
