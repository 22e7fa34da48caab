package io.prmalloc.jmh.rival;

import io.prmalloc.CpuAllocator;
import io.prmalloc.SubAllocator;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The allocators that the benchmarks compare.
 *
 * <p>Threading: immutable.
 */
@SuppressWarnings("ImmutableEnumChecker") // the suppliers keep nothing
public enum Rival {
  /** Our pool through checked handles. */
  POOL_HANDLE("pool, handles", PoolHandles::new),
  /** Our pool through raw addresses. */
  POOL_RAW("pool, raw addresses", PoolAddresses::new),
  /** Our pool where the step is asked, by raw addresses: each step has a planned arena. */
  POOL_STEP("pool, planned steps", PoolSteps::new),
  /** The same through checked handles. */
  POOL_STEP_HANDLE("pool, planned steps, handles", PoolStepHandles::new),
  /** Our pool through checked handles, without steps, so without a plan. */
  POOL_NO_STEPS("pool, handles, no steps", PoolHandles::withoutSteps),
  /** Our allocator that pools nothing: what the pool does with a request that it misses. */
  CPU("no pool (CpuAllocator)", () -> new UnpooledHandles(new CpuAllocator(SubAllocator.direct()))),
  /** {@code ByteBuffer.allocateDirect}, freed at once and not by the collector. */
  ALLOCATE_DIRECT("allocateDirect", DirectBuffers::new),
  /** Netty's {@code PooledByteBufAllocator}, direct buffers, caches for all threads. */
  NETTY_POOLED("Netty pooled", NettyBuffers::pooled),
  /** Netty's {@code AdaptiveByteBufAllocator}, direct buffers, caches for all threads. */
  NETTY_ADAPTIVE("Netty adaptive", NettyBuffers::adaptive),
  /** Arrow's {@code RootAllocator} on {@code arrow-memory-unsafe}. */
  ARROW("Arrow (unsafe)", ArrowBuffers::onUnsafe),
  /** Arrow's {@code RootAllocator} on {@code arrow-memory-netty}. */
  ARROW_NETTY("Arrow (netty)", ArrowBuffers::onNetty),
  /**
   * The C library's {@code malloc} and {@code free}, through the JDK's internal Unsafe; or what was
   * preloaded in its place.
   */
  MALLOC("malloc", MallocAddresses::new),
  /** jemalloc beside the C library's malloc. */
  JEMALLOC(
      "jemalloc",
      () -> new LibraryAddresses(NativeHeap.jemalloc()),
      () -> NativeHeap.missing("jemalloc")),
  /** mimalloc beside the C library's malloc. */
  MIMALLOC(
      "mimalloc",
      () -> new LibraryAddresses(NativeHeap.mimalloc()),
      () -> NativeHeap.missing("mimalloc")),
  /** The JDK's confined {@code Arena}, one for each allocation; for one thread only. */
  FFM_CONFINED("FFM Arena, confined", ForeignArenas::confined, ForeignMemory::missing),
  /** The JDK's shared {@code Arena}, one for each allocation. */
  FFM_SHARED("FFM Arena, shared", ForeignArenas::shared, ForeignMemory::missing),
  /** A yardstick: a plain compare-and-set stack of ready blocks, all of one size. */
  CAS_STACK("yardstick: compare-and-set stack", ReadyStack::new),
  /** A yardstick: memory that was already there. Nothing is allocated, only touched. */
  READY_MEMORY("yardstick: memory already there", ReadyMemory::new);

  private final String label;
  private final Function<Supplier<TensorPoolAllocator>, Strategy> opener;
  private final Supplier<Optional<String>> missing;

  /** One of the ways into a pool. */
  Rival(String label, Function<TensorPoolAllocator, Strategy> pooled) {
    this.label = label;
    this.opener = pool -> pooled.apply(pool.get());
    this.missing = Optional::empty;
  }

  Rival(String label, Supplier<Strategy> opener) {
    this(label, opener, Optional::empty);
  }

  Rival(String label, Supplier<Strategy> opener, Supplier<Optional<String>> missing) {
    this.label = label;
    this.opener = pool -> opener.get();
    this.missing = missing;
  }

  /** What tables and charts call it. Threading: any thread. */
  public String label() {
    return label;
  }

  /** Whether it is one of ours. Threading: any thread. */
  public boolean isOurs() {
    return switch (this) {
      case POOL_HANDLE, POOL_RAW, POOL_STEP, POOL_STEP_HANDLE, POOL_NO_STEPS, CPU -> true;
      default -> false;
    };
  }

  /** Whether it is no allocator, but something to measure others by. Threading: any thread. */
  public boolean isYardstick() {
    return this == CAS_STACK || this == READY_MEMORY;
  }

  /** Whether each request goes to an open step. Threading: any thread. */
  public boolean asksTheStep() {
    return this == POOL_STEP || this == POOL_STEP_HANDLE;
  }

  /**
   * Whether it takes part where one thread allocates and another releases. Threading: any thread.
   */
  public boolean crossesThreads() {
    return this != FFM_CONFINED && !asksTheStep();
  }

  /**
   * Why it cannot take part here: a library or a JDK that is not there; empty if it can.
   *
   * <p>Threading: any thread. May load the library.
   */
  public Optional<String> missing() {
    return missing.get();
  }

  /**
   * A new allocator of this kind, shared by the threads of a benchmark.
   *
   * @throws IllegalStateException if it cannot take part here; the message says why
   */
  public Strategy open() {
    return open(Pools::learning);
  }

  /**
   * The same as a server opens it: our pool learns when it does by default, and plans in the
   * background.
   *
   * @throws IllegalStateException if it cannot take part here; the message says why
   */
  public Strategy openAsServed() {
    return open(Pools::serving);
  }

  private Strategy open(Supplier<TensorPoolAllocator> pool) {
    missing()
        .ifPresent(
            reason -> {
              throw new IllegalStateException(this + " is skipped: " + reason);
            });
    return opener.apply(pool);
  }
}
