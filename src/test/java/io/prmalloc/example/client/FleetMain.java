package io.prmalloc.example.client;

import io.prmalloc.example.MemoryKind;
import io.prmalloc.example.RunFailedException;
import io.prmalloc.example.ServerOptions;
import io.prmalloc.example.model.OptionBounds;
import io.prmalloc.example.model.SampleNetwork;
import io.prmalloc.kept.PlanStore;
import io.prmalloc.redis.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Runs three replicas of the server that share plans. The first one learns; the others are started
 * when its plan is published, and serve from that plan from their first request.
 */
@Command(
    name = "fleet",
    mixinStandardHelpOptions = true,
    description = "Starts three replicas that share plans, and prints what each began with.")
public final class FleetMain implements Runnable {

  private static final String HITS = "prmalloc_requests_total{pool=\"server\",result=\"hit\"}";
  private static final String UNPOOLED = "prmalloc_requests_unpooled_total{pool=\"server\"}";
  private static final String PUBLISHED =
      "prmalloc_plan_store_total{pool=\"server\",result=\"published\"}";
  private static final String UNAVAILABLE =
      "prmalloc_plan_store_total{pool=\"server\",result=\"unavailable\"}";
  private static final String TAKEN = "prmalloc_plan_store_total{pool=\"server\",result=\"taken\"}";
  private static final int REPLICAS = 3;
  private static final int MAX_REQUESTS = 1_000_000_000;

  @Spec private CommandSpec spec;

  @Option(
      names = "--plan-store",
      paramLabel = "STORE",
      description =
          "a directory, which is made, or redis://HOST:PORT; default what the variable PRMALLOC_PLAN_STORE"
              + " says, which is the place for an address with a password, else a redis-server that is"
              + " started for this, where it is installed, else a new directory")
  private String planStore = System.getenv(ServerOptions.PLAN_STORE_VARIABLE);

  @Option(
      names = "--requests",
      description =
          "for each replica, and more for the first until it has published its plan;"
              + " default ${DEFAULT-VALUE}")
  private int requests = 200;

  @Option(
      names = "--start-step",
      description =
          "the step with which the first replica begins to learn; default ${DEFAULT-VALUE}")
  private int startStep = 100;

  private final List<Replica> replicas = new ArrayList<>();

  /**
   * What a replica showed.
   *
   * @param firstHit number of the request that was the first to be served by the plan, from 1
   * @param firstHitMillis from the first request's begin to that one's answer
   * @param requests how many it was sent
   * @param hits what the pool served from the plan
   * @param unpooled what it served without
   * @param taken how often it took a plan
   */
  record Replica(
      int firstHit, double firstHitMillis, int requests, long hits, long unpooled, long taken) {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return RunFailedException.commandLine(new FleetMain());
  }

  @Override
  public void run() {
    check();
    try {
      if (planStore != null) {
        run(planStore);
      } else if (RedisServer.isInstalled()) {
        try (RedisServer redis = new RedisServer()) {
          run(redis.uri());
        }
      } else {
        run(Files.createTempDirectory("prmalloc-plans").toString());
      }
    } catch (IOException e) {
      throw new RunFailedException(RunFailedException.FAILED, e.getMessage(), e);
    }
  }

  private void check() {
    try {
      OptionBounds.check("--requests", requests, 1, MAX_REQUESTS);
      OptionBounds.check("--start-step", startStep, 1, MAX_REQUESTS);
      if (planStore != null) {
        ServerOptions.openPlanStore(planStore).close();
      }
    } catch (IllegalArgumentException wrong) {
      throw new ParameterException(spec.commandLine(), wrong.getMessage(), wrong);
    }
  }

  /** A store waits for its directory to be mounted; here there is nobody who would do that. */
  private static void makeDirectory(String store) {
    try {
      if (!ServerOptions.isAddress(store)) {
        Files.createDirectories(Path.of(store));
      }
    } catch (IOException e) {
      throw new RunFailedException(
          RunFailedException.BAD_INPUT,
          "--plan-store " + store + " is no directory, and none can be made: " + e,
          e);
    }
  }

  private void run(String store) throws IOException {
    makeDirectory(store);
    // The first one stays, as it would: the others are added to it.
    try (ServerProcess first = start(store)) {
      replicas.add(measure(first, true));
      while (replicas.size() < REPLICAS) {
        try (ServerProcess another = start(store)) {
          replicas.add(measure(another, false));
        }
      }
    }
    print(store);
  }

  private ServerProcess start(String store) throws IOException {
    List<String> more = new ArrayList<>(ServerProcess.SMALL_HEAP);
    more.add("-Dprmalloc.startStatisticStep=" + startStep);
    return new ServerProcess(MemoryKind.POOL, 2, more, store);
  }

  private Replica measure(ServerProcess server, boolean publishes) throws IOException {
    byte[] request = LoadClient.request("large", SampleNetwork.LARGE, 1, 1);
    int sent = 0;
    int firstHit = 0;
    double firstHitMillis = 0;
    Map<String, Double> now = server.metrics();
    try (LoadClient client = new LoadClient(server.address())) {
      long start = System.nanoTime();
      // A store that is not new may have a plan for the first one, too.
      while (sent < requests
          || firstHit == 0
          || (publishes && now.get(PUBLISHED) + now.get(TAKEN) == 0)) {
        if (client.send(request).status() != 200) {
          throw new IllegalStateException("the server refused request " + (sent + 1));
        }
        sent++;
        double millis = (System.nanoTime() - start) / 1e6;
        now = server.metrics();
        if (now.get(UNAVAILABLE) > 0) {
          throw new RunFailedException(
              RunFailedException.FAILED,
              "the plan store is not available; the server's log above says why",
              null);
        }
        if (firstHit == 0 && now.get(HITS) > 0) {
          firstHit = sent;
          firstHitMillis = millis;
        }
      }
    }
    return new Replica(
        firstHit,
        firstHitMillis,
        sent,
        now.get(HITS).longValue(),
        now.get(UNPOOLED).longValue(),
        now.get(TAKEN).longValue());
  }

  /** What each replica showed, in the order of their start. */
  List<Replica> replicas() {
    return replicas;
  }

  private void print(String store) {
    // As the store shows itself, which is without a password.
    String shown;
    try (PlanStore opened = ServerOptions.openPlanStore(store)) {
      shown = opened.toString();
    }
    System.out.printf(
        Locale.ROOT,
        "plans shared by %s%n%-8s %14s %16s %10s %8s %10s %8s%n",
        shown,
        "replica",
        "first hit at",
        "ms to first hit",
        "requests",
        "hits",
        "unpooled",
        "taken");
    for (int i = 0; i < replicas.size(); i++) {
      Replica replica = replicas.get(i);
      System.out.printf(
          Locale.ROOT,
          "%-8d %14d %16.1f %10d %8d %10d %8d%n",
          i + 1,
          replica.firstHit(),
          replica.firstHitMillis(),
          replica.requests(),
          replica.hits(),
          replica.unpooled(),
          replica.taken());
    }
  }
}
