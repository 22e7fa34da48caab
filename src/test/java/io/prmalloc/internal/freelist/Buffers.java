package io.prmalloc.internal.freelist;

import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.arena.Arena;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.arena.Buffer;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.slab.SmallBlocks;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;

/**
 * Buffers, and the index of their free blocks, over memory that is never accessed, so that tests
 * which need thousands of buffers cost no native memory.
 */
public final class Buffers {

  /** How many bytes a chunk of {@link #buffer} has. */
  public static final int CHUNK_BYTES = 256;

  /** Size classes of {@link #table} are so far apart. */
  static final int INTERVAL_BYTES = 4096;

  private static final long SMALL_BYTES = 32 * 1024;

  /** Hands the same region to everybody. */
  private static final class OneRegion implements SubAllocator {
    static final OneRegion INSTANCE = new OneRegion();

    private final MemoryRegion region = SubAllocator.direct().alloc(64, 1 << 20);

    @Override
    public MemoryRegion alloc(long alignment, long bytes) {
      if (bytes > region.sizeBytes()) {
        throw new IllegalArgumentException(bytes + " bytes are more than the tests' region has");
      }
      return region;
    }

    @Override
    public void free(MemoryRegion unused) {}

    @Override
    public long bytesReserved() {
      return 0;
    }

    @Override
    public OptionalLong bytesLimit() {
      return OptionalLong.empty();
    }
  }

  private Buffers() {}

  /** Memory that nobody looks at. */
  public static SubAllocator source() {
    return OneRegion.INSTANCE;
  }

  private static Arena.Layout layout() {
    return new Arena.Layout(Arena.MAX_CHUNK_BYTES, 1);
  }

  /** A buffer of a bin; its blocks still have to be noted as ready. */
  public static Buffer buffer(int bin, int blocks) {
    Arena.Layout layout = layout();
    Arena.Place[] places = new Arena.Place[blocks];
    for (int i = 0; i < blocks; i++) {
      places[i] = layout.place(CHUNK_BYTES, 64);
    }
    Arena arena = Arena.reserve(OneRegion.INSTANCE, layout, region -> {});
    return new Buffer(bin, CHUNK_BYTES, 64, places, arena);
  }

  /** Claims a slot as the pool does. */
  public static PooledBlock slot(SmallBlocks small, int bytes, int alignment) {
    PooledBlock ready = small.take(bytes, alignment);
    return ready != null ? ready : small.allocateSlowly(bytes, alignment);
  }

  /** The blocks of some buffers, all ready with the calling thread, each bin with its own. */
  public static ChunkIndex ready(int stripes, Buffer... buffers) {
    return ready(stripes, 1, buffers);
  }

  /** The same for several threads, of which the calling one has its share. */
  public static ChunkIndex ready(int stripes, int threads, Buffer... buffers) {
    List<PooledBlock> blocks =
        Arrays.stream(buffers).flatMap(buffer -> buffer.blocks().stream()).toList();
    int classes = 1 + Arrays.stream(buffers).mapToInt(Buffer::bin).max().orElse(0);
    ChunkIndex ready = new ChunkIndex(classes, 12, 0, blocks, threads, new Stripes(stripes));
    ready.giveShare(false);
    for (Buffer buffer : buffers) {
      ready.serve(buffer.bin(), buffer.count(), buffer.blocks());
    }
    return ready;
  }

  /** A table whose bin 0, 1, … has so many blocks and borrows from the next one or from none. */
  public static BinTable table(boolean borrows, int... blocks) {
    return table(1, borrows, blocks);
  }

  /** The same for so many threads, without borrowing. */
  public static BinTable table(int threads, int... blocks) {
    return table(threads, false, blocks);
  }

  private static BinTable table(int threads, boolean borrows, int... blocks) {
    List<BinPlan> bins =
        IntStream.range(0, blocks.length)
            .mapToObj(bin -> bin(bin, blocks[bin], borrows && bin + 1 < blocks.length))
            .toList();
    LifetimePlan plan = new LifetimePlan(INTERVAL_BYTES, 0, bins, List.of(), threads);
    return BinTable.build(plan, blocks, 1, OneRegion.INSTANCE, layout(), region -> {});
  }

  private static BinPlan bin(int index, int blocks, boolean borrows) {
    List<Integer> targets = borrows ? List.of(index + 1) : List.of();
    return new BinPlan(index, bytesOf(index), 64, blocks, targets);
  }

  /** The largest request that belongs to a bin of {@link #table}. */
  public static long bytesOf(int bin) {
    return SMALL_BYTES + (bin + 1L) * INTERVAL_BYTES;
  }

  /** Claims a block as an allocation does that only knows this buffer, or gives null. */
  public static PooledBlock claim(ChunkIndex ready, Buffer buffer) {
    PooledBlock block = ready.take(bytesOf(buffer.bin()));
    if (block == null) {
      block = ready.takeFromAny(buffer.firstNumber(), buffer.count());
    }
    return block != null ? block : buffer.claimAny();
  }

  /** Claims a block as an allocation does, or gives null. */
  public static PooledBlock claim(BinTable table, long bytes) {
    PooledBlock block = table.take(bytes);
    return block != null ? block : table.takeSlowly(bytes, 64);
  }

  /** Claims and opens all blocks that can be had; how many there are. */
  static int drain(ChunkIndex ready, Buffer buffer) {
    int count = 0;
    for (Block block = claim(ready, buffer); block != null; block = claim(ready, buffer)) {
      block.open(1);
      count++;
    }
    return count;
  }

  /** Runs on a thread whose stripe is another than this one's. */
  public static <T> T onAnotherStripe(Stripes stripes, Callable<T> work) throws Exception {
    int own = stripes.current();
    while (true) {
      FutureTask<T> task = new FutureTask<>(work);
      Thread thread = new Thread(() -> runUnlessOn(stripes, own, task));
      thread.start();
      thread.join();
      if (task.isDone()) {
        return task.get();
      }
    }
  }

  private static void runUnlessOn(Stripes stripes, int stripe, FutureTask<?> task) {
    if (stripes.current() != stripe) {
      task.run();
    }
  }
}
