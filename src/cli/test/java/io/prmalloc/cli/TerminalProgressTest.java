package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.trace.replay.ReplayAllocator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
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

  /** What a terminal would show; tells when some words come. */
  private static final class Screen extends OutputStream {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    @Override
    public synchronized void write(int b) {
      bytes.write(b);
      notifyAll();
    }

    @Override
    public synchronized String toString() {
      return bytes.toString(StandardCharsets.UTF_8);
    }

    synchronized void awaitWords(String words) throws InterruptedException {
      while (!toString().contains(words)) {
        wait();
      }
    }
  }

  @Test
  void shouldShowABarWhenTheWorkSaysNothingMore() throws InterruptedException {
    Screen screen = new Screen();
    try (TerminalProgress progress = new TerminalProgress(new PrintStream(screen, true), 1)) {
      TerminalProgress.begin(progress, "reading");

      screen.awaitWords("reading");
    }
  }

  @Test
  void shouldSayThatARunWarmsUpWhenNoStepIsMeasuredYet() throws InterruptedException {
    Screen screen = new Screen();
    try (TerminalProgress progress = new TerminalProgress(new PrintStream(screen, true), 1)) {
      progress.warmUp(ReplayAllocator.POOL, 15);

      screen.awaitWords("pool warms up");
    }
  }

  @Test
  void shouldShowEachTaskByItsNameWhenTheyFollowEachOther() throws InterruptedException {
    Screen screen = new Screen();
    try (TerminalProgress progress = new TerminalProgress(new PrintStream(screen, true), 1)) {
      progress.update("first", 0, 1);
      screen.awaitWords("first");
      progress.update("second", 3, 4);
      progress.message("so far");

      screen.awaitWords("second");
      assertTrue(progress.isAt("second"));
      assertFalse(progress.isAt("first"));
      screen.awaitWords("75%");
      screen.awaitWords("so far");
    }
  }

  @Test
  void shouldShowNothingWhenTheWorkIsDoneSoon() {
    Screen screen = new Screen();
    try (TerminalProgress progress =
        new TerminalProgress(new PrintStream(screen, true), Integer.MAX_VALUE)) {
      progress.update("reading", 1, 2);
      progress.message("so far");
    }
    assertEquals("", screen.toString());
  }

  @Test
  void shouldSayNothingWhenNobodyIsToBeTold() {
    assertDoesNotThrow(() -> TerminalProgress.begin(null, "reading"));
  }
}
