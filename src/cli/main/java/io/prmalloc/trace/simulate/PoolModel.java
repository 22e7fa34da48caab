package io.prmalloc.trace.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The buffer pool of MNN, as the HeuristicAllocator project models it.
 *
 * <p>Threading: one thread at a time.
 */
final class PoolModel implements MemoryModel {

  // Nodes are pieces of memory. A node that is handed out for less than it holds is split in two:
  // the first child is handed out, the second is free. Children may be split again, so nodes form
  // trees whose roots came from the system and never go back.
  //
  // A node's use count says how many of its children are in use, as a whole or in parts. A child
  // that is given back lowers it. At 0 the node is whole again: its children vanish, from the free
  // nodes too if they are there, and the node itself is free. If it is somebody's child, its own
  // parent's count goes down in turn, which may make that whole, and so on.
  //
  // A tensor's own child that is given back while its sibling is in use is not free in the default
  // mode: it waits until the parent is whole. (A child that was split and is whole again is free at
  // once in either mode.) MNN itself frees every child at once, which is the other mode.
  //
  // Free nodes: for each size a stack, linked through the nodes, since a vanishing child leaves
  // from the middle.

  static final long ALIGNMENT = 64;

  private static final class Node {
    final long bytes;
    final Node parent;
    Node first;
    Node second;
    int uses;

    boolean free;
    Node below;
    Node above;

    Node(long bytes, Node parent) {
      this.bytes = bytes;
      this.parent = parent;
    }
  }

  private final boolean reuseChildren;
  private final TreeMap<Long, Node> freeBySize = new TreeMap<>();
  private final Node[] nodes;
  private long totalBytes;

  /**
   * @param reuseChildren whether a child is free as soon as it is given back
   */
  PoolModel(int tensors, boolean reuseChildren) {
    this.nodes = new Node[tensors];
    this.reuseChildren = reuseChildren;
  }

  @Override
  public void allocate(int tensor, long bytes) {
    if (nodes[tensor] != null) {
      throw new IllegalStateException("tensor " + tensor + " is there already");
    }
    long rounded = (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    Map.Entry<Long, Node> found = freeBySize.ceilingEntry(bytes);
    if (found == null) {
      nodes[tensor] = new Node(rounded, null);
      totalBytes = Math.addExact(totalBytes, rounded);
      return;
    }
    Node node = found.getValue();
    unlink(node);
    if (node.parent != null) {
      node.parent.uses++;
    }
    if (rounded < node.bytes) {
      node.uses = 1;
      node.first = new Node(rounded, node);
      node.second = new Node(node.bytes - rounded, node);
      link(node.second);
      node = node.first;
    }
    nodes[tensor] = node;
  }

  @Override
  public void free(int tensor) {
    Node node = nodes[tensor];
    if (node == null) {
      throw new IllegalStateException("tensor " + tensor + " is not there");
    }
    nodes[tensor] = null;
    boolean reusable = reuseChildren;
    while (node.parent != null) {
      if (reusable) {
        link(node);
      }
      reusable = true;
      Node parent = node.parent;
      parent.uses--;
      if (parent.uses > 0) {
        return;
      }
      unlink(parent.first);
      unlink(parent.second);
      parent.first = null;
      parent.second = null;
      node = parent;
    }
    link(node);
  }

  private void link(Node node) {
    node.free = true;
    node.below = freeBySize.put(node.bytes, node);
    if (node.below != null) {
      node.below.above = node;
    }
  }

  /** Takes a node out of the free nodes, if it is one. */
  private void unlink(Node node) {
    if (!node.free) {
      return;
    }
    node.free = false;
    if (node.below != null) {
      node.below.above = node.above;
    }
    if (node.above != null) {
      node.above.below = node.below;
    } else if (node.below != null) {
      freeBySize.put(node.bytes, node.below);
    } else {
      freeBySize.remove(node.bytes);
    }
    node.above = null;
    node.below = null;
  }

  /** The sizes of the free nodes in bytes, ascending. */
  List<Long> freeBytes() {
    List<Long> sizes = new ArrayList<>();
    for (Map.Entry<Long, Node> entry : freeBySize.entrySet()) {
      for (Node node = entry.getValue(); node != null; node = node.below) {
        sizes.add(entry.getKey());
      }
    }
    return sizes;
  }

  @Override
  public long heldBytes() {
    return totalBytes;
  }

  @Override
  public long peakBytes() {
    return totalBytes;
  }
}
