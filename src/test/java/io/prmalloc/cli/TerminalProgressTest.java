package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TerminalProgressTest {

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({"/dev/pts/3, true", "/dev/tty1, true", "/dev/null, false", "pipe:[1234], false"})
  void shouldTellATerminalWhenTheFileIsOne(String target, boolean terminal) throws IOException {
    Path link = Files.createSymbolicLink(directory.resolve("2"), Path.of(target));

    boolean told = TerminalProgress.isTerminal(link);
    // By hand: JUnit warns of every link that leads out of its directory.
    Files.delete(link);

    assertEquals(terminal, told);
  }

  @Test
  void shouldTellNoTerminalWhenThereIsNoLink() {
    assertFalse(TerminalProgress.isTerminal(directory.resolve("absent")));
  }
}
