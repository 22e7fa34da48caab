package io.prmalloc.plan.arena;

import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Makes valid graphs of every shape: with several readers, without any, with optional inputs,
 * temporaries, variables, and all kinds of tensor.
 *
 * <p>Threading: one thread at a time.
 */
final class RandomGraphs {

  private final Random random;
  private final List<Tensor> tensors = new ArrayList<>();
  private final List<Integer> readable = new ArrayList<>();

  private RandomGraphs(long seed) {
    this.random = new Random(seed);
  }

  static Graph of(long seed) {
    return new RandomGraphs(seed).make();
  }

  /** A third of the tensors of the arena has a fixed offset, aligned or not. */
  static Graph withFixedOffsets(long seed) {
    Graph graph = of(seed);
    Random random = new Random(seed);
    List<Tensor> tensors = new ArrayList<>();
    for (Tensor tensor : graph.tensors()) {
      boolean fixed = tensor.kind() == TensorKind.ARENA && random.nextInt(3) == 0;
      long offset = fixed ? random.nextInt(400) : Graph.ANYWHERE;
      tensors.add(new Tensor(tensor.bytes(), tensor.kind(), "", offset));
    }
    return new Graph(tensors, graph.nodes(), graph.inputs(), graph.outputs(), graph.variables());
  }

  private Graph make() {
    List<Integer> inputs = new ArrayList<>();
    List<Integer> variables = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      inputs.add(random.nextInt(6) == 0 ? Graph.ABSENT : readable(someKind()));
    }
    for (int i = random.nextInt(3); i > 0; i--) {
      variables.add(readable(random.nextBoolean() ? TensorKind.PERSISTENT : TensorKind.ARENA));
    }
    readable(TensorKind.CONSTANT);
    List<Node> nodes = new ArrayList<>();
    int count = random.nextInt(12);
    for (int i = 0; i < count; i++) {
      List<Integer> nodeInputs = some(4);
      List<Integer> temporaries = new ArrayList<>();
      for (int k = random.nextInt(3); k > 0; k--) {
        temporaries.add(tensor(someKind()));
      }
      List<Integer> outputs = new ArrayList<>();
      for (int k = random.nextInt(3); k > 0; k--) {
        outputs.add(tensor(someKind()));
      }
      readable.addAll(outputs);
      nodes.add(new Node(nodeInputs, outputs, temporaries));
    }
    tensor(TensorKind.ARENA);
    return new Graph(tensors, nodes, inputs, some(3), variables);
  }

  private List<Integer> some(int most) {
    List<Integer> some = new ArrayList<>();
    for (int i = random.nextInt(most + 1); i > 0; i--) {
      some.add(
          random.nextInt(8) == 0 ? Graph.ABSENT : readable.get(random.nextInt(readable.size())));
    }
    return some;
  }

  private TensorKind someKind() {
    return switch (random.nextInt(12)) {
      case 0 -> TensorKind.PERSISTENT;
      case 1 -> TensorKind.DYNAMIC;
      default -> TensorKind.ARENA;
    };
  }

  private int readable(TensorKind kind) {
    readable.add(tensor(kind));
    return tensors.size() - 1;
  }

  private int tensor(TensorKind kind) {
    tensors.add(new Tensor(random.nextInt(10) == 0 ? 0 : random.nextInt(200), kind));
    return tensors.size() - 1;
  }
}
