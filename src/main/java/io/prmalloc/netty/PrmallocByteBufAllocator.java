package io.prmalloc.netty;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.ChannelHandler;
import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/**
 * An allocator of Netty's over an {@link Allocator}. Direct buffers are its memory; requests for
 * heap buffers are passed on to another allocator of Netty's.
 *
 * <p>For {@code ChannelOption.ALLOCATOR} of a server or client. Buffers grow, are sliced, counted
 * and watched for leaks as Netty's users know it: a buffer that is not released is reported by
 * Netty's {@code ResourceLeakDetector}, and stays in use in the allocator.
 *
 * <p>The allocator stays the caller's: close it when no buffer is left.
 *
 * <p>Threading: any thread; a buffer itself is as safe for threads as any of Netty's.
 */
public final class PrmallocByteBufAllocator extends AbstractByteBufAllocator
    implements ByteBufAllocatorMetricProvider {

  // Netty asks its platform whether direct buffers are to be preferred, which it denies where it
  // cannot use Unsafe. We need no Unsafe, so the calls that look at that answer are overridden.

  private static final int UNKNOWN = -1;

  private final Allocator memory;
  private final ByteBufAllocator heapBuffers;
  private final boolean preferDirect;
  private final LongAdder directBytes = new LongAdder();
  private final ByteBufAllocatorMetric metric = new Metric();

  /** Whether addresses are known here; null until a buffer is first asked. */
  private volatile Boolean tellsAddresses;

  /**
   * Prefers direct buffers, and takes heap buffers from Netty's default allocator.
   *
   * <p>Threading: any thread.
   *
   * @param memory where direct buffers come from
   * @throws NullPointerException if {@code memory} is null
   */
  public PrmallocByteBufAllocator(Allocator memory) {
    this(memory, ByteBufAllocator.DEFAULT, true);
  }

  /**
   * Threading: any thread.
   *
   * @param memory where direct buffers come from
   * @param heapBuffers where heap buffers come from; their {@code alloc()} is that allocator
   * @param preferDirect whether {@code buffer()} and {@code compositeBuffer()} are direct
   * @throws NullPointerException if {@code memory} or {@code heapBuffers} is null
   */
  public PrmallocByteBufAllocator(
      Allocator memory, ByteBufAllocator heapBuffers, boolean preferDirect) {
    super(preferDirect);
    this.memory = Objects.requireNonNull(memory, "memory");
    this.heapBuffers = Objects.requireNonNull(heapBuffers, "heapBuffers");
    this.preferDirect = preferDirect;
  }

  /**
   * A handler that opens a step of the pool around each message it passes on, and closes it when
   * the handlers behind it return. For a pipeline in which whole requests arrive, behind {@code
   * HttpObjectAggregator} for instance. What other threads ask for meanwhile is in no step of it.
   *
   * <p>It needs {@code netty-transport}, which this class does not need else.
   *
   * <p>Threading: any thread; one handler serves any number of channels.
   *
   * @param pool whose steps they are
   * @throws NullPointerException if {@code pool} is null
   */
  public static ChannelHandler stepPerMessage(TensorPoolAllocator pool) {
    return stepPerMessage(pool, message -> null);
  }

  /**
   * As {@link #stepPerMessage(TensorPoolAllocator)}, with a key for each kind of message: a step of
   * a kind is planned as the others of its kind.
   *
   * <p>Threading: any thread; the function is called by event loops.
   *
   * @param pool whose steps they are
   * @param keyOf gives the key of a message, or null for a step without one; if it throws, the
   *     message is released and not passed on, and the handlers behind get the exception
   * @throws NullPointerException if an argument is null
   */
  public static ChannelHandler stepPerMessage(TensorPoolAllocator pool, Function<Object, ?> keyOf) {
    return StepHandler.of(
        Objects.requireNonNull(pool, "pool"), Objects.requireNonNull(keyOf, "keyOf"));
  }

  /** Memory for a buffer, counted. */
  Allocation take(int bytes) {
    Allocation taken = memory.allocate(bytes);
    directBytes.add(bytes);
    return taken;
  }

  /** Takes a buffer's memory back. */
  void giveBack(Allocation taken) {
    directBytes.add(-taken.sizeBytes());
    taken.close();
  }

  /** Whether this JVM tells addresses, found out by asking for that of some buffer's memory. */
  boolean tellsAddresses(AllocationByteBuf some) {
    Boolean known = tellsAddresses;
    Allocation asked = known == null ? some.allocation() : null;
    if (asked != null) {
      known = hasAddress(asked);
      if (known || some.allocation() == asked) {
        // Else it was released meanwhile, and refused for that.
        tellsAddresses = known;
      }
    }
    return known != null && known;
  }

  private static boolean hasAddress(Allocation some) {
    try {
      return some.address() != 0;
    } catch (IllegalStateException cannotTell) {
      return false;
    }
  }

  @Override
  protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
    return heapBuffers.heapBuffer(initialCapacity, maxCapacity);
  }

  @Override
  protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
    return toLeakAwareBuffer(new AllocationByteBuf(this, initialCapacity, maxCapacity));
  }

  /** True: direct buffers are cheap here. Threading: any thread. */
  @Override
  public boolean isDirectBufferPooled() {
    return true;
  }

  @Override
  public ByteBuf buffer() {
    return preferDirect ? directBuffer() : heapBuffer();
  }

  @Override
  public ByteBuf buffer(int initialCapacity) {
    return preferDirect ? directBuffer(initialCapacity) : heapBuffer(initialCapacity);
  }

  @Override
  public ByteBuf buffer(int initialCapacity, int maxCapacity) {
    return preferDirect
        ? directBuffer(initialCapacity, maxCapacity)
        : heapBuffer(initialCapacity, maxCapacity);
  }

  @Override
  public CompositeByteBuf compositeBuffer() {
    return preferDirect ? compositeDirectBuffer() : compositeHeapBuffer();
  }

  @Override
  public CompositeByteBuf compositeBuffer(int maxNumComponents) {
    return preferDirect
        ? compositeDirectBuffer(maxNumComponents)
        : compositeHeapBuffer(maxNumComponents);
  }

  /**
   * Bytes of the buffers that are allocated: the capacities of direct ones, and what the allocator
   * of the heap buffers says of all its own (−1 where it does not say).
   *
   * <p>Threading: any thread; not an atomic snapshot while others allocate.
   */
  @Override
  public ByteBufAllocatorMetric metric() {
    return metric;
  }

  private final class Metric implements ByteBufAllocatorMetric {
    @Override
    public long usedHeapMemory() {
      return heapBuffers instanceof ByteBufAllocatorMetricProvider told
          ? told.metric().usedHeapMemory()
          : UNKNOWN;
    }

    @Override
    public long usedDirectMemory() {
      return directBytes.sum();
    }

    @Override
    public String toString() {
      return "usedHeapMemory: " + usedHeapMemory() + "; usedDirectMemory: " + usedDirectMemory();
    }
  }

  @Override
  public String toString() {
    return "PrmallocByteBufAllocator(" + memory.name() + ", preferDirect: " + preferDirect + ')';
  }
}
