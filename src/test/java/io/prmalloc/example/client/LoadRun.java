package io.prmalloc.example.client;

import io.prmalloc.example.client.LoadClient.Answer;
import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * A number of requests over a number of connections, each with one request under way; bounded in
 * count and time.
 *
 * @param requests answered
 * @param nanos from the first request to the last answer
 * @param latencies of all requests, in nanoseconds
 */
public record LoadRun(long requests, long nanos, Histogram latencies) {

  private static final int DIGITS = 3;
  private static final long MAX_NANOS = 60_000_000_000L;

  /** What is sent, and what must come back. Threading: any thread. */
  interface Traffic {

    /** Sends a request and reads its answer. */
    Answer exchange(LoadClient client, long number) throws IOException;

    /**
     * Looks at an answer.
     *
     * @throws IOException if it is another than expected
     */
    void check(long number, Answer answer) throws IOException;
  }

  /**
   * What is sent, by every connection, and the elements that must come back.
   *
   * <p>Threading: the arrays are not written.
   */
  static final class Load implements Traffic {
    private final byte[] request;
    private final byte[] expected;

    Load(byte[] request, byte[] expected) {
      this.request = request;
      this.expected = expected;
    }

    /** A load whose expected answer is the first one. */
    public static Load of(URI server, byte[] request) throws IOException {
      try (LoadClient client = new LoadClient(server)) {
        return new Load(request, elements(client.send(request)));
      }
    }

    byte[] expected() {
      return expected.clone();
    }

    @Override
    public Answer exchange(LoadClient client, long number) throws IOException {
      return client.send(request);
    }

    @Override
    public void check(long number, Answer answer) throws IOException {
      if (!Arrays.equals(expected, elements(answer))) {
        throw new IOException("an answer has other elements than the first");
      }
    }
  }

  /** The bytes behind an answer's JSON. */
  public static byte[] elements(Answer answer) throws IOException {
    if (answer.status() != 200) {
      throw new IOException("status " + answer.status() + ": " + answer.text());
    }
    int json = Integer.parseInt(answer.headers().get("inference-header-content-length"));
    byte[] elements = new byte[answer.body().remaining() - json];
    answer.body().get(json, elements);
    return elements;
  }

  /**
   * Sends requests until there were so many, or the time is up.
   *
   * @throws IOException if one fails, or its answer is another than expected
   */
  public static LoadRun of(URI server, Traffic load, int connections, long requests, long seconds)
      throws IOException, InterruptedException {
    Histogram latencies = new ConcurrentHistogram(MAX_NANOS, DIGITS);
    AtomicLong next = new AtomicLong();
    AtomicReference<IOException> failure = new AtomicReference<>();
    long begin = System.nanoTime();
    long deadline = begin + seconds * 1_000_000_000L;
    Thread[] threads = new Thread[connections];
    for (int i = 0; i < connections; i++) {
      threads[i] =
          new Thread(
              () -> {
                try (LoadClient client = new LoadClient(server)) {
                  long number = next.getAndIncrement();
                  while (number < requests && System.nanoTime() < deadline) {
                    exchange(client, load, number, latencies);
                    number = next.getAndIncrement();
                  }
                } catch (IOException e) {
                  failure.set(e);
                }
              });
      threads[i].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw failure.get();
    }
    return new LoadRun(latencies.getTotalCount(), System.nanoTime() - begin, latencies);
  }

  private static void exchange(LoadClient client, Traffic load, long number, Histogram latencies)
      throws IOException {
    long sent = System.nanoTime();
    Answer answer = load.exchange(client, number);
    latencies.recordValue(Math.min(System.nanoTime() - sent, MAX_NANOS));
    load.check(number, answer);
  }
}
