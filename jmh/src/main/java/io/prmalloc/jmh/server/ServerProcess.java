package io.prmalloc.jmh.server;

import io.prmalloc.jmh.ChildJava;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/**
 * A server in a JVM of its own, so that its memory can be measured by itself.
 *
 * <p>Threading: one thread.
 */
final class ServerProcess implements AutoCloseable {

  private static final int HEAP_MEBIBYTES = 128;

  /**
   * What a server has used since it started.
   *
   * @param cpuMillis processor time
   * @param faults minor page faults
   * @param residentBytes what it has in memory now
   * @param peakBytes the most that it had
   * @param directBytes what its allocator counts of direct memory
   */
  record Usage(long cpuMillis, long faults, long residentBytes, long peakBytes, long directBytes) {}

  private final Process process;
  private final BufferedReader output;
  private final Writer input;
  private final int port;

  /**
   * Starts a server, and waits until it listens.
   *
   * @param threads event loops, from 1
   * @throws IOException if it does not listen
   */
  public ServerProcess(Buffers buffers, Gathering gathering, int threads) throws IOException {
    process =
        new ProcessBuilder(command(buffers, gathering, threads))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    output = process.inputReader(StandardCharsets.US_ASCII);
    input = process.outputWriter(StandardCharsets.US_ASCII);
    try {
      port = Integer.parseInt(line());
    } catch (Throwable e) {
      process.destroyForcibly();
      throw e;
    }
  }

  private static List<String> command(Buffers buffers, Gathering gathering, int threads) {
    List<String> command =
        ChildJava.command(ServerMain.class, HEAP_MEBIBYTES, "-XX:MaxDirectMemorySize=2g");
    command.addAll(List.of(buffers.name(), gathering.name(), Integer.toString(threads)));
    return command;
  }

  private String line() throws IOException {
    String line = output.readLine();
    if (line == null) {
      throw new IOException("the server has ended");
    }
    return line;
  }

  int port() {
    return port;
  }

  /**
   * Asks what it has used.
   *
   * @throws IOException if it has ended
   */
  Usage usage() throws IOException {
    input.write("?\n");
    input.flush();
    String[] said = line().split(" ", -1);
    long[] numbers = new long[said.length];
    for (int i = 0; i < said.length; i++) {
      numbers[i] = Long.parseLong(said[i]);
    }
    return new Usage(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
  }

  /** Tells it to end, and waits until it has. */
  @Override
  public void close() throws IOException {
    try {
      input.close();
      int exitCode = process.waitFor();
      if (exitCode != 0) {
        throw new IOException(String.format(Locale.ROOT, "the server ended with %d", exitCode));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      process.destroyForcibly();
    }
  }
}
