package io.prmalloc.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When there is a process-wide barrier, and what it answers where there is none. */
class ProcessBarrierTest {

  private static final int ALL_COMMANDS =
      NativeCalls.MEMBARRIER_PRIVATE_EXPEDITED | NativeCalls.MEMBARRIER_REGISTER_PRIVATE_EXPEDITED;

  private static ScriptedCalls scripted(int query, int registration) {
    ScriptedCalls calls = new ScriptedCalls();
    calls.membarrierResults.put(NativeCalls.MEMBARRIER_QUERY, query);
    calls.membarrierResults.put(NativeCalls.MEMBARRIER_REGISTER_PRIVATE_EXPEDITED, registration);
    return calls;
  }

  @Test
  void shouldRegisterWhenTheKernelHasTheCommand() {
    assertTrue(ProcessBarrier.register(scripted(ALL_COMMANDS, 0)));
  }

  @Test
  void shouldDoWithoutWhenTheKernelHasNotTheCommandOrRefuses() {
    assertFalse(ProcessBarrier.register(scripted(1, 0)), "an older kernel");
    assertFalse(ProcessBarrier.register(scripted(-NativeCalls.ENOSYS, 0)), "no such call");
    assertFalse(ProcessBarrier.register(scripted(ALL_COMMANDS, -NativeCalls.EINVAL)));
  }

  @ParameterizedTest
  @CsvSource({
    "OpenJDK 64-Bit Server VM, true",
    "Java HotSpot(TM) 64-Bit Server VM, true",
    "Eclipse OpenJ9 VM, false",
    "'', false"
  })
  void shouldTrustOnlyHotSpotWhenOrderIsAskedFor(String virtualMachine, boolean ordered) {
    assertEquals(ordered, ProcessBarrier.isOrdered(virtualMachine));
  }

  @ParameterizedTest
  @CsvSource({
    "amd64, 324",
    "x86_64, 324",
    "AArch64, 283",
    "riscv64, 283",
    "s390x, 356",
    "i386, -1"
  })
  void shouldKnowTheCallsNumberWhenLinuxRunsOnTheProcessor(String processor, int number) {
    assertEquals(number, JnaCalls.membarrierNumber(processor));
  }

  @ParameterizedTest
  @CsvSource({"'', false, false", "'', true, true", "true, false, true", "false, true, false"})
  void shouldLoadNothingWhenNobodyAskedForIt(String wanted, boolean inUse, boolean expected) {
    assertEquals(expected, ProcessBarrier.isWanted(wanted, inUse));
  }

  @Test
  void shouldReturnWhenOtherThreadsRunAndWhenTheyDoNot() throws Exception {
    assumeTrue(ProcessBarrier.isSupported(), "this platform has no process-wide barrier");
    AtomicBoolean over = new AtomicBoolean();
    Thread busy =
        new Thread(
            () -> {
              while (!Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
              }
              over.set(true);
            });
    ProcessBarrier.run();
    busy.start();
    for (int i = 0; i < 1000; i++) {
      ProcessBarrier.run();
    }
    assertFalse(over.get(), "nobody interrupted it");
    busy.interrupt();
    busy.join();
    assertTrue(over.get());
  }

  @Test
  void shouldSayWhyWhenTheKernelIsAskedForAnUnknownCommand() {
    assumeTrue(ProcessBarrier.isSupported(), "this platform has no process-wide barrier");
    assertEquals(-NativeCalls.EINVAL, Natives.calls().membarrier(1 << 30));
  }

  @Test
  void shouldRefuseWhenThereIsNone() {
    assumeTrue(!ProcessBarrier.isSupported(), "this platform has a process-wide barrier");
    assertThrows(UnsupportedOperationException.class, ProcessBarrier::run);
  }
}
