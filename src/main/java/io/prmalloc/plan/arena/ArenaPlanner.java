package io.prmalloc.plan.arena;

import io.prmalloc.SubAllocator;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Places a graph's tensors into an arena and gives each its memory, for all nodes at once or a few
 * nodes at a time, as an engine does that learns the sizes of later tensors only as it runs.
 *
 * <p>Tensors whose lives are apart share bytes. Those of kind {@link TensorKind#PERSISTENT} lie in
 * an arena of their own, share no bytes, and keep their address until the graph is planned anew,
 * their allocations are reset, or the planner is closed.
 *
 * <p>Tensors with fixed offsets lie there, from the first call that places anything; the others are
 * placed around them.
 *
 * <p>Source: TensorFlow Lite's {@code ArenaPlanner}, with its behaviour kept to the byte; its
 * operators that work in place are not known here. Fixed offsets: the offline plans of TensorFlow
 * Lite Micro.
 *
 * <p>Threading: one thread at a time.
 */
public final class ArenaPlanner implements AutoCloseable {

  // Lives are worked out once for a graph (Lifetimes); placing is then repeated for ranges of
  // nodes. `allocs` has the place of each tensor, or null.
  //
  // The arena's own list of places needs only those that something placed from now on can overlap.
  // While an engine goes forward that is everything alive at `activeFrom` or later, and what ended
  // before is purged, so that a run node by node stays cheap. When an engine goes back, or places a
  // tensor that has a place, the list is made anew of all places but the ones to be replaced. The
  // offsets are the same as if nothing was ever purged.
  //
  // A call that fails leaves every place as it was. Memory is the last thing that can fail; if the
  // second arena cannot get it, the first has grown, which only callers with buffers of it notice;
  // so the first to be committed is the persistent one, which grows once in its life.

  private final ArenaOptions options;
  private final SimpleMemoryArena arena;
  private final SimpleMemoryArena persistentArena;
  private final boolean onPaper;
  private Graph graph;
  private Lifetimes lifetimes;
  private ArenaAlloc[] allocs;
  private int activeFrom;
  private boolean closed;

  /**
   * Plans a graph. Nothing is placed and no memory is taken before {@link #executeAllocations}.
   *
   * <p>Threading: any thread.
   *
   * @param source where memory comes from; stays the caller's
   */
  public ArenaPlanner(Graph graph, ArenaOptions options, SubAllocator source) {
    this(graph, options, source, false);
  }

  private ArenaPlanner(Graph graph, ArenaOptions options, SubAllocator source, boolean onPaper) {
    this.options = Objects.requireNonNull(options, "options");
    this.arena = new SimpleMemoryArena(source, options.arenaAlignment());
    this.persistentArena = new SimpleMemoryArena(source, options.arenaAlignment());
    this.onPaper = onPaper;
    planAllocations(graph);
  }

  /**
   * A planner that finds offsets and never takes memory, so that arenas of any size can be planned.
   * Buffers, addresses and {@link #acquireNonPersistentMemory} are not available from it.
   *
   * <p>Threading: any thread.
   */
  public static ArenaPlanner onPaper(Graph graph, ArenaOptions options) {
    return new ArenaPlanner(graph, options, SubAllocator.direct(0), true);
  }

  /**
   * Plans anew, for a graph that changed: works out every life and forgets every place, persistent
   * ones too. Memory stays for the next {@link #executeAllocations}.
   *
   * <p>Threading: one thread at a time.
   *
   * @throws IllegalStateException if the planner is closed
   */
  public void planAllocations(Graph changed) {
    checkOpen();
    Lifetimes changedLifetimes = new Lifetimes(changed, options);
    this.graph = changed;
    this.lifetimes = changedLifetimes;
    resetAllocations();
    persistentArena.reserve(persistentBytesAtMost());
  }

  /** Enough for all persistent tensors of the graph, so that their arena never moves. */
  private long persistentBytesAtMost() {
    long alignment = options.tensorAlignment();
    return graph.tensors().stream()
        .filter(tensor -> tensor.kind() == TensorKind.PERSISTENT)
        .mapToLong(tensor -> (tensor.bytes() + alignment - 1) & -alignment)
        .sum();
  }

  /**
   * Places the tensors that are born from one node to another, and takes the memory they need. One
   * that has a place gets another one, unless it is persistent. The content of tensors that keep
   * their place is kept.
   *
   * <p>Costs time in proportion to the tensors placed and, for each, those that live at the same
   * time or later; where many are placed at once, close to n log² n for n of both.
   *
   * <p>Threading: one thread at a time.
   *
   * @param firstNode from 0
   * @param lastNode from {@code firstNode} to the graph's last node; 0 if it has none
   * @return whether the arena's memory is another one now: every buffer and address that is not of
   *     a persistent tensor is void then
   * @throws IllegalArgumentException if a node is out of its bounds
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available, or an arena is
   *     larger than one buffer can be, some 2 GiB; every tensor has the place it had then
   * @throws IllegalStateException if the planner is closed
   */
  public boolean executeAllocations(int firstNode, int lastNode) {
    checkOpen();
    checkNodes(firstNode, lastNode);
    List<Integer> order = lifetimes.placementOrder(firstNode, lastNode);
    ArenaAlloc[] before = allocs.clone();
    long markBefore = arena.highWaterMark();
    long persistentMarkBefore = persistentArena.highWaterMark();
    try {
      makeRoom(order, firstNode);
      placeFixed();
      placeAll(order, TensorKind.PERSISTENT);
      placeAll(order, TensorKind.ARENA);
      return commit();
    } catch (Throwable e) {
      allocs = before;
      arena.restoreMark(markBefore);
      persistentArena.restoreMark(persistentMarkBefore);
      activate();
      persistentArena.activate(placed(TensorKind.PERSISTENT));
      throw e;
    }
  }

  /**
   * Places the tensors of every node. Threading, result and exceptions are those of {@link
   * #executeAllocations(int, int)}.
   */
  public boolean executeAllocations() {
    checkOpen();
    return executeAllocations(0, lifetimes.lastNode());
  }

  private void checkNodes(int firstNode, int lastNode) {
    if (firstNode < 0 || firstNode > lifetimes.lastNode()) {
      throw new IllegalArgumentException(
          "first node " + firstNode + " is not from 0 to " + lifetimes.lastNode());
    }
    if (lastNode < firstNode || lastNode > lifetimes.lastNode()) {
      throw new IllegalArgumentException(
          "last node " + lastNode + " is not from " + firstNode + " to " + lifetimes.lastNode());
    }
  }

  /** Leaves in the arena's list what the tensors to be placed must keep away from. */
  private void makeRoom(List<Integer> order, int firstNode) {
    boolean replaced = false;
    for (int tensor : order) {
      if (kind(tensor) == TensorKind.ARENA && allocs[tensor] != null) {
        allocs[tensor] = null;
        replaced = true;
      }
    }
    if (replaced || firstNode < activeFrom) {
      activate();
    }
    arena.purgeActiveAllocs(firstNode);
    activeFrom = firstNode;
  }

  private void activate() {
    arena.activate(placed(TensorKind.ARENA));
    activeFrom = 0;
  }

  private List<ArenaAlloc> placed(TensorKind kind) {
    List<ArenaAlloc> placed = new ArrayList<>();
    for (ArenaAlloc alloc : allocs) {
      if (alloc != null && kind(alloc.tensor()) == kind) {
        placed.add(alloc);
      }
    }
    return placed;
  }

  /**
   * Takes the places that are fixed and not taken, also of nodes that come later: whatever is
   * placed before must keep away from them.
   */
  private void placeFixed() {
    for (int tensor : lifetimes.fixedTensors()) {
      if (allocs[tensor] == null) {
        Graph.Tensor fixed = graph.tensors().get(tensor);
        allocs[tensor] =
            new ArenaAlloc(
                tensor,
                fixed.bytes() == 0 ? 0 : fixed.fixedOffset(),
                fixed.bytes(),
                lifetimes.birth(tensor),
                lifetimes.death(tensor));
        arena.placeAt(allocs[tensor]);
      }
    }
  }

  private void placeAll(List<Integer> order, TensorKind kind) {
    boolean persistent = kind == TensorKind.PERSISTENT;
    SimpleMemoryArena target = persistent ? persistentArena : arena;
    List<ArenaAlloc> unplaced = new ArrayList<>();
    for (int tensor : order) {
      if (kind(tensor) == kind && allocs[tensor] == null) {
        unplaced.add(
            new ArenaAlloc(
                tensor,
                0,
                graph.tensors().get(tensor).bytes(),
                lifetimes.birth(tensor),
                persistent ? ArenaAlloc.FOREVER : lifetimes.death(tensor)));
      }
    }
    for (ArenaAlloc alloc : target.allocateAll(options.tensorAlignment(), unplaced)) {
      allocs[alloc.tensor()] = alloc;
    }
  }

  private boolean commit() {
    if (onPaper) {
      return false;
    }
    persistentArena.commit();
    return arena.commit();
  }

  /**
   * Forgets every place, persistent ones too, and keeps the plan of lives. Memory stays for the
   * next {@link #executeAllocations}.
   *
   * <p>Threading: one thread at a time.
   *
   * @throws IllegalStateException if the planner is closed
   */
  public void resetAllocations() {
    checkOpen();
    arena.clearPlan();
    persistentArena.clearPlan();
    allocs = new ArenaAlloc[graph.tensors().size()];
    activeFrom = 0;
  }

  /**
   * Forgets the places of tensors born after a node; persistent ones keep theirs.
   *
   * <p>Threading: one thread at a time.
   *
   * @param node any number; from the graph's last node on nothing is forgotten
   * @throws IllegalStateException if the planner is closed
   */
  public void resetAllocationsAfter(int node) {
    checkOpen();
    for (int tensor = 0; tensor < allocs.length; tensor++) {
      if (allocs[tensor] != null
          && allocs[tensor].firstNode() > node
          && kind(tensor) == TensorKind.ARENA) {
        allocs[tensor] = null;
      }
    }
    arena.purgeAfter(node);
  }

  /**
   * Gives the arena's memory back and keeps every place. Persistent tensors keep memory and
   * content.
   *
   * <p>Threading: one thread at a time.
   *
   * @throws IllegalStateException if the planner is closed
   */
  public void releaseNonPersistentMemory() {
    checkOpen();
    arena.releaseBuffer();
  }

  /**
   * Takes memory for the places there are, if it was given back. Its content is anything.
   *
   * <p>Threading: one thread at a time.
   *
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available; nothing changes
   *     then
   * @throws IllegalStateException if the planner is closed, or plans on paper
   */
  public void acquireNonPersistentMemory() {
    checkOpen();
    checkNotOnPaper();
    arena.commit();
  }

  /** Whether the arena holds memory. Threading: one thread at a time. */
  public boolean hasNonPersistentMemory() {
    return arena.bufferBytes() != 0;
  }

  /**
   * Where a tensor lies in its arena: the persistent one for {@link TensorKind#PERSISTENT}, else
   * the other. Empty if it has no place: it is of another kind, its node was not executed yet, or
   * nothing produces it. A tensor of no bytes has offset 0. One with a fixed offset has its place
   * from the first call of {@link #executeAllocations} on.
   *
   * <p>Threading: one thread at a time.
   *
   * @throws IndexOutOfBoundsException if there is no such tensor
   * @throws IllegalStateException if the planner is closed
   */
  public OptionalLong offset(int tensor) {
    ArenaAlloc alloc = alloc(tensor);
    return alloc == null ? OptionalLong.empty() : OptionalLong.of(alloc.offset());
  }

  /**
   * A tensor's memory, in native byte order, from position 0 to its size; empty if it has no place
   * or no bytes. It must not be used after {@link #executeAllocations} moved the arena, nor after
   * the memory was released; a persistent tensor's may be, until the graph is planned anew.
   *
   * <p>Threading: one thread at a time.
   *
   * @throws IndexOutOfBoundsException if there is no such tensor
   * @throws IllegalStateException if the memory was released, or the planner is closed or plans on
   *     paper
   */
  public Optional<ByteBuffer> buffer(int tensor) {
    ArenaAlloc alloc = alloc(tensor);
    if (alloc == null) {
      return Optional.empty();
    }
    checkNotOnPaper();
    return arenaOf(tensor).resolve(alloc);
  }

  /**
   * The address of a tensor's memory, a multiple of the tensor alignment; empty and void when
   * {@link #buffer} is.
   *
   * <p>Threading: one thread at a time.
   *
   * @throws IndexOutOfBoundsException if there is no such tensor
   * @throws IllegalStateException as for {@link #buffer}, or if this JVM cannot tell addresses (the
   *     message then holds the flag that helps)
   */
  public OptionalLong address(int tensor) {
    ArenaAlloc alloc = alloc(tensor);
    if (alloc == null) {
      return OptionalLong.empty();
    }
    checkNotOnPaper();
    return arenaOf(tensor).address(alloc);
  }

  private ArenaAlloc alloc(int tensor) {
    checkOpen();
    return allocs[Objects.checkIndex(tensor, allocs.length)];
  }

  private SimpleMemoryArena arenaOf(int tensor) {
    return kind(tensor) == TensorKind.PERSISTENT ? persistentArena : arena;
  }

  private TensorKind kind(int tensor) {
    return graph.tensors().get(tensor).kind();
  }

  /**
   * Bytes the arena needs for what was placed since the graph was planned or reset: the most any
   * place ended at.
   *
   * <p>Threading: one thread at a time.
   */
  public long arenaBytes() {
    return arena.highWaterMark();
  }

  /**
   * As {@link #arenaBytes}, of the persistent arena. The memory taken for it may be more: it is
   * taken for all persistent tensors of the graph at once.
   *
   * <p>Threading: one thread at a time.
   */
  public long persistentBytes() {
    return persistentArena.highWaterMark();
  }

  /** The graph planned last. Threading: one thread at a time. */
  public Graph graph() {
    return graph;
  }

  private void checkNotOnPaper() {
    if (onPaper) {
      throw new IllegalStateException("this planner plans on paper and has no memory");
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this planner is closed");
    }
  }

  /**
   * Gives all memory back; no buffer or address may be used from then on. May be called again.
   *
   * <p>Threading: one thread at a time.
   */
  @Override
  public void close() {
    closed = true;
    arena.close();
    persistentArena.close();
  }
}
