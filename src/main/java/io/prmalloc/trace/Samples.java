package io.prmalloc.trace;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/**
 * Traces that come with the library, as resources next to this class.
 *
 * <p>Threading: any thread.
 */
final class Samples {

  /** One inference step of a MobileNet; {@link MobileNetSample} makes it. */
  static final String MOBILENET = "mobilenet";

  private Samples() {}

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if there is no such sample
   */
  static Trace read(String name) {
    if (!name.equals(MOBILENET)) {
      throw new IllegalArgumentException(
          "sample:" + name + " is not there; there is sample:mobilenet");
    }
    return EventsReader.read("sample:" + name, bytes(name));
  }

  /** The resource as it is, in the format {@link TraceFormat#EVENTS}. Threading: any thread. */
  static byte[] bytes(String name) {
    try (InputStream in = Samples.class.getResourceAsStream(name + ".ev")) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
