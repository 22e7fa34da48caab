package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import org.agrona.UnsafeApi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MallocLibraryTest {

  @Test
  void shouldRefuseWhenTheNameIsAnother() {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> MallocLibrary.load("tcmalloc"));

    assertEquals("library `tcmalloc` is not jemalloc or mimalloc", refused.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"jemalloc", "mimalloc"})
  void shouldSayWhyEachTimeWhenItCannotBeLoaded(String name) {
    MallocLibrary library = null;
    try {
      library = MallocLibrary.load(name);
    } catch (UnsupportedOperationException absent) {
      UnsupportedOperationException again =
          assertThrows(UnsupportedOperationException.class, () -> MallocLibrary.load(name));
      assertEquals(absent.getMessage(), again.getMessage());
      assertTrue(again.getMessage().startsWith(name + " cannot be loaded: "));
    }
    if (library != null) {
      abort(name + " is installed here");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"jemalloc", "mimalloc"})
  void shouldGiveUsableMemoryWhenItIsInstalled(String name) {
    MallocLibrary library;
    try {
      library = MallocLibrary.load(name);
    } catch (UnsupportedOperationException absent) {
      abort(absent.getMessage());
      return;
    }
    long first = library.malloc(100_000);
    long second = library.malloc(100_000);

    assertTrue(first != 0 && second != 0);
    assertTrue(Math.abs(first - second) >= 100_000);
    UnsafeApi.putLong(first + 99_992, 42);
    assertEquals(42, UnsafeApi.getLong(first + 99_992));
    library.free(first);
    library.free(second);
    library.free(0);
  }
}
