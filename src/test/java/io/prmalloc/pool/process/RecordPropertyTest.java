package io.prmalloc.pool.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.os.ChildJvm;
import io.prmalloc.recording.Recordings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code -Dprmalloc.record=FILE}. */
class RecordPropertyTest {

  private static final List<String> FIRST = List.of("a 0 100 64 -1", "f 0 -1");
  private static final List<String> SECOND = List.of("a 0 200 64 -1", "f 0 -1", "a 2 300 64 -1");

  @TempDir private Path directory;

  private ChildJvm.Result run(Path file, String... arguments) throws Exception {
    return new ChildJvm(directory)
        .flags("-Dprmalloc.record=" + file)
        .run(RecordPropertyMain.class, arguments);
  }

  @Test
  void shouldRecordEveryPoolToTheEndWhenTheProgramEndsInOrder() throws Exception {
    Path file = directory.resolve("trace");
    Files.writeString(file, "of the run before");
    ChildJvm.Result result = run(file);

    assertEquals(0, result.exitCode(), "" + result);
    assertEquals("of the run before", Files.readString(file));
    assertEquals(FIRST, Recordings.events(directory.resolve("trace.2")));
    assertEquals(SECOND, Recordings.events(directory.resolve("trace.3")));
    assertEquals("CLOSED", Recordings.end(directory.resolve("trace.3")));
  }

  @Test
  void shouldLeaveWhatWasWrittenWhenTheProgramIsKilled() throws Exception {
    Path file = directory.resolve("trace");
    ChildJvm.Result result = run(file, "halt");

    assertEquals(9, result.exitCode(), "" + result);
    assertEquals(FIRST, Recordings.events(file));
    assertEquals(SECOND, Recordings.events(directory.resolve("trace.2")));
    assertTrue(Recordings.end(directory.resolve("trace.2")).startsWith("has no end"), "killed");
  }

  @Test
  void shouldFailAtTheStartWhenTheFileCannotBeWritten() throws Exception {
    ChildJvm.Result result = run(directory.resolve("absent").resolve("trace"));

    assertEquals(1, result.exitCode(), "" + result);
    assertTrue(result.errors().contains("NoSuchFileException"), result.errors());
  }
}
