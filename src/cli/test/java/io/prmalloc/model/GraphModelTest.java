package io.prmalloc.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.model.GraphModel.NodeNote;
import io.prmalloc.model.GraphModel.Part;
import io.prmalloc.model.GraphModel.TensorNote;
import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.arena.ArenaOptions;
import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import io.prmalloc.plan.arena.TensorKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("jdk-independent")
class GraphModelTest {

  /** Tensors of these sizes; node i reads tensor i and writes tensor i + 1, and calls. */
  private static Part chain(List<List<Integer>> calls, long... sizes) {
    List<Tensor> tensors =
        Arrays.stream(sizes).mapToObj(size -> new Tensor(size, TensorKind.ARENA)).toList();
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < calls.size(); i++) {
      nodes.add(new Node(List.of(i), List.of(i + 1), List.of()));
    }
    return new Part(
        "",
        new Graph(tensors, nodes, List.of(0), List.of(calls.size()), List.of()),
        calls.stream().map(callees -> new NodeNote("", callees)).toList(),
        Collections.nCopies(sizes.length, TensorNote.NONE));
  }

  private static GraphModel model(Part... parts) {
    return new GraphModel(List.of(parts), 4, List.of());
  }

  private static long load(Graph graph) {
    return LowerBounds.loadBytes(List.copyOf(graph.usageRecords(ArenaOptions.DEFAULT).values()));
  }

  @Test
  void shouldRunCalledGraphsOneAfterTheOtherWhenOneGraphIsMadeOfAll() {
    GraphModel model =
        model(
            chain(List.of(List.of(), List.of(1, 2)), 1, 10, 100),
            chain(List.of(List.of()), 1000, 2000),
            chain(List.of(), 9000));

    Graph whole = model.whole();

    // Nodes: the first; into 1; the one of 1; out of 1 and into 2; out of 2.
    assertEquals(5, whole.nodes().size());
    Map<Integer, TensorUsageRecord> lives = whole.usageRecords(ArenaOptions.DEFAULT);
    assertEquals(new TensorUsageRecord(1, 0, 0), lives.get(0));
    assertEquals(new TensorUsageRecord(10, 0, 4), lives.get(1));
    assertEquals(new TensorUsageRecord(100, 1, 4), lives.get(2));
    assertEquals(new TensorUsageRecord(1000, 1, 2), lives.get(3));
    assertEquals(new TensorUsageRecord(2000, 2, 3), lives.get(4));
    assertEquals(new TensorUsageRecord(9000, 3, 4), lives.get(5));
    assertEquals(10 + 100 + 2000 + 9000, load(whole));
    assertEquals("subgraph 1: ", whole.tensors().get(3).name());
  }

  @Test
  void shouldEndWithTheCallWhenACalledGraphLeavesTensorsUnread() {
    Part called = chain(List.of(List.of()), 50, 60);
    Graph unread =
        new Graph(
            called.graph().tensors(), called.graph().nodes(), List.of(0), List.of(), List.of());
    GraphModel model =
        model(
            chain(List.of(List.of(1), List.of(1)), 1, 1, 1),
            new Part("", unread, called.nodes(), called.tensors()));

    // Of two calls of one graph each has tensors of its own, gone when the other begins.
    assertEquals(2 + 50 + 60, load(model.whole()));
    assertEquals(3 + 2 + 2, model.whole().tensors().size());
  }

  @Test
  void shouldAddUpThePathOfCallsWhenAskedForTheMostAtOnce() {
    GraphModel model =
        model(
            chain(List.of(List.of(1, 2)), 1, 1),
            chain(List.of(List.of(3)), 1, 1),
            chain(List.of(), 1),
            chain(List.of(), 1),
            chain(List.of(), 1));

    assertEquals(10 + 20 + 5, model.bytesAtOnce(List.of(10L, 20L, 24L, 5L, 7L)));
    assertEquals(10 + 26, model.bytesAtOnce(List.of(10L, 20L, 26L, 5L, 7L)));
    assertEquals(99, model.bytesAtOnce(List.of(10L, 20L, 26L, 5L, 99L)));
  }

  @Test
  void shouldBeTheGraphItselfWhenNothingIsCalled() {
    Part part = chain(List.of(List.of()), 1, 2);
    assertSame(part.graph(), model(part).whole());
    assertSame(part.graph(), GraphModel.of(part.graph()).whole());
    GraphModel called = model(chain(List.of(List.of(1)), 1, 1), part);
    assertEquals(1, called.only(0).parts().size());
    assertSame(called.parts().get(0).graph(), called.only(0).whole());
  }

  @Test
  void shouldRefuseWhenCallsMultiplyBeyondBounds() {
    // Each graph calls the next one twice.
    Part[] parts = new Part[31];
    for (int i = 0; i < 30; i++) {
      parts[i] = chain(List.of(List.of(i + 1), List.of(i + 1)), 1, 1, 1);
    }
    parts[30] = chain(List.of(), 1);

    assertEquals(
        "the model's calls make more than 262144 nodes or tensors of it",
        assertThrows(IllegalArgumentException.class, () -> model(parts).whole()).getMessage());
  }

  @Test
  void shouldRefuseWhenNotesAreMissing() {
    Part part = chain(List.of(List.of()), 1, 2);
    assertEquals(
        "there are notes for 0 nodes and 2 tensors, of 1 and 2",
        assertThrows(
                IllegalArgumentException.class,
                () -> new Part("", part.graph(), List.of(), part.tensors()))
            .getMessage());
  }
}
