package io.prmalloc.example.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.example.ServerMain;
import io.prmalloc.example.client.FleetMain.Replica;
import io.prmalloc.redis.RedisServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Three servers, of which the first one learns a plan and the others take it. */
class FleetTest {

  private static void shouldHitFromTheFirstRequest(String... arguments) {
    CommandLine fleet = FleetMain.commandLine();
    assertEquals(0, fleet.execute(arguments));
    List<Replica> replicas = fleet.<FleetMain>getCommand().replicas();
    Replica cold = replicas.get(0);
    assertTrue(cold.firstHit() > 1 && cold.unpooled() > 0 && cold.taken() == 0, cold::toString);
    for (Replica warm : replicas.subList(1, replicas.size())) {
      assertEquals(1, warm.firstHit(), warm::toString);
      assertEquals(1, warm.taken(), warm::toString);
      assertTrue(warm.unpooled() < cold.unpooled() / 4, warm + " beside " + cold);
    }
  }

  @Test
  void shouldHitFromTheFirstRequestWhenPlansAreInADirectory(@TempDir Path plans) throws Exception {
    // Which need not be there.
    shouldHitFromTheFirstRequestAndShowNothingOf("hidden", plans.resolve("made/hidden").toString());
  }

  /** The address of a store may hold a password, and who is on the machine sees command lines. */
  private static void shouldHitFromTheFirstRequestAndShowNothingOf(String secret, String store)
      throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      Future<?> replicas =
          other.submit(
              () ->
                  shouldHitFromTheFirstRequest(
                      "--plan-store=" + store, "--requests=5", "--start-step=5"));
      Set<String> seen = new HashSet<>();
      while (!replicas.isDone()) {
        ProcessHandle.current().children().map(FleetTest::commandLine).forEach(seen::add);
        // A server starts for longer, and to list processes is to read of all there are.
        TimeUnit.MILLISECONDS.sleep(300);
      }
      replicas.get();
      assertTrue(
          !OS.LINUX.isCurrentOs()
              || seen.stream().anyMatch(line -> line.contains(ServerMain.class.getName())));
      assertEquals(List.of(), seen.stream().filter(line -> line.contains(secret)).toList());
    } finally {
      other.shutdown();
    }
  }

  @Test
  @Tag("long")
  void shouldHitFromTheFirstRequestInAllWhenTheStoreHasAPlanBefore(@TempDir Path plans) {
    String[] arguments = {"--plan-store=" + plans, "--requests=5", "--start-step=5"};
    shouldHitFromTheFirstRequest(arguments);
    CommandLine again = FleetMain.commandLine();
    assertEquals(0, again.execute(arguments));
    for (Replica warm : again.<FleetMain>getCommand().replicas()) {
      assertEquals(1, warm.firstHit(), warm::toString);
    }
  }

  private static String failure(int exitCode, String store) {
    StringWriter text = new StringWriter();
    CommandLine fleet = FleetMain.commandLine().setErr(new PrintWriter(text));
    assertEquals(exitCode, fleet.execute("--plan-store=" + store), text::toString);
    assertFalse(text.toString().contains("secret"), text::toString);
    return text.toString();
  }

  @Test
  void shouldSayInOneLineThatTheStoreIsNotThere(@TempDir Path directory) throws IOException {
    String away = failure(1, "redis://u:secret@127.0.0.1:1");
    assertTrue(away.startsWith("fleet: the plan store is not available"), away);
    assertEquals(1, away.lines().count(), away);
    Path file = Files.createFile(directory.resolve("file"));
    String noDirectory = failure(2, file.toString());
    assertTrue(noDirectory.startsWith("fleet: --plan-store " + file + " is no dir"), noDirectory);
    assertEquals(1, noDirectory.lines().count(), noDirectory);
  }

  @Test
  void shouldShowNoPasswordWhenTheStoreIsNone() {
    assertTrue(failure(2, "redis://u:se cret@h:1").startsWith("uri is not one"));
    assertTrue(failure(2, "redis://u:secret@h:99999").startsWith("uri redis://***@h:99999 is no"));
    assertTrue(failure(2, "REDIS-SENTINEL://u:secret@h:x").startsWith("uri has a port"));
  }

  private static String commandLine(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"));
    } catch (IOException ended) {
      return "";
    }
  }

  @Test
  @Tag("long")
  void shouldHitFromTheFirstRequestWhenRedisHasAPassword() throws Exception {
    assumeTrue(RedisServer.isInstalled(), RedisServer.NOT_INSTALLED);
    try (RedisServer redis = new RedisServer()) {
      redis.ask(commands -> commands.configSet("requirepass", "secret"));
      shouldHitFromTheFirstRequestAndShowNothingOf(
          "secret", redis.uri().replace("//", "//:secret@"));
    }
  }

  /** In Redis, where that is installed. */
  @Test
  @Tag("long")
  void shouldHitFromTheFirstRequestAsTheCommandIsShown() {
    shouldHitFromTheFirstRequest();
  }
}
