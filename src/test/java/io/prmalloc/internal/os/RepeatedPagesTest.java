package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RepeatedPagesTest {

  private static final long MEMORY = RepeatedPages.MEMORY_BYTES;
  private static final long GIB = 1L << 30;

  private final ScriptedCalls calls = new ScriptedCalls();

  @BeforeEach
  void withJnaOnly() {
    assumeTrue(Natives.calls() instanceof JnaCalls, "native calls do not work here");
  }

  private long map(long bytes) {
    long address = RepeatedPages.map(calls, bytes);
    assertNotEquals(0, address);
    assertEquals(0, address % (2 << 20));
    assertEquals(0, calls.openFiles);
    return address;
  }

  private void unmap(long address, long bytes) {
    RepeatedPages.unmap(address, bytes);
    assertEquals(Optional.empty(), Mappings.permissions(address));
    assertEquals(Optional.empty(), Mappings.permissions(address + bytes - 1));
  }

  private static byte get(long address) {
    return Natives.calls().view(address, 1).get(0);
  }

  private static void put(long address, int value) {
    Natives.calls().view(address, 1).put(0, (byte) value);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 1 << 20, MEMORY, MEMORY + 1, 3 * MEMORY - 1, 100 * GIB + 12345})
  void shouldGiveAddressesOfAnySizeOverLittleMemory(long bytes) {
    long address = map(bytes);
    put(address, 1);
    put(address + bytes - 1, 2);
    assertEquals(2, get(address + bytes - 1));
    if (bytes > MEMORY) {
      put(address + MEMORY, 3);
      assertEquals(3, get(address));
    }
    assertEquals(MEMORY, calls.fileBytes);
    unmap(address, bytes);
  }

  @Test
  void shouldTakeNoMoreMappingsThanAProcessHasOfWhateverSizeItIs() {
    long bytes = 1024 * GIB;
    long address = map(bytes);
    assertTrue(calls.fileMappings <= RepeatedPages.MOST_MAPPINGS, calls.fileMappings + " mappings");
    assertTrue(calls.fileBytes <= GIB, calls.fileBytes + " bytes");
    put(address + bytes - 1, 1);
    unmap(address, bytes);
  }

  @Test
  void shouldTakeFewerMappingsOfMoreMemoryWhenThereIsNoRoomForSoMany() {
    long bytes = 256 * GIB;
    calls.mostFileMappings = 0;
    assertEquals(0, RepeatedPages.map(calls, bytes));
    assertEquals(0, calls.openFiles);
    assertTrue(calls.mappedBytes == 0, calls.mappedBytes + " bytes are left");
    calls.mostFileMappings = 256;
    long address = map(bytes);
    assertEquals(GIB, calls.fileBytes);
    unmap(address, bytes);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE, 1L << 55, 1L << 56, Long.MAX_VALUE})
  void shouldGiveNoneWhereThereAreNoSuchAddresses(long bytes) {
    assertEquals(0, RepeatedPages.map(bytes));
  }

  @Test
  void shouldGiveNoneAndKeepNothingWhenTheSystemRefuses() {
    calls.fileError = NativeCalls.ENOMEM;
    assertEquals(0, RepeatedPages.map(calls, GIB));
    assertEquals(0, calls.mappedBytes);
    calls.mmapError = NativeCalls.ENOMEM;
    assertEquals(0, RepeatedPages.map(calls, GIB));
  }

  @Test
  void shouldKeepNoFileWhenTheKernelRefusesItsLength() {
    assertEquals(-NativeCalls.EINVAL, Natives.calls().memoryFile(-1));
  }
}
