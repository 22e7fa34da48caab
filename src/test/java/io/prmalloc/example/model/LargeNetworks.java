package io.prmalloc.example.model;

/** Networks of an operator or two, whose tensors are as large as one likes. */
public final class LargeNetworks {

  private static final int FLOAT = 1;
  private static final int INT64 = 7;
  private static final int STRING = 8;

  private LargeNetworks() {}

  /** Of INT64 {@code in}, a shape: as many zeros, of which the greatest is FLOAT {@code out}. */
  public static byte[] zeros() {
    OnnxGraph graph = new OnnxGraph();
    graph.node("ConstantOfShape", "zeros", "in");
    graph.node("ReduceMax", new OnnxMessage[] {OnnxGraph.number("keepdims", 0)}, "out", "zeros");
    return graph.toOnnx(INT64, new String[] {"in", "1"}, FLOAT, new String[] {"out"});
  }

  /** Of FLOAT {@code in}, [count]: the same as text, STRING {@code out}. */
  public static byte[] text() {
    OnnxGraph graph = new OnnxGraph();
    graph.node("Cast", new OnnxMessage[] {OnnxGraph.number("to", STRING)}, "out", "in");
    return graph.toOnnx(FLOAT, new String[] {"in", "count"}, STRING, new String[] {"out", "count"});
  }
}
