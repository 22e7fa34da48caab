package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class AgronaAccessTest {

  @Test
  void shouldBeAvailableWhenTheJvmRunsWithTheFlag() {
    // The JVM lists the flag with an equals sign where the command line had a space.
    boolean flag =
        ManagementFactory.getRuntimeMXBean()
            .getInputArguments()
            .contains(AgronaAccess.FLAG.replace(' ', '='));
    assertEquals(flag, AgronaAccess.isAvailable());
  }
}
