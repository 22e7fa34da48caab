package io.prmalloc.plan.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class GraphTest {

  private static final Tensor SOME = new Tensor(8, TensorKind.ARENA);
  private static final Tensor CONSTANT = new Tensor(8, TensorKind.CONSTANT);

  /** Tensor 0 is given, 1 the first output, 2 the second, 3 a temporary, 4 constant, 5 variable. */
  private final List<Tensor> tensors =
      new ArrayList<>(List.of(SOME, SOME, SOME, SOME, CONSTANT, SOME));

  private Node first = new Node(List.of(0, 4, 5, -1), List.of(1, -1), List.of());
  private Node second = new Node(List.of(1, 0), List.of(2), List.of(3, -1));
  private List<Integer> inputs = List.of(0, -1);
  private List<Integer> outputs = List.of(2, -1);
  private List<Integer> variables = List.of(5);

  private Graph graph() {
    return new Graph(tensors, List.of(first, second), inputs, outputs, variables);
  }

  private void assertWrong(String place, String what) {
    InvalidGraphException wrong = assertThrows(InvalidGraphException.class, this::graph);
    assertEquals(place + ": " + what, wrong.getMessage());
    assertEquals(place, wrong.place());
  }

  @Test
  void shouldBeMadeWhenItIsSound() {
    assertEquals(2, graph().nodes().size());
    outputs = List.of(2, 2, 0, 4, 5);
    assertEquals(5, graph().outputs().size());
  }

  @Test
  void shouldBeMadeWhenAnOutputIsNeverProduced() {
    second = new Node(List.of(), List.of(), List.of());

    assertEquals(List.of(2, -1), graph().outputs());
  }

  @Test
  void shouldBeRefusedWhenATensorDoesNotExist() {
    first = new Node(List.of(0, 6), List.of(1), List.of());
    assertWrong("nodes[0].inputs[1]", "tensor 6 does not exist; the graph has 6 tensors");
    outputs = List.of(7);
    first = new Node(List.of(0), List.of(1), List.of());
    assertWrong("outputs[0]", "tensor 7 does not exist; the graph has 6 tensors");
    variables = List.of(5, 8);
    assertWrong("variables[1]", "tensor 8 does not exist; the graph has 6 tensors");
    inputs = List.of(Integer.MAX_VALUE);
    assertWrong("inputs[0]", "tensor 2147483647 does not exist; the graph has 6 tensors");
  }

  @Test
  void shouldBeRefusedWhenAnIndexIsBelowMinusOne() {
    second = new Node(List.of(), List.of(), List.of(-2));
    assertWrong("nodes[1].temporaries[0]", "tensor -2 is below -1, which is an absent tensor");
  }

  @Test
  void shouldBeRefusedWhenATensorIsProducedTwice() {
    second = new Node(List.of(), List.of(2, 1), List.of());
    assertWrong(
        "nodes[1].outputs[1]",
        "tensor 1 is produced a second time; it is an output of node 0 already");
    second = new Node(List.of(), List.of(2, 0), List.of());
    assertWrong(
        "nodes[1].outputs[1]",
        "tensor 0 is produced a second time; it is an input of the graph already");
    second = new Node(List.of(), List.of(2), List.of(3, 3));
    assertWrong(
        "nodes[1].temporaries[1]",
        "tensor 3 is produced a second time; it is a temporary of node 1 already");
    second = new Node(List.of(), List.of(2), List.of(5));
    assertWrong("nodes[1].temporaries[0]", "tensor 5 is a variable");
  }

  @Test
  void shouldBeRefusedWhenAConstantIsWritten() {
    second = new Node(List.of(), List.of(4), List.of());
    assertWrong("nodes[1].outputs[0]", "tensor 4 is constant and cannot be written");
  }

  @Test
  void shouldBeRefusedWhenWhatIsReadIsNotThere() {
    first = new Node(List.of(0, 2), List.of(1), List.of());
    assertWrong("nodes[0].inputs[1]", "tensor 2 is read before node 1 produces it");
    first = new Node(List.of(1), List.of(1), List.of());
    assertWrong("nodes[0].inputs[0]", "tensor 1 is read before node 0 produces it");
    first = new Node(List.of(3), List.of(1), List.of());
    assertWrong("nodes[0].inputs[0]", "tensor 3 is only a temporary of node 1");
    first = new Node(List.of(0), List.of(), List.of());
    assertWrong("nodes[1].inputs[0]", "tensor 1 is read but never produced");
    first = new Node(List.of(0), List.of(), List.of(1));
    assertWrong("nodes[1].inputs[0]", "tensor 1 is only a temporary of node 0");
  }

  @Test
  void shouldBeRefusedWhenATemporaryIsAnOutput() {
    outputs = List.of(3);
    assertWrong("outputs[0]", "tensor 3 is a temporary of node 1");
  }

  @Test
  void shouldBeRefusedWhenASizeIsOutOfBounds() {
    tensors.set(3, new Tensor(-1, TensorKind.ARENA));
    assertWrong("tensors[3].bytes", "bytes -1 is not from 0 to 1099511627776");
    tensors.set(3, new Tensor((1L << 40) + 1, TensorKind.DYNAMIC));
    assertWrong("tensors[3].bytes", "bytes 1099511627777 is not from 0 to 1099511627776");
  }

  @Test
  void shouldBeRefusedWhenAFixedOffsetIsOutOfBounds() {
    tensors.set(3, new Tensor(8, TensorKind.ARENA, "", -2));
    assertWrong("tensors[3].fixedOffset", "fixedOffset -2 is not from -1 to 1099511627776");
    tensors.set(3, new Tensor(8, TensorKind.ARENA, "", (1L << 40) + 1));
    assertWrong(
        "tensors[3].fixedOffset", "fixedOffset 1099511627777 is not from -1 to 1099511627776");
    tensors.set(3, new Tensor(8, TensorKind.DYNAMIC, "", 0));
    assertWrong("tensors[3].fixedOffset", "fixedOffset 0 is of a tensor of type dynamic");
  }

  @Test
  void shouldBeRefusedWhenTheSizesOverflowInSum() {
    List<Tensor> many =
        Collections.nCopies(1 << 23, new Tensor(Graph.MAX_TENSOR_BYTES, TensorKind.DYNAMIC));

    InvalidGraphException wrong =
        assertThrows(
            InvalidGraphException.class,
            () -> new Graph(many, List.of(), List.of(), List.of(), List.of()));

    assertEquals(
        "tensors[4194303].bytes: the sizes up to here sum to more than 4611686018427387903 bytes",
        wrong.getMessage());
  }

  @Test
  void shouldRefuseANameWhenItIsNoKind() {
    assertEquals(TensorKind.PERSISTENT, TensorKind.ofLabel("persistent"));
    assertEquals(
        "type `Arena` is none of arena, persistent, dynamic, constant",
        assertThrows(IllegalArgumentException.class, () -> TensorKind.ofLabel("Arena"))
            .getMessage());
  }
}
