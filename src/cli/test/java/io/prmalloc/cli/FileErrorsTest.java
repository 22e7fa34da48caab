package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.onnx.OnnxReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What commands say of files that the system does not read. */
@Tag("jdk-independent")
class FileErrorsTest {

  /** Opens, and fails to be read: no process has memory at address 0. */
  private static final Path UNREADABLE = Path.of("/proc/self/mem");

  @TempDir private Path directory;

  private static String refusal(String command) {
    Outcome outcome = Outcome.of(command.split(" "));

    assertEquals(2, outcome.exitCode(), outcome.err());
    assertEquals("", outcome.out());
    assertEquals(1, outcome.err().lines().count(), outcome.err());
    return outcome.err().strip();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "plan FILE",
        "arena FILE",
        "learn FILE --steps=1",
        "simulate FILE --format=events",
        "replay FILE",
        "replay sample:mobilenet --plan=FILE"
      })
  void shouldNameTheFileWhenItCannotBeReadOn(String command) {
    assumeTrue(Files.isReadable(UNREADABLE), UNREADABLE + " is not there");

    String refusal = refusal(command.replace("FILE", UNREADABLE.toString()));

    assertTrue(refusal.startsWith("prmalloc: " + UNREADABLE + ": "), refusal);
  }

  @Test
  void shouldNameTheFileWhenAModelCannotBeReadOn() {
    assumeTrue(Files.isReadable(UNREADABLE), UNREADABLE + " is not there");

    String message =
        assertThrows(UncheckedIOException.class, () -> OnnxReader.read(UNREADABLE, Map.of()))
            .getCause()
            .getMessage();

    assertTrue(message.startsWith(UNREADABLE + ": "), message);
  }

  @Test
  void shouldNameTheDirectoryWhenItIsGivenForAPlan() {
    String refusal = refusal("replay sample:mobilenet --plan=" + directory);

    assertTrue(refusal.startsWith("prmalloc: " + directory + ": "), refusal);
  }
}
