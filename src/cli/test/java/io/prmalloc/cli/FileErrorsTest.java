package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.onnx.OnnxReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What commands say of files that the system does not read, and of names that it does not have. */
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

  @ParameterizedTest
  @ValueSource(
      strings = {
        "plan FILE",
        "arena FILE",
        "plan sample:mobilenet --out=FILE",
        "replay sample:mobilenet --plan=FILE"
      })
  void shouldTellTheEncodingWhenItDoesNotHaveTheName(String command) {
    String name = "half-of-a-pair-\ud800";
    String encoding = System.getProperty("sun.jnu.encoding");

    String refusal = refusal(command.replace("FILE", name));

    String expected = "`" + name + "` is no name of a file in the locale's encoding " + encoding;
    assertTrue(refusal.contains(expected), refusal);
    assertEquals(!encoding.equals("UTF-8"), refusal.contains("LC_ALL=C.UTF-8"), refusal);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "learn FILE --steps=1",
        "simulate FILE",
        "replay FILE",
        "replay sample:mobilenet FILE",
        "replay sample:mobilenet --shift=FILE"
      })
  void shouldRefuseToAllocateWhenSizesAreShapes(String command) throws IOException {
    Path file = Files.writeString(directory.resolve("s.csv"), "id,size,first,last\na,2x2,0,1\n");

    assertEquals(
        "prmalloc: " + file + ": sizes of 2 dimensions are no bytes to allocate",
        refusal(command.replace("FILE", file.toString())));
  }
}
