package io.prmalloc.example.client;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.djl.OrtEngine;
import io.prmalloc.example.InferenceServer;
import io.prmalloc.example.MemoryKind;
import io.prmalloc.example.ServerLimits;
import io.prmalloc.example.ServerOptions;
import io.prmalloc.example.model.SampleNetwork;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WrkRunTest {

  private InferenceServer server;

  @BeforeEach
  void start() throws Exception {
    assumeTrue(WrkRun.isInstalled(), "wrk is not installed");
    OrtEngine.load();
    server = new InferenceServer(new ServerOptions(MemoryKind.POOL, 0, 1, ServerLimits.DEFAULT));
  }

  @AfterEach
  void stop() throws Exception {
    if (server != null) {
      server.close();
    }
  }

  @Test
  void shouldMeasureWhenTheRequestIsBinary() throws Exception {
    byte[] request = LoadClient.request("small", SampleNetwork.SMALL, 1, 1);

    WrkRun run = WrkRun.of(server.address(), request, 2, 1);

    assertTrue(run.perSecond() > 0, run::toString);
    assertTrue(run.p50Micros() > 0 && run.p50Micros() <= run.p99Micros(), run::toString);
    assertTrue(run.p99Micros() <= run.p999Micros(), run::toString);
  }

  @Test
  void shouldFailWhenTheServerRefusesTheRequest() {
    byte[] request = LoadClient.request("unknown", SampleNetwork.SMALL, 1, 1);

    IOException refused =
        assertThrows(IOException.class, () -> WrkRun.of(server.address(), request, 2, 1));

    assertTrue(refused.getMessage().contains("of which failed"), refused.getMessage());
  }
}
