package io.prmalloc.pool;

import io.prmalloc.recording.Recording;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * Recordings without a change to the program: {@code -Dprmalloc.record=FILE}.
 *
 * <p>Threading: any thread.
 */
final class RecordProperty {

  // A process may have several pools, and a process that crashed is started again with the same
  // property: neither must overwrite a file. So the second one there is gets the name FILE.2 and so
  // on.
  //
  // Only its pool closes such a recording, and few programs close their pools. When the JVM ends in
  // order, a shutdown hook writes what is still in memory; the hook is removed with the pool.

  static final String NAME = "prmalloc.record";

  private static final int MOST_FILES = 10_000;

  private RecordProperty() {}

  /**
   * Starts the recording, if one is wanted.
   *
   * @return the pool; it is closed if this throws
   * @throws IllegalArgumentException if the property is not a path, or there are too many files
   * @throws UncheckedIOException if the file cannot be written
   */
  static TensorPoolAllocator obey(TensorPoolAllocator pool) {
    String value = System.getProperty(NAME, "");
    if (value.isEmpty()) {
      return pool;
    }
    try {
      Recording recording = record(pool, value);
      Thread hook = new Thread(recording::close, "prmalloc-recording-end");
      Runtime.getRuntime().addShutdownHook(hook);
      pool.afterClose(() -> forget(hook));
      return pool;
    } catch (Throwable e) {
      pool.close();
      throw e;
    }
  }

  /** A hook keeps its class loader. */
  private static void forget(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException jvmEnds) {
      // It runs.
    }
  }

  private static Recording record(TensorPoolAllocator pool, String value) {
    for (int number = 1; number <= MOST_FILES; number++) {
      try {
        return pool.record(Path.of(number == 1 ? value : value + "." + number));
      } catch (InvalidPathException e) {
        throw new IllegalArgumentException(
            "system property " + NAME + " is '" + value + "', not a path", e);
      } catch (UncheckedIOException e) {
        if (!(e.getCause() instanceof FileAlreadyExistsException)) {
          throw e;
        }
      }
    }
    throw new IllegalArgumentException(
        "system property "
            + NAME
            + ": "
            + value
            + " and "
            + MOST_FILES
            + " more are there already");
  }
}
