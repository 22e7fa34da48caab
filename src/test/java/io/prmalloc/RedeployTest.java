package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Deploys applications one after the other in one JVM: nothing of ours keeps the class loader of
 * one that ended.
 */
class RedeployTest {

  private static final int DEPLOYMENTS = 3;

  /** The first mostly finds all; the JDK's own caches need some more. */
  private static final int COLLECTIONS = 100;

  @TempDir private Path directory;

  private static URL[] places() throws Exception {
    List<URL> places = new ArrayList<>();
    List<Class<?>> needed =
        List.of(Allocator.class, DeployedMain.class, UnsafeBuffer.class, com.sun.jna.Native.class);
    for (Class<?> type : needed) {
      places.add(type.getProtectionDomain().getCodeSource().getLocation());
    }
    return places.toArray(URL[]::new);
  }

  private static WeakReference<ClassLoader> deploy(String part) throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader own = new URLClassLoader(places(), ClassLoader.getPlatformClassLoader())) {
      thread.setContextClassLoader(own);
      Class<?> main = own.loadClass(DeployedMain.class.getName());
      ((Runnable) main.getConstructor(String.class).newInstance(part)).run();
      return new WeakReference<>(own);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static void check(String part) throws Exception {
    List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
    for (int i = 0; i < DEPLOYMENTS; i++) {
      loaders.add(deploy(part));
    }
    long alive = DEPLOYMENTS;
    for (int i = 0; i < COLLECTIONS && alive > 0; i++) {
      if (i > 0) {
        // What the JIT is about to compile holds its loader, too, for long on a busy machine.
        Thread.sleep(100);
      }
      System.gc();
      alive = loaders.stream().map(WeakReference::get).filter(Objects::nonNull).count();
    }
    assertEquals(0, alive, () -> "threads " + Thread.getAllStackTraces().keySet());
  }

  private static void assumeNativeCalls() {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "native calls are made on Linux");
  }

  @Test
  void shouldKeepNothingWhenAPoolWasClosed() throws Exception {
    check("direct");
  }

  @Test
  void shouldKeepNothingWhenAPoolOfLargeTensorsWasClosed() throws Exception {
    check("large");
  }

  @Test
  void shouldKeepNothingWhenMemoryWasMapped() throws Exception {
    assumeNativeCalls();
    check("mmap");
  }

  @Test
  void shouldKeepNothingWhenMemoryCameFromMalloc() throws Exception {
    assumeNativeCalls();
    check("malloc");
  }

  @Test
  void shouldKeepNothingWhenThePoolWasWatched() throws Exception {
    check("watched");
  }

  @Test
  void shouldKeepNothingWhenThePoolWasRecordedByProperty() throws Exception {
    System.setProperty("prmalloc.record", directory.resolve("recording").toString());
    try {
      check("recorded");
    } finally {
      System.clearProperty("prmalloc.record");
    }
    assertTrue(directory.resolve("recording.3").toFile().exists(), "nothing was recorded");
  }

  @Test
  void shouldKeepNothingWhenTheGlobalRegistryWasUsed() throws Exception {
    check("global");
  }
}
