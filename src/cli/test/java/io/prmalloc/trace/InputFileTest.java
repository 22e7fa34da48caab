package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InputFileTest {

  @TempDir private Path directory;

  private Path file(byte[] bytes) throws IOException {
    return Files.write(directory.resolve("it's input"), bytes);
  }

  private static String refusal(Path file) {
    String message =
        assertThrows(
                TraceFormatException.class,
                () -> new TraceInput(file.toString(), null, null).readLifetimes())
            .getMessage();
    assertTrue(message.startsWith(file + ": "), message);
    return message.substring(file.toString().length() + 2);
  }

  @ParameterizedTest
  @CsvSource({
    "504b03041400, 'a zip archive, such as torch.save() and NumPy write,'",
    "504b0506, an empty zip archive",
    "fd377a585a0000, an xz file",
    "28b52ffd0458, a Zstandard file",
    "425a683931, a bzip2 file",
    "04224d186440, an LZ4 file",
    "377abcaf271c, a 7-Zip archive",
    "894844460d0a1a0a, an HDF5 file",
    "934e554d505901, a NumPy array",
    "47475546, a GGUF model",
    "40000000000000007b225f5f6d, a safetensors file",
    "4a4156412050524f46494c4520, a dump of a Java heap",
    "464c5200, a recording of Java Flight Recorder",
    "7f454c46, an ELF program or library",
    "fffe61002000, 'text in UTF-16, which must be UTF-8,'",
    "fffe000061000000, 'text in UTF-32, which must be UTF-8,'",
    "0000feff00000061, 'text in UTF-32, which must be UTF-8,'",
    "3c68746d6c3e, a page of HTML or XML",
    "5b7b225d, 'a list in JSON, such as torch.cuda.memory_snapshot() answers,'",
  })
  void shouldSayWhatItIsWhenItIsNotRead(String hexadecimal, String what) throws IOException {
    Path file = file(new java.math.BigInteger("01" + hexadecimal, 16).toByteArray());
    byte[] bytes = Files.readAllBytes(file);
    bytes = Arrays.copyOfRange(bytes, 1, bytes.length);

    assertEquals("is " + what + " and not read here", refusal(file(bytes)));
    assertEquals("is " + what + " and not read here", refusal(file(ForeignTraces.gzip(bytes))));
    assertEquals(
        file + ": is " + what + " and not read here",
        assertThrows(
                TraceFormatException.class,
                () -> new GraphInput(file.toString(), null, Map.of()).read())
            .getMessage());
  }

  @Test
  void shouldSayWhatItIsWhenItIsPackedTwiceOrATar() throws IOException {
    byte[] packed = ForeignTraces.gzip(ForeignTraces.utf8("a x 1\n"));
    assertEquals(
        "is a gzip file within a gzip file and not read here",
        refusal(file(ForeignTraces.gzip(packed))));
    byte[] tar = new byte[1024];
    System.arraycopy(ForeignTraces.utf8("name"), 0, tar, 0, 4);
    System.arraycopy(ForeignTraces.utf8("ustar"), 0, tar, 257, 5);
    assertEquals("is a tar archive and not read here", refusal(file(ForeignTraces.gzip(tar))));
  }

  @Test
  void shouldSayWhatIsWrongWhenAGzipFileIsDamaged() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 3000; i++) {
      text.append("a ").append(i * 7919 % 3001).append(' ').append(i * 31).append('\n');
    }
    byte[] packed = ForeignTraces.gzip(ForeignTraces.utf8(text.toString()));
    assertEquals(3000, read(packed));
    for (int length : new int[] {3, 9, 10, 11, packed.length / 2, packed.length - 1}) {
      assertEquals("is a gzip file that is cut off", refusal(file(Arrays.copyOf(packed, length))));
    }
    byte[] wrongSum = packed.clone();
    wrongSum[packed.length - 8] ^= 1;
    assertEquals("is a damaged gzip file: Corrupt GZIP trailer", refusal(file(wrongSum)));
    byte[] wrongMethod = packed.clone();
    wrongMethod[2] = 9;
    assertEquals(
        "is a damaged gzip file: Unsupported compression method", refusal(file(wrongMethod)));
  }

  private int read(byte[] bytes) throws IOException {
    return new TraceInput(file(bytes).toString(), null, null).read().tensorCount();
  }

  /** As {@code cat a.gz b.gz} makes it. */
  @Test
  void shouldReadAllMembersWhenAGzipFileHasSeveral() throws IOException {
    ByteArrayOutputStream both = new ByteArrayOutputStream();
    both.write(ForeignTraces.gzip(ForeignTraces.utf8("a x 1\n")));
    both.write(ForeignTraces.gzip(ForeignTraces.utf8("a y 1\n")));

    assertEquals(2, read(both.toByteArray()));
  }

  @Test
  void shouldTellTheCommandThatWorksWhenItIsAPickle() throws Exception {
    String python = "/usr/bin/python3";
    assumeTrue(Files.isExecutable(Path.of(python)), python + " is not there");
    Path json = Files.writeString(directory.resolve("snapshot.json"), ForeignTraces.SNAPSHOT);
    Path pickle = directory.resolve("it's input");
    for (String open : new String[] {"open", "gzip.open"}) {
      run(
          python,
          "-c",
          "import gzip, json, pickle, sys;"
              + " pickle.dump(json.load(open(sys.argv[1])), "
              + open
              + "(sys.argv[2], 'wb'))",
          json.toString(),
          pickle.toString());
      String refusal = refusal(pickle);
      String start = "is a PyTorch pickle, which only Python reads; this makes JSON of it: ";
      assertTrue(refusal.startsWith(start), refusal);

      run("sh", "-c", refusal.substring(start.length()));

      assertEquals(
          ForeignTraces.LOAD_BYTES,
          new TraceInput(pickle + ".json", null, null).read().loadBytes());
    }
    assertTrue(
        refusal(file(new byte[] {(byte) 0x80, 4, 'K', 1, '.'}))
            .startsWith(
                "is a Python pickle, which only Python reads; if it is a memory snapshot of"
                    + " PyTorch, this makes JSON of it: python3 "));
  }

  private static void run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), output);
    assertFalse(output.contains("Error"), output);
  }
}
