package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.internal.os.AgronaAccess;
import io.prmalloc.internal.os.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pool in a JVM without Agrona's flag, without JNA, and with little memory. */
class NoFlagTest {

  @TempDir private Path directory;

  private static void assertDone(ChildJvm.Result result) {
    assertEquals(0, result.exitCode(), result.errors());
    assertEquals("done", result.output());
  }

  private String[] logClassesTo(Path file) {
    return new String[] {"-Xlog:class+load:file=" + file};
  }

  @Test
  void shouldWorkInSilenceAndWithoutJnaWhenOnlyHandlesAreUsed() throws Exception {
    Path classes = directory.resolve("classes");
    ChildJvm.Result result =
        new ChildJvm(directory).flags(logClassesTo(classes)).run(ChildMain.class, "handles");
    assertDone(result);
    assertEquals("", result.errors());
    String loaded = Files.readString(classes);
    assertTrue(loaded.contains("io.prmalloc.CpuAllocator"), "the log of classes is of no use");
    assertFalse(loaded.contains("com.sun.jna"), "JNA was loaded");
  }

  @Test
  void shouldLoadWhatTheJitNeedsToInlineAccessWhenABlockIsMade() throws Exception {
    Path classes = directory.resolve("classes");
    assertDone(
        new ChildJvm(directory)
            // Or the JIT, when it compiles what returns it, loads it, too.
            .flags("-Xint")
            .flags(logClassesTo(classes))
            .run(ChildMain.class, "block"));
    String needed =
        Runtime.version().feature() < 19
            ? "jdk.internal.misc.ScopedMemoryAccess$Scope "
            : "jdk.internal.foreign.MemorySessionImpl ";
    assertTrue(Files.readString(classes).contains(needed), needed + "was not loaded");
  }

  @Test
  void shouldTellAddressesWhenThereIsNoFlag() throws Exception {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "JNA is used on Linux only");
    // The child looks at the memory through JNA, of which Java 24 and later warn; so what it writes
    // is not looked at.
    assertDone(new ChildJvm(directory).run(ChildMain.class, "address"));
  }

  @Test
  void shouldSayWhatHelpsWhenThereIsNeitherFlagNorJna() throws Exception {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "usage is read from /proc");
    assertDone(
        new ChildJvm(directory)
            .flags(
                "-Djna.nounpack=true", "-Djna.nosys=true", "-Djna.boot.library.path=" + directory)
            .run(ChildMain.class, "withoutJna"));
  }

  @Test
  void shouldRefuseToBuildAPoolWhenItsMemoryNeedsJnaThatCannotUnpack() throws Exception {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "JNA is used on Linux only");
    // A file is no directory, whoever asks.
    String nowhere = Files.createFile(directory.resolve("file")).resolve("tmp").toString();
    ChildJvm.Result result =
        new ChildJvm(directory)
            .flags("-Djna.nosys=true", "-Djna.tmpdir=" + nowhere, "-Djava.io.tmpdir=" + nowhere)
            .run(ChildMain.class, "poolsWithoutJna");
    assertDone(result);
    assertTrue(
        result.errors().contains("memory comes from elsewhere: mapped memory is not supported"),
        result.errors());
  }

  @Test
  void shouldThrowOutOfNativeMemoryWhenTheJvmsLimitIsReached() throws Exception {
    assertDone(
        new ChildJvm(directory)
            .flags("-XX:MaxDirectMemorySize=8m")
            .run(ChildMain.class, "directLimit"));
  }

  @Test
  void shouldGiveMemoryBackWhenPoolsAreDropped() throws Exception {
    assertDone(
        new ChildJvm(directory)
            .flags("-XX:MaxDirectMemorySize=16m")
            .run(ChildMain.class, "droppedPools"));
    assertDone(
        new ChildJvm(directory)
            .flags("-XX:MaxDirectMemorySize=16m")
            .flags(AgronaAccess.FLAG.split(" ", -1))
            .run(ChildMain.class, "droppedPools"));
  }

  @Test
  void shouldThrowOutOfNativeMemoryWhenTheSystemGrantsNoMoreMappings()
      throws IOException, InterruptedException {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "mmap is called on Linux only");
    assertDone(
        new ChildJvm(directory)
            .addressSpaceBytes(16L << 30)
            .run(ChildMain.class, "addressSpaceLimit"));
  }
}
