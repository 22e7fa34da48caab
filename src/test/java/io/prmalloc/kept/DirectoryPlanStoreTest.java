package io.prmalloc.kept;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.os.ChildJvm;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoryPlanStoreTest {

  private static final String KEY = "model.v3";

  @TempDir private Path directory;

  private static byte[] bytes(int value) {
    return ByteBuffer.allocate(4).putInt(value).array();
  }

  private static int value(byte[] bytes) {
    return ByteBuffer.wrap(bytes).getInt();
  }

  @Test
  void shouldReplaceOnlyWhatWasReadWhenBytesArePutUnderAKey() throws IOException {
    try (PlanStore store = PlanStore.directory(directory)) {
      assertTrue(store.read(KEY).isEmpty());
      assertFalse(store.replace(KEY, Optional.of(bytes(1)), bytes(2)));
      assertTrue(store.read(KEY).isEmpty());
      assertTrue(store.replace(KEY, Optional.empty(), bytes(1)));
      assertFalse(store.replace(KEY, Optional.empty(), bytes(2)));
      assertFalse(store.replace(KEY, Optional.of(bytes(2)), bytes(3)));
      assertTrue(store.replace(KEY, Optional.of(bytes(1)), bytes(2)));
      assertArrayEquals(bytes(2), store.read(KEY).orElseThrow());
      assertTrue(store.read("other.v3").isEmpty());
    }
    assertArrayEquals(bytes(2), Files.readAllBytes(directory.resolve(KEY + ".json")));
  }

  @Test
  void shouldSayThatItIsAwayWhenThereIsNoDirectory() throws IOException {
    PlanStore store = PlanStore.directory(directory.resolve("later"));
    assertThrows(NotDirectoryException.class, () -> store.read(KEY));
    assertFalse(store.replace(KEY, Optional.empty(), bytes(1)));
    Files.createDirectory(directory.resolve("later"));
    assertTrue(store.replace(KEY, Optional.empty(), bytes(1)));
  }

  @Test
  void shouldFollowLinksWhenAConfigMapIsMounted() throws IOException {
    // Files of a ConfigMap are links to a directory that is exchanged as a whole.
    for (int version = 1; version <= 2; version++) {
      Path data = Files.createDirectory(directory.resolve("..data" + version));
      Files.write(data.resolve(KEY + ".json"), bytes(version));
    }
    Path current = directory.resolve("..data");
    Files.createSymbolicLink(current, Path.of("..data1"));
    Files.createSymbolicLink(directory.resolve(KEY + ".json"), Path.of("..data", KEY + ".json"));
    PlanStore store = PlanStore.directory(directory);
    assertArrayEquals(bytes(1), store.read(KEY).orElseThrow());
    Files.delete(current);
    Files.createSymbolicLink(current, Path.of("..data2"));
    assertArrayEquals(bytes(2), store.read(KEY).orElseThrow());
  }

  @Test
  void shouldChangeNothingElsewhereWhenAPlanIsALink(@TempDir Path elsewhere) throws IOException {
    Path precious = Files.writeString(elsewhere.resolve("precious"), "not for them");
    Path plan = directory.resolve(KEY + ".json");
    Files.createSymbolicLink(plan, precious);
    PlanStore store = PlanStore.directory(directory);
    Optional<byte[]> read = store.read(KEY);
    assertFalse(store.replace(KEY, read, bytes(1)));
    assertEquals("not for them", Files.readString(precious));
    // One that leads nowhere would make a file there.
    Files.delete(precious);
    assertFalse(store.replace(KEY, Optional.empty(), bytes(1)));
    assertFalse(Files.exists(precious));
    Files.delete(plan);
    Files.createSymbolicLink(directory.resolve("." + KEY + ".lock"), precious);
    assertThrows(IOException.class, () -> store.replace(KEY, Optional.empty(), bytes(1)));
    assertFalse(Files.exists(precious));
  }

  @Test
  void shouldWaitForNobodyWhenAPlanIsAPipe() throws Exception {
    Path pipe = directory.resolve(KEY + ".json");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    PlanStore store = PlanStore.directory(directory);
    IOException refused = assertThrows(IOException.class, () -> store.read(KEY));
    assertEquals(pipe + ": is no regular file", refused.getMessage());
    assertThrows(IOException.class, () -> store.replace(KEY, Optional.empty(), bytes(1)));
  }

  @Test
  void shouldWaitForNobodyWhenALockIsAPipe() throws Exception {
    Path pipe = directory.resolve("." + KEY + ".lock");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    PlanStore store = PlanStore.directory(directory);
    IOException refused =
        assertThrows(IOException.class, () -> store.replace(KEY, Optional.empty(), bytes(1)));
    assertEquals(pipe + ": is no regular file", refused.getMessage());
    Files.delete(pipe);
    assertTrue(store.replace(KEY, Optional.empty(), bytes(1)));
  }

  @Test
  void shouldNotPublishWhenAnotherHasTheLock() throws IOException {
    PlanStore store = PlanStore.directory(directory);
    try (FileChannel channel =
            FileChannel.open(
                directory.resolve("." + KEY + ".lock"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        FileLock lock = channel.lock()) {
      assertTrue(lock.isValid());
      assertFalse(store.replace(KEY, Optional.empty(), bytes(1)));
    }
    assertTrue(store.replace(KEY, Optional.empty(), bytes(1)));
  }

  @Test
  void shouldLetAllLockWhoMayWriteInTheDirectory() throws IOException {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwx---"));
    assertTrue(PlanStore.directory(directory).replace(KEY, Optional.empty(), bytes(1)));
    Path lock = directory.resolve("." + KEY + ".lock");
    assertEquals("rw-rw----", PosixFilePermissions.toString(Files.getPosixFilePermissions(lock)));
  }

  @Test
  void shouldReadNoMoreThanThereMayBe() throws IOException {
    try (FileChannel file =
        FileChannel.open(
            directory.resolve(KEY + ".json"),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(bytes(1)), PlanStore.MAX_BYTES * 3L);
    }
    byte[] read = PlanStore.directory(directory).read(KEY).orElseThrow();
    assertEquals(PlanStore.MAX_BYTES + 1, read.length);
  }

  /** Adds one so many times. */
  static final class Adder {
    public static void main(String... arguments) throws IOException {
      PlanStore store = PlanStore.directory(Path.of(arguments[0]));
      int left = Integer.parseInt(arguments[1]);
      while (left > 0) {
        Optional<byte[]> read = store.read(KEY);
        int next = read.map(DirectoryPlanStoreTest::value).orElse(0) + 1;
        left -= store.replace(KEY, read, bytes(next)) ? 1 : 0;
      }
    }
  }

  @Test
  void shouldLoseNothingWhenProcessesPublishAtTheSameTime(@TempDir Path output) throws Exception {
    int each = 200;
    // Two threads of one process beside another process.
    List<Thread> threads = List.of(new Thread(() -> add(each)), new Thread(() -> add(each)));
    threads.forEach(Thread::start);
    ChildJvm.Result child =
        new ChildJvm(output).run(Adder.class, directory.toString(), Integer.toString(each));
    assertEquals(new ChildJvm.Result(0, "", ""), child);
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(3 * each, value(PlanStore.directory(directory).read(KEY).orElseThrow()));
    try (var files = Files.list(directory)) {
      assertEquals(2, files.count(), "the file and its lock are all that is left");
    }
  }

  private void add(int times) {
    try {
      Adder.main(directory.toString(), Integer.toString(times));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
