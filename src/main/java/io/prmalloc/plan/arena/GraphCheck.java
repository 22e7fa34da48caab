package io.prmalloc.plan.arena;

import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import java.util.Arrays;
import java.util.List;

/**
 * Finds the first place where lists do not form a graph.
 *
 * <p>Threading: one thread at a time.
 */
final class GraphCheck {

  // The maker of each tensor is noted while walking the nodes in order, so that at any node the
  // notes say what is there already. What is found to be wrong is explained by a second walk, which
  // only the unhappy case pays for.

  /** The makers that are not nodes; a node's number is its own. */
  private static final int NOBODY = -1;

  private static final int GIVEN = -2;

  /** Room for every alignment's padding beside the sizes. */
  private static final long MAX_TOTAL_BYTES = Long.MAX_VALUE >> 1;

  private final List<Tensor> tensors;
  private final List<Node> nodes;
  private final int[] makers;
  private final boolean[] temporary;

  GraphCheck(List<Tensor> tensors, List<Node> nodes) {
    this.tensors = tensors;
    this.nodes = nodes;
    this.makers = new int[tensors.size()];
    this.temporary = new boolean[tensors.size()];
    Arrays.fill(makers, NOBODY);
  }

  /**
   * @throws InvalidGraphException at the first place that is wrong
   */
  void run(List<Integer> inputs, List<Integer> outputs, List<Integer> variables) {
    checkSizes();
    give("inputs", inputs);
    boolean[] variable = new boolean[tensors.size()];
    for (int i = 0; i < variables.size(); i++) {
      int tensor = checkIndex("variables", i, variables.get(i));
      if (tensor != Graph.ABSENT) {
        variable[tensor] = true;
      }
    }
    for (int node = 0; node < nodes.size(); node++) {
      checkNode(node, variable);
    }
    for (int i = 0; i < outputs.size(); i++) {
      int tensor = checkIndex("outputs", i, outputs.get(i));
      if (tensor != Graph.ABSENT && temporary[tensor]) {
        throw wrong("outputs", i, "tensor " + tensor + " is " + maker(tensor));
      }
    }
  }

  private void checkSizes() {
    long total = 0;
    for (int i = 0; i < tensors.size(); i++) {
      long bytes = tensors.get(i).bytes();
      String place = "tensors[" + i + "].bytes";
      if (bytes < 0 || bytes > Graph.MAX_TENSOR_BYTES) {
        throw new InvalidGraphException(
            place, "bytes " + bytes + " is not from 0 to " + Graph.MAX_TENSOR_BYTES);
      }
      checkFixedOffset(i, tensors.get(i));
      total += bytes;
      if (total > MAX_TOTAL_BYTES) {
        throw new InvalidGraphException(
            place, "the sizes up to here sum to more than " + MAX_TOTAL_BYTES + " bytes");
      }
    }
  }

  private static void checkFixedOffset(int index, Tensor tensor) {
    long offset = tensor.fixedOffset();
    String place = "tensors[" + index + "].fixedOffset";
    if (offset < Graph.ANYWHERE || offset > Graph.MAX_TENSOR_BYTES) {
      throw new InvalidGraphException(
          place, "fixedOffset " + offset + " is not from -1 to " + Graph.MAX_TENSOR_BYTES);
    }
    if (offset != Graph.ANYWHERE && tensor.kind() != TensorKind.ARENA) {
      throw new InvalidGraphException(
          place, "fixedOffset " + offset + " is of a tensor of type " + tensor.kind().label());
    }
  }

  private void give(String list, List<Integer> inputs) {
    for (int i = 0; i < inputs.size(); i++) {
      int tensor = checkIndex(list, i, inputs.get(i));
      if (tensor != Graph.ABSENT) {
        makers[tensor] = GIVEN;
      }
    }
  }

  private void checkNode(int number, boolean[] variable) {
    Node node = nodes.get(number);
    String place = "nodes[" + number + "].";
    for (int i = 0; i < node.inputs().size(); i++) {
      int tensor = checkIndex(place + "inputs", i, node.inputs().get(i));
      if (tensor != Graph.ABSENT && !isThere(tensor, variable)) {
        throw wrong(place + "inputs", i, "tensor " + tensor + " is " + missing(tensor));
      }
    }
    for (int i = 0; i < node.outputs().size(); i++) {
      make(place + "outputs", i, node.outputs().get(i), number);
    }
    for (int i = 0; i < node.temporaries().size(); i++) {
      int tensor = make(place + "temporaries", i, node.temporaries().get(i), number);
      if (tensor != Graph.ABSENT) {
        if (variable[tensor]) {
          throw wrong(place + "temporaries", i, "tensor " + tensor + " is a variable");
        }
        temporary[tensor] = true;
      }
    }
  }

  private boolean isThere(int tensor, boolean[] variable) {
    return tensors.get(tensor).kind() == TensorKind.CONSTANT
        || variable[tensor]
        || (makers[tensor] != NOBODY && !temporary[tensor]);
  }

  private int make(String list, int position, int index, int node) {
    int tensor = checkIndex(list, position, index);
    if (tensor == Graph.ABSENT) {
      return tensor;
    }
    if (tensors.get(tensor).kind() == TensorKind.CONSTANT) {
      throw wrong(list, position, "tensor " + tensor + " is constant and cannot be written");
    }
    if (makers[tensor] != NOBODY) {
      throw wrong(
          list,
          position,
          "tensor " + tensor + " is produced a second time; it is " + maker(tensor) + " already");
    }
    makers[tensor] = node;
    return tensor;
  }

  private int checkIndex(String list, int position, int index) {
    if (index < Graph.ABSENT) {
      throw wrong(list, position, "tensor " + index + " is below -1, which is an absent tensor");
    }
    if (index >= tensors.size()) {
      throw wrong(
          list,
          position,
          "tensor " + index + " does not exist; the graph has " + tensors.size() + " tensors");
    }
    return index;
  }

  private String maker(int tensor) {
    if (makers[tensor] == GIVEN) {
      return "an input of the graph";
    }
    return (temporary[tensor] ? "a temporary of node " : "an output of node ") + makers[tensor];
  }

  /** Why a tensor that is read is not there. */
  private String missing(int tensor) {
    if (temporary[tensor]) {
      return "only " + maker(tensor);
    }
    for (int node = 0; node < nodes.size(); node++) {
      if (nodes.get(node).outputs().contains(tensor)) {
        return "read before node " + node + " produces it";
      }
      if (nodes.get(node).temporaries().contains(tensor)) {
        return "only a temporary of node " + node;
      }
    }
    return "read but never produced";
  }

  private static InvalidGraphException wrong(String list, int position, String what) {
    return new InvalidGraphException(list + "[" + position + "]", what);
  }
}
