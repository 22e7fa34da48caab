package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.os.ChildJvm;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files are read piece by piece: a JVM of 64 MiB reads files that are larger than its heap. */
@Tag("jdk-independent")
class LargeFilesTest {

  private static final int CHUNK_BYTES = 64 * 1024;
  private static final int CHUNKS = 500;

  @TempDir private Path directory;

  /** Of the JVM that reads. */
  private static final long HEAP_BYTES = 24L << 20;

  private ChildJvm child() {
    return new ChildJvm(directory).withC2().flags("-Xmx" + HEAP_BYTES);
  }

  private static void write(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] chunkOf(char filling) {
    byte[] chunk = new byte[CHUNK_BYTES];
    Arrays.fill(chunk, (byte) filling);
    return chunk;
  }

  /** So much of nothing that it is more than the heap. */
  private static void writeNothing(OutputStream out, char filling) throws IOException {
    byte[] chunk = chunkOf(filling);
    for (int i = 0; i < CHUNKS; i++) {
      out.write(chunk);
    }
  }

  private String read(Path file) throws Exception {
    assertTrue(Files.size(file) > HEAP_BYTES, Files.size(file) + " bytes");
    ChildJvm.Result result = child().run(LargeFilesMain.class, file.toString());
    assertEquals(0, result.exitCode(), "" + result);
    return result.output().strip();
  }

  private OutputStream create(Path file) throws IOException {
    return new BufferedOutputStream(Files.newOutputStream(file));
  }

  @Test
  void shouldReadEventsWhenTheyStandBetweenBlanks() throws Exception {
    Path file = directory.resolve("events");
    try (OutputStream out = create(file)) {
      writeNothing(out, ' ');
      write(out, "a x 5");
      writeNothing(out, ' ');
      write(out, "\nf x 0\n");
    }
    assertEquals("events 1", read(file));
  }

  @Test
  void shouldReadAndWriteATableWhenMostOfItIsNotLookedAt() throws Exception {
    Path file = directory.resolve("table");
    byte[] comment = chunkOf('c');
    try (OutputStream out = create(file)) {
      write(out, "comment,id,size,first,last\n");
      for (int i = 0; i < CHUNKS; i++) {
        out.write(comment);
        write(out, ",t" + i + ",100," + i + "," + i + "\n");
      }
    }
    assertEquals("records " + CHUNKS, read(file));
    Path written = directory.resolve("table.out");
    assertTrue(Files.size(written) > Files.size(file), "with a column more");
  }

  @Test
  void shouldReadAGraphWhenMostOfItIsNotLookedAt() throws Exception {
    Path file = directory.resolve("graph");
    try (OutputStream out = create(file)) {
      write(out, "{\"comments\":[");
      String lists = "[1],".repeat(8_000);
      for (int i = 0; i < 1_000; i++) {
        write(out, lists);
      }
      write(out, "1],\"inputs\":[0],\"outputs\":[1],");
      writeNothing(out, ' ');
      write(out, "\"nodes\":[{\"inputs\":[0],\"outputs\":[1]}],");
      write(
          out, "\"tensors\":[{\"bytes\":3,\"type\":\"arena\"},{\"bytes\":3,\"type\":\"arena\"}]}");
    }
    assertEquals("graph 2", read(file));
  }

  /** A small file that unpacks to one for which the heap is too small. */
  @Test
  void shouldRefuseAGzipFileWhenWhatItHoldsDoesNotFit() throws Exception {
    Path file = directory.resolve("bomb");
    byte[] tensor = "a x 1\nf x 0\n".repeat(4096).getBytes(StandardCharsets.UTF_8);
    try (OutputStream out = new GZIPOutputStream(create(file))) {
      for (int i = 0; i < 800; i++) {
        out.write(tensor);
      }
    }
    assertTrue(Files.size(file) < 1 << 20, Files.size(file) + " bytes");
    ChildJvm.Result result =
        new ChildJvm(directory).withC2().run(LargeFilesMain.class, file.toString());
    // Of the 64 MiB collectors leave out what they copy into.
    Matcher told =
        Pattern.compile(Pattern.quote(file + ": does not fit into the heap of ") + "(\\d+) bytes")
            .matcher(result.errors());
    assertTrue(told.find(), result.errors());
    long heapBytes = Long.parseLong(told.group(1));
    assertTrue(heapBytes > 60 << 20 && heapBytes <= 64 << 20, result.errors());
  }

  /** What unpacks to much that nobody looks at takes no memory. */
  @Test
  void shouldReadAGzipFileWhenMostOfItIsBlank() throws Exception {
    Path file = directory.resolve("blank");
    try (OutputStream out = new GZIPOutputStream(create(file))) {
      write(out, "a x 5\n");
      writeNothing(out, '\n');
      write(out, "f x 0\n");
    }
    ChildJvm.Result result =
        new ChildJvm(directory).withC2().run(LargeFilesMain.class, file.toString());
    assertEquals(0, result.exitCode(), "" + result);
    assertEquals("events 1", result.output().strip());
  }

  @Test
  void shouldSayWhichLineIsTooLong() throws Exception {
    Path file = directory.resolve("events");
    try (OutputStream out = create(file)) {
      write(out, "a x 5\na ");
      writeNothing(out, 'y');
      write(out, " 5\n");
    }
    ChildJvm.Result result = child().run(LargeFilesMain.class, file.toString());
    assertTrue(
        result.errors().contains(file + ":2: is longer than 1048576 bytes"), result.errors());
  }
}
