package io.prmalloc.example.model;

/**
 * A network whose outputs are of every kind that a shape can be unknown in. Its input is {@code
 * in}, FLOAT [batch, width]; its outputs are
 *
 * <ul>
 *   <li>{@code scores}, FLOAT [batch, width]: twice the input;
 *   <li>{@code turned}, FLOAT [rows, columns]: the same the other way round, under names of its
 *       own;
 *   <li>{@code places}, INT64 [2, found]: where the input is not zero, so that how many there are
 *       depends on the data;
 *   <li>{@code labels}, STRING [batch, width]: the input as text.
 * </ul>
 */
public final class OutputNetwork {

  private static final int FLOAT = 1;
  private static final int INT64 = 7;
  private static final int STRING = 8;

  private OutputNetwork() {}

  /** The file of the model. */
  public static byte[] toOnnx() {
    OnnxGraph graph = new OnnxGraph();
    graph.scalar("two", 2);
    graph.node("Mul", "scores", "in", "two");
    graph.node(
        "Transpose", new OnnxMessage[] {OnnxGraph.numbers("perm", 1, 0)}, "turned", "scores");
    graph.node("NonZero", "places", "in");
    graph.node("Cast", new OnnxMessage[] {OnnxGraph.number("to", STRING)}, "labels", "in");
    graph.output(FLOAT, "turned", "rows", "columns");
    graph.output(INT64, "places", "2", "found");
    graph.output(STRING, "labels", "batch", "width");
    return graph.toOnnx(
        new String[] {"in", "batch", "width"}, new String[] {"scores", "batch", "width"});
  }
}
