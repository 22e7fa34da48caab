package io.prmalloc.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A real {@code redis-server} on the loopback address that keeps nothing on disk.
 *
 * <p>Threading: one thread.
 */
public final class RedisServer implements AutoCloseable {

  private static final String COMMAND = "redis-server";

  /** Why tests are skipped. */
  public static final String NOT_INSTALLED =
      "redis-server is not installed; Debian: apt-get install redis-server";

  private final int port;
  private Process process;

  /** Starts it on a port that is free. */
  public RedisServer() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    start();
  }

  public static boolean isInstalled() {
    return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, COMMAND)));
  }

  /** Starts it again, with nothing in it. */
  public void start() throws IOException {
    process =
        new ProcessBuilder(
                COMMAND,
                "--port",
                Integer.toString(port),
                "--bind",
                InetAddress.getLoopbackAddress().getHostAddress(),
                "--save",
                "")
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    while (!isListening()) {
      if (!process.isAlive()) {
        throw new IOException("redis-server ended with " + process.exitValue());
      }
      pause();
    }
  }

  private boolean isListening() {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException notYet) {
      return false;
    }
  }

  private static void pause() {
    try {
      Thread.sleep(5);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  public String uri() {
    return "redis://127.0.0.1:" + port;
  }

  /** As if its machine had gone. */
  public void kill() {
    process.destroyForcibly();
    awaitEnd(process);
  }

  private static void awaitEnd(Process ending) {
    try {
      // Not onExit(): on 17 its task may be left lying in the JVM's common pool.
      ending.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Takes connections from now on, but answers nothing. */
  public void stop() {
    signal("STOP");
  }

  /** Answers again. */
  public void resume() {
    signal("CONT");
  }

  private void signal(String name) {
    try {
      awaitEnd(new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Has it do something. */
  public <T> T ask(Function<RedisCommands<String, String>, T> question) {
    RedisClient client = RedisClient.create(uri());
    try (StatefulRedisConnection<String, String> connection = client.connect()) {
      return question.apply(connection.sync());
    } finally {
      client.shutdown(0, 1, TimeUnit.SECONDS);
    }
  }

  @Override
  public void close() {
    kill();
  }
}
