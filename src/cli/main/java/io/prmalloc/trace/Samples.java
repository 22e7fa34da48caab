package io.prmalloc.trace;

import io.prmalloc.plan.arena.Graph;
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

  private static final String GRAPHS = "sample:mobilenet-v1 and sample:mobilenet-v2";

  private Samples() {}

  /**
   * A trace, or a graph as the trace of one run.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if there is no such sample
   */
  static Trace read(String name) {
    return name.equals(MOBILENET)
        ? EventsReader.read("sample:" + name, bytes(name))
        : lifetimes(name).toTrace();
  }

  /**
   * The tensors of a trace or a graph.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if there is no such sample
   */
  static TensorLifetimes lifetimes(String name) {
    return name.equals(MOBILENET)
        ? TensorLifetimes.of(read(name))
        : TensorLifetimes.of("sample:" + name, graph(name));
  }

  /**
   * A graph; {@link MobileNetGraphs} makes them.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if there is no such sample, or it is no graph
   */
  static Graph graph(String name) {
    return switch (name) {
      case "mobilenet-v1" -> MobileNetGraphs.v1();
      case "mobilenet-v2" -> MobileNetGraphs.v2();
      case MOBILENET ->
          throw new IllegalArgumentException(
              "sample:mobilenet is a trace and no graph; " + GRAPHS + " are");
      default ->
          throw new IllegalArgumentException(
              "sample:" + name + " is not there; there are sample:mobilenet, " + GRAPHS);
    };
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
