package io.prmalloc.example.client;

import io.prmalloc.example.MemoryKind;
import io.prmalloc.example.ServerMain;
import io.prmalloc.example.ServerOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A server in a JVM of its own, so that its memory, page faults and collections can be measured
 * apart from the client's.
 *
 * <p>Threading: one thread.
 */
public final class ServerProcess implements AutoCloseable {

  /** Flags of a heap that is there sooner, where nobody looks at the server's memory. */
  public static final List<String> SMALL_HEAP = List.of("-Xms64m", "-Xmx64m");

  private static final int PATIENCE_SECONDS = 60;

  /** Flags that the server has if this JVM has them: tests run so, for they start sooner. */
  private static final Set<String> JIT_AND_COLLECTOR =
      Set.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  private final Process process;
  private final BufferedReader output;
  private final URI address;

  public ServerProcess(MemoryKind memory, int workers) throws IOException {
    this(memory, workers, List.of());
  }

  /**
   * @param more options of {@link ServerMain}, system properties, and -X flags of the JVM
   */
  public ServerProcess(MemoryKind memory, int workers, List<String> more) throws IOException {
    this(memory, workers, more, null);
  }

  /**
   * @param planStore where the server shares its plans, or null for nowhere
   */
  public ServerProcess(MemoryKind memory, int workers, List<String> more, String planStore)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // A heap that is all there from the start: page faults are those of other memory then.
    command.addAll(List.of("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch"));
    command.addAll(
        List.of("-XX:MaxDirectMemorySize=1g", "-cp", System.getProperty("java.class.path")));
    if (Runtime.version().feature() >= 24) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(JIT_AND_COLLECTOR::contains)
        .forEach(command::add);
    more.stream().filter(ServerProcess::isFlag).forEach(command::add);
    command.addAll(
        List.of(
            ServerMain.class.getName(),
            "--port=0",
            "--workers=" + workers,
            "--allocator=" + memory.name().toLowerCase(Locale.ROOT)));
    more.stream().filter(option -> !isFlag(option)).forEach(command::add);
    ProcessBuilder builder = new ProcessBuilder(command);
    // Not as an option: an address may have a password, and every user sees command lines.
    builder.environment().remove(ServerOptions.PLAN_STORE_VARIABLE);
    if (planStore != null) {
      builder.environment().put(ServerOptions.PLAN_STORE_VARIABLE, planStore);
    }
    process = builder.start();
    Thread errors = new Thread(this::passErrorsOn, "server-errors");
    errors.setDaemon(true);
    errors.start();
    output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = output.readLine();
    if (line == null || !line.startsWith("serving ")) {
      process.destroy();
      throw new IOException("the server does not serve: " + line);
    }
    address = URI.create(line.replaceFirst(".* at (\\S+) .*", "$1"));
  }

  /** To where this process's own go, which the process below knows nothing of: a test's report. */
  private void passErrorsOn() {
    try {
      process.getErrorStream().transferTo(System.err);
    } catch (IOException ended) {
      // and has nothing more to say
    }
  }

  private static boolean isFlag(String option) {
    return option.startsWith("-D") || option.startsWith("-X");
  }

  public URI address() {
    return address;
  }

  /** What the server counts, by name. */
  public Map<String, Double> metrics() throws IOException {
    try (LoadClient client = new LoadClient(address)) {
      Map<String, Double> samples = new HashMap<>();
      for (String line : client.get("/metrics").text().lines().toList()) {
        int space = line.lastIndexOf(' ');
        if (!line.startsWith("#")) {
          samples.put(line.substring(0, space), Double.valueOf(line.substring(space + 1)));
        }
      }
      return samples;
    }
  }

  /**
   * Tells the server to end and waits until it has.
   *
   * @throws IllegalStateException if it does not say that nothing was lost
   */
  @Override
  public void close() {
    // Not through the process itself, which would close the stream with its last word.
    process.toHandle().destroy();
    try {
      String last = output.readLine();
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IllegalStateException("the server did not end");
      }
      if (!"nothing lost".equals(last)) {
        throw new IllegalStateException("the server ended with: " + last);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
