package io.prmalloc.jmh.server;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;

/**
 * Connections to a server with one request under way each, until they are closed. Sizes of bodies
 * are drawn from a seed, the same for every server.
 *
 * <p>Threading: the methods from one thread.
 */
final class Clients implements AutoCloseable {

  private static final long SEED = 42;

  private final ExecutorService threads;
  private final List<Future<?>> running = new ArrayList<>();
  private final LongAdder answers = new LongAdder();
  private volatile boolean ending;

  /**
   * Begins at once.
   *
   * @param port of a server on this machine
   * @param leastBytes of a body, from 8
   * @param mostBytes of a body, at most what {@code bodies} have
   */
  Clients(int port, int connections, Bodies bodies, int leastBytes, int mostBytes) {
    threads = Executors.newFixedThreadPool(connections);
    for (int i = 0; i < connections; i++) {
      SplittableRandom sizes = new SplittableRandom(SEED + i);
      running.add(
          threads.submit(
              () -> {
                run(port, bodies, sizes, leastBytes, mostBytes);
                return null;
              }));
    }
  }

  private void run(int port, Bodies bodies, SplittableRandom sizes, int leastBytes, int mostBytes)
      throws IOException {
    ByteBuffer answer = ByteBuffer.allocateDirect(1024);
    try (SocketChannel connection =
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
      while (!ending) {
        int size = sizes.nextInt(leastBytes, mostBytes + 1);
        send(connection, head(size), bodies.body(size));
        long sum = receive(connection, answer);
        if (sum != bodies.sum(size)) {
          throw new IOException("a body of " + size + " bytes did not arrive as it was sent");
        }
        answers.increment();
      }
    }
  }

  private static ByteBuffer head(int bodyBytes) {
    String head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + bodyBytes + "\r\n\r\n";
    return ByteBuffer.wrap(head.getBytes(StandardCharsets.US_ASCII));
  }

  private static void send(SocketChannel connection, ByteBuffer head, ByteBuffer body)
      throws IOException {
    ByteBuffer[] parts = {head, body};
    while (body.hasRemaining()) {
      connection.write(parts);
    }
  }

  /** The number behind the head of an answer. */
  private static long receive(SocketChannel connection, ByteBuffer answer) throws IOException {
    answer.clear();
    int end = -1;
    while (end < 0) {
      if (connection.read(answer) < 0) {
        throw new EOFException("the server has closed the connection");
      }
      end = end(answer);
    }
    return answer.getLong(end);
  }

  /** Where the body of an answer that is all there begins, or −1. */
  private static int end(ByteBuffer answer) {
    for (int at = 4; at + BodyServer.ANSWER_BYTES <= answer.position(); at++) {
      if (answer.getInt(at - 4) == 0x0D0A0D0A) {
        return at;
      }
    }
    return -1;
  }

  /** Answers so far. */
  long answers() {
    return answers.sum();
  }

  /**
   * Whether all still ask.
   *
   * @throws IOException if one has failed
   */
  void check() throws IOException {
    for (Future<?> client : running) {
      if (client.isDone()) {
        await(client);
      }
    }
  }

  /**
   * Lets requests under way end, and waits for them.
   *
   * @throws IOException if one has failed
   */
  @Override
  public void close() throws IOException {
    ending = true;
    threads.shutdown();
    for (Future<?> client : running) {
      await(client);
    }
  }

  private static void await(Future<?> client) throws IOException {
    try {
      client.get();
    } catch (ExecutionException e) {
      throw new IOException("a client failed: " + e.getCause().getMessage(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
