package io.prmalloc.example;

import ai.onnxruntime.OrtException;
import io.prmalloc.example.model.ModelFileOptions;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Starts an {@link InferenceServer} and lets it run until the process is told to end. */
@Command(
    name = "server",
    mixinStandardHelpOptions = true,
    description = "Serves two small networks, or a model, over KServe's v2 protocol.")
public final class ServerMain implements Runnable {

  @Spec private CommandSpec spec;

  @Mixin private ModelFileOptions model = new ModelFileOptions();

  @Option(
      names = "--engine-memory",
      description =
          "where tensors between operators lie: ${COMPLETION-CANDIDATES} (default"
              + " ${DEFAULT-VALUE})")
  private EngineMemory engine = EngineMemory.OWN;

  @Option(
      names = "--allocator",
      description = "where memory comes from: ${COMPLETION-CANDIDATES} (default ${DEFAULT-VALUE})")
  private MemoryKind memory = MemoryKind.POOL;

  @Option(
      names = "--plan-store",
      paramLabel = "STORE",
      description =
          "where replicas share the pool's plans: a directory, or redis://HOST:PORT; with --allocator pool"
              + " by default what the variable PRMALLOC_PLAN_STORE says, which is the place for an"
              + " address with a password")
  private String planStore;

  @Option(names = "--port", description = "on the loopback address (default ${DEFAULT-VALUE})")
  private int port = 8080;

  @Option(names = "--workers", description = "threads that run models (default ${DEFAULT-VALUE})")
  private int workers = 2;

  @Option(
      names = "--max-request",
      description = "the most bytes of one request's tensors (default ${DEFAULT-VALUE})")
  private long maxRequestBytes = ServerLimits.DEFAULT.maxRequestBytes();

  @Option(
      names = "--max-buffered",
      description =
          "the most bytes that all requests together hold before they run (default"
              + " ${DEFAULT-VALUE})")
  private long maxBufferedBytes = ServerLimits.DEFAULT.maxBufferedBytes();

  @Option(
      names = "--max-connections",
      description = "the most connections at a time (default ${DEFAULT-VALUE})")
  private int maxConnections = ServerLimits.DEFAULT.maxConnections();

  @Option(
      names = "--idle-timeout",
      description = "seconds for the first byte of a request (default ${DEFAULT-VALUE})")
  private long idleSeconds = ServerTimeouts.DEFAULT.idle().toSeconds();

  @Option(
      names = "--head-timeout",
      description = "seconds from there to its last header (default ${DEFAULT-VALUE})")
  private long headSeconds = ServerTimeouts.DEFAULT.head().toSeconds();

  @Option(
      names = "--body-timeout",
      description = "seconds from there to the end of its body (default ${DEFAULT-VALUE})")
  private long bodySeconds = ServerTimeouts.DEFAULT.body().toSeconds();

  @Option(
      names = "--answer-timeout",
      description = "seconds for the client to take an answer (default ${DEFAULT-VALUE})")
  private long answerSeconds = ServerTimeouts.DEFAULT.answer().toSeconds();

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return RunFailedException.commandLine(new ServerMain());
  }

  @Override
  public void run() {
    CountDownLatch toEnd = new CountDownLatch(1);
    try (InferenceServer server = serve()) {
      EndSignals.handle(toEnd::countDown);
      System.out.printf(
          "serving at %s with %s, in the engine %s%n", server.address(), memory, engine);
      toEnd.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    System.out.println("nothing lost");
  }

  private InferenceServer serve() {
    try {
      ServerOptions options =
          new ServerOptions(
              memory, engine, model.toModelFile(), port, workers, limits(), planStore());
      return serve(options);
    } catch (IllegalArgumentException wrong) {
      throw new ParameterException(spec.commandLine(), wrong.getMessage(), wrong);
    }
  }

  private String planStore() {
    return planStore == null && memory == MemoryKind.POOL
        ? System.getenv(ServerOptions.PLAN_STORE_VARIABLE)
        : planStore;
  }

  private static InferenceServer serve(ServerOptions options) {
    try {
      return new InferenceServer(options);
    } catch (UncheckedIOException e) {
      throw new RunFailedException(RunFailedException.FAILED, e.getMessage(), e);
    } catch (OrtException e) {
      if (options.model() == null) {
        throw new RunFailedException(RunFailedException.FAILED, e.getMessage(), e);
      }
      throw new RunFailedException(
          RunFailedException.BAD_INPUT,
          "model " + options.model().file() + ": " + e.getMessage(),
          e);
    }
  }

  private ServerLimits limits() {
    ServerTimeouts timeouts =
        new ServerTimeouts(
            Duration.ofSeconds(idleSeconds),
            Duration.ofSeconds(headSeconds),
            Duration.ofSeconds(bodySeconds),
            Duration.ofSeconds(answerSeconds));
    return new ServerLimits(maxConnections, maxRequestBytes, maxBufferedBytes, timeouts);
  }
}
