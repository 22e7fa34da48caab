package io.prmalloc.example;

import ai.onnxruntime.OrtException;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Starts an {@link InferenceServer} and lets it run until the process is told to end. */
@Command(
    name = "server",
    mixinStandardHelpOptions = true,
    description = "Serves two small networks over KServe's v2 protocol.")
public final class ServerMain implements Runnable {

  @Option(
      names = "--allocator",
      description = "where memory comes from: ${COMPLETION-CANDIDATES} (default ${DEFAULT-VALUE})")
  private MemoryKind memory = MemoryKind.POOL;

  @Option(names = "--port", description = "on the loopback address (default ${DEFAULT-VALUE})")
  private int port = 8080;

  @Option(names = "--workers", description = "threads that run models (default ${DEFAULT-VALUE})")
  private int workers = 2;

  @Option(
      names = "--max-request",
      description = "the most bytes of one request's tensors (default ${DEFAULT-VALUE})")
  private long maxRequestBytes = ServerOptions.DEFAULT_MAX_REQUEST_BYTES;

  public static void main(String[] arguments) {
    int exitCode =
        new CommandLine(new ServerMain())
            .setCaseInsensitiveEnumValuesAllowed(true)
            .execute(arguments);
    System.exit(exitCode);
  }

  @Override
  public void run() {
    CountDownLatch ended = new CountDownLatch(1);
    try {
      InferenceServer server =
          new InferenceServer(new ServerOptions(memory, port, workers, maxRequestBytes));
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> {
                    server.close();
                    System.out.println("nothing lost");
                    ended.countDown();
                  }));
      System.out.println("serving small and large at " + server.address() + " with " + memory);
      ended.await();
    } catch (OrtException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
