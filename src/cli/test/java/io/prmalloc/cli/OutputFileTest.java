package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputFileTest {

  @TempDir private Path directory;
  private Path file;

  @BeforeEach
  void assumePosix() {
    assumeTrue(directory.getFileSystem().supportedFileAttributeViews().contains("posix"));
    file = directory.resolve("report.html");
  }

  private String permissions() throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  private void permit(String permissions) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
  }

  private List<Path> files() throws IOException {
    try (var files = Files.list(directory)) {
      return files.sorted().toList();
    }
  }

  @Test
  void shouldKeepThePermissionsOfTheFileInWhosePlaceItComes() throws IOException {
    Files.createFile(file);
    for (String permissions : List.of("rw-------", "rw-rw-rw-", "r--r--r--")) {
      permit(permissions);
      OutputFile.write(file, permissions);
      assertEquals(permissions, permissions());
      assertEquals(permissions, Files.readString(file));
    }
    assertEquals(List.of(file), files(), "nothing is left beside it");
  }

  @Test
  void shouldReplaceWhatASymbolicLinkLeadsTo() throws IOException {
    Path real = directory.resolve("zz");
    Files.createSymbolicLink(file, Path.of("zz"));
    for (String text : List.of("first", "second")) {
      OutputFile.write(file, text);
      assertTrue(Files.isSymbolicLink(file));
      assertEquals(text, Files.readString(real));
    }
    assertEquals(List.of(file, real), files());
  }

  @Test
  void shouldLeaveEverythingAsItWasWhenTheContentFails() throws IOException {
    OutputFile.write(file, "old");
    permit("rw-rw----");
    assertThrows(
        UncheckedIOException.class,
        () ->
            OutputFile.write(
                file,
                text -> {
                  text.append("new");
                  throw new IOException("full");
                }));
    assertEquals("old", Files.readString(file));
    assertEquals("rw-rw----", permissions());
    assertEquals(List.of(file), files());
  }

  @Test
  void shouldNameTheFileWhateverTheContentThrows() {
    UncheckedIOException thrown =
        assertThrows(
            UncheckedIOException.class,
            () ->
                OutputFile.make(
                    file,
                    made -> {
                      throw new UncheckedIOException(new IOException("full"));
                    }));
    assertEquals(file + ": full", thrown.getCause().getMessage());
  }

  @Test
  void shouldNotPutAFileInThePlaceOfAPipe() throws Exception {
    assumeTrue(new ProcessBuilder("mkfifo", file.toString()).start().waitFor() == 0);
    String message =
        assertThrows(
                UncheckedIOException.class,
                () -> OutputFile.make(file, made -> Files.writeString(made, "new")))
            .getCause()
            .getMessage();
    assertEquals(file + ": is no regular file", message);
    assertEquals(List.of(file), files());
  }
}
