package io.prmalloc.pool.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.os.AgronaAccess;
import io.prmalloc.internal.os.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * No class of ours is initialized by a request: a class whose static initializer fails because the
 * heap is exhausted cannot be used in this process any more.
 */
class FirstUseTest {

  /** Classes without a static initializer, which cannot fail, have {@code (no method)} behind. */
  private static final Pattern INITIALIZED =
      Pattern.compile("Initializing '(io/prmalloc/[\\w/$]+)' ?(?!\\(no method\\))\\(0x");

  /** JNA is loaded where somebody needs it and not before: here to trim the C library's heap. */
  private static final Pattern NATIVE_CALLS =
      Pattern.compile(
          "io\\.prmalloc\\.internal\\.os\\.(Natives\\$Holder|NativeBindings|JnaCalls\\$.*)");

  @TempDir private Path directory;

  @Test
  void shouldInitializeNoClassWhenAPoolThatIsBuiltServes() throws Exception {
    Path log = directory.resolve("classes");
    ChildJvm.Result result =
        new ChildJvm(directory)
            .flags("-Xlog:class+init=info:file=" + log)
            .flags(AgronaAccess.FLAG.split(" ", -1))
            .run(FirstUseMain.class);
    assertEquals(0, result.exitCode(), result.errors());
    assertEquals("done", result.output());
    List<String> initialized =
        INITIALIZED
            .matcher(Files.readString(log))
            .results()
            .map(found -> found.group(1).replace('/', '.'))
            .filter(name -> !NATIVE_CALLS.matcher(name).matches())
            .toList();
    int built = initialized.indexOf(FirstUseMain.Built.class.getName());
    int served = initialized.indexOf(FirstUseMain.Served.class.getName());
    assertTrue(built > 0 && served > built, () -> "the log is of no use: " + initialized);
    assertEquals(List.of(), initialized.subList(built + 1, served));
  }
}
