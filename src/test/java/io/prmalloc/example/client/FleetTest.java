package io.prmalloc.example.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.example.client.FleetMain.Replica;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
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
  void shouldHitFromTheFirstRequestWhenPlansAreInADirectory(@TempDir Path plans) {
    shouldHitFromTheFirstRequest("--plan-store=" + plans, "--requests=5", "--start-step=5");
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

  @Test
  void shouldEndWhenTheStoreIsNotThere(@TempDir Path directory) {
    CommandLine fleet = FleetMain.commandLine();
    fleet.setExecutionExceptionHandler(
        (e, command, result) -> {
          assertTrue(e.getMessage().startsWith("the plan store is not available"), e::toString);
          return 3;
        });
    assertEquals(3, fleet.execute("--plan-store=" + directory.resolve("absent")));
  }

  /** In Redis, where that is installed. */
  @Test
  @Tag("long")
  void shouldHitFromTheFirstRequestAsTheCommandIsShown() {
    shouldHitFromTheFirstRequest();
  }
}
