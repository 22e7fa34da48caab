package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.os.ChildJvm;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The core with nothing on the class path but itself, Agrona and JNA. */
class CoreAloneTest {

  @TempDir private Path directory;

  static Path placeOf(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  @Test
  void shouldWorkWhenNoOptionalDependencyIsThere() throws Exception {
    List<String> places = new ArrayList<>();
    List<Class<?>> needed =
        List.of(Allocator.class, ChildMain.class, UnsafeBuffer.class, com.sun.jna.Native.class);
    for (Class<?> type : needed) {
      places.add(placeOf(type).toString());
    }
    ChildJvm child =
        new ChildJvm(directory)
            .flags("-cp", String.join(System.getProperty("path.separator"), places));
    ChildJvm.Result result = child.run(ChildMain.class, "handles");
    assertEquals(0, result.exitCode(), result.errors());
    assertEquals("done", result.output());
  }

  @Test
  void shouldMissNettyAndNothingElseWhenAnAdapterIsLoadedWithoutIt() throws Exception {
    URL[] ours = {placeOf(Allocator.class).toUri().toURL()};
    try (URLClassLoader alone = new URLClassLoader(ours, ClassLoader.getPlatformClassLoader())) {
      NoClassDefFoundError missing =
          assertThrows(
              NoClassDefFoundError.class,
              () -> Class.forName("io.prmalloc.netty.PrmallocByteBufAllocator", true, alone));
      assertTrue(missing.getMessage().startsWith("io/netty/buffer/"), missing.getMessage());
    }
  }
}
