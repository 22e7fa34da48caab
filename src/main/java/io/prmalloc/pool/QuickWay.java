package io.prmalloc.pool;

import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.Block;
import io.prmalloc.OutOfLine;
import io.prmalloc.Requests;
import io.prmalloc.lifetime.LifetimePolicy;

/**
 * How a {@link TensorPoolAllocator} serves most requests.
 *
 * <p>Threading: any thread.
 */
abstract class QuickWay implements Allocator {

  // A block is found, its use begins, and last the handle is made, in one place, or the JIT would
  // not see that it need not be made at all.
  //
  // A planned request looks at two places. First at the block that served the thread's last request
  // of exactly this size (RecentBlocks): if it is home with the thread's mark, and its last use was
  // of that size, it is taken. Else at what the stripe has ready for its size class (ReadyBlocks),
  // which may be borrowed from a larger bin. Both take a block that the thread closed
  // itself; the first gains time by what it does not wait for. What a pair costs is not its
  // instructions but how long the processor must look ahead, for it begins the next pairs while a
  // close waits for its compare-and-set. By the second place each load waits for the one before:
  // the bins, their size classes, the stripe's word, its bits, the block, the view. By the first it
  // is the array and the block; the place in the array is made of the size and the thread, without
  // asking the plan. It takes a sixth off a pair.
  //
  // The first is a guess that must be good, or it is one look more. Where a size is out twice at
  // one time, or closed by another thread, it is wrong; so what was wrong once is forgotten, and
  // learnt anew at a sample among a block's uses, which the stamp tells: nothing is counted. Steps
  // with many tensors of a size never profit, and hardly ever look.
  //
  // Requests by address (see RawAddresses) look at the same two places; what served before is found
  // by bytes and header. Only the first way is one, for them too, in which claim and use begin at
  // once: by the second it would be as much code again, and gains a step nothing.
  //
  // What is taken by the first stays noted for the second while it is out (see ReadyWord.reopen). A
  // request that comes upon it there finds the next one the slow way, and has it forgotten.

  /** What the plan's bins have ready, or null while the way is barred. */
  private volatile ReadyBlocks ready;

  /** What served before, of those bins; {@link RecentBlocks#NONE} while the way is barred. */
  private volatile PooledBlock[] recent = RecentBlocks.NONE;

  /** Where small requests look. */
  abstract SlabFronts fronts();

  /** Takes a block where none is at hand; the arguments are as a user gave them. */
  abstract Block takeForHandle(long bytes, int alignment);

  /** Opens the way to what some bins have ready; null bars it. Of one thread at a time. */
  final void openTo(ReadyBlocks bins) {
    // In this order: see learn.
    ready = bins;
    recent = bins == null ? RecentBlocks.NONE : bins.recent();
  }

  /** Whether nothing that is planned is found here, also where there is something. */
  final boolean isWayBarred() {
    return ready == null;
  }

  @Override
  public final Allocation allocate(long bytes) {
    PooledBlock again = recent(bytes);
    return allocate(again, again != null ? reopen(again, bytes) : 0, bytes);
  }

  /** What served this thread's last request of this size, or null. */
  final PooledBlock recent(long bytes) {
    return isPlanned(bytes) ? RecentBlocks.find(recent, bytes) : null;
  }

  /**
   * Whether a size, which nobody has checked yet, is over {@link LifetimePolicy#SMALL_BYTES} and
   * has no bit above those of a size: what was used by its address is found by its bytes with the
   * header above them, and no request for a handle may look like that. By one question, for every
   * request asks it. Sizes over 2 GiB − 1 by less than that pass, and nothing is found for them.
   */
  private static boolean isPlanned(long bytes) {
    return ((bytes - (LifetimePolicy.SMALL_BYTES + 1)) >>> (Integer.SIZE - 1)) == 0;
  }

  /**
   * Begins a use by address of the block that served this thread's last request of the same bytes
   * and header, or gives null.
   *
   * @param header bytes in front; as many as the alignment, where not all blocks have that
   */
  final PooledBlock reopenRaw(long bytes, int header) {
    if (bytes <= LifetimePolicy.SMALL_BYTES) {
      return null;
    }
    long extent = Block.extentOf((int) bytes, header);
    PooledBlock again = RecentBlocks.find(recent, extent);
    return again != null && reopen(again, extent) != 0 ? again : null;
  }

  /** The stamp of the use that begins, or 0. */
  private long reopen(PooledBlock again, long extent) {
    long stamp = again.reopen(extent);
    if (stamp == 0) {
      forget(again, extent, OutOfLine.DEPTH);
    }
    return stamp;
  }

  private void forget(PooledBlock again, long extent, int depth) {
    if (depth > 0) {
      forget(again, extent, depth - 1);
    } else {
      RecentBlocks.forget(recent, extent);
      again.forgetIfOut();
    }
  }

  /** With the stamp of a use of a block that has begun, or with 0. */
  private Allocation allocate(PooledBlock again, long begun, long bytes) {
    Block block = again;
    if (begun == 0) {
      ReadyBlocks likely = near(bytes);
      // Asked for once: in a step the JIT would find the word twice, for a tenth of its time.
      ReadyWord word = likely.front(bytes);
      PooledBlock found = word.removeFirst(likely.mask(bytes));
      long stamp = word.open(found, bytes);
      block = Block.isNoSample(stamp) ? found : seldom(found, stamp, bytes, OutOfLine.DEPTH);
    }
    return block.handle(bytes);
  }

  @Override
  public final Allocation allocate(long bytes, long alignment) {
    Requests.checkBytes(bytes);
    Requests.checkAlignment(alignment);
    return allocate(nearAt(alignment), bytes, (int) alignment);
  }

  private ReadyBlocks near(long bytes) {
    return SlabFronts.areFor(bytes) ? fronts().frontFor((int) bytes) : planned();
  }

  /** What the plan's bins have ready, if the way is open. */
  final ReadyBlocks planned() {
    // Compiled code has never seen anything but null before the first plan, and is compiled anew
    // then. Else it would keep what it made of this way while only small requests went to its end:
    // the JIT inlines nothing into a method of which it saw fewer than a thousand runs.
    ReadyBlocks open = ready;
    return open != null ? open : ReadyBlocks.NONE;
  }

  /** Of a request whose alignment is said: for small ones, too, there would be too much code. */
  private ReadyBlocks nearAt(long alignment) {
    return alignment <= DEFAULT_ALIGNMENT ? planned() : ReadyBlocks.NONE;
  }

  private Allocation allocate(ReadyBlocks likely, long bytes, int alignment) {
    ReadyWord word = likely.front(bytes);
    PooledBlock found = word.removeFirst(likely.mask(bytes));
    return handle(found, word.open(found, bytes), bytes, alignment);
  }

  private Allocation handle(PooledBlock found, long stamp, long bytes, int alignment) {
    Block block = stamp != 0 ? found : openSlowly(bytes, alignment, OutOfLine.DEPTH);
    return block.handle(bytes);
  }

  private Block openSlowly(long bytes, int alignment, int depth) {
    return depth > 0 ? openSlowly(bytes, alignment, depth - 1) : openSlowly(bytes, alignment);
  }

  private Block openSlowly(long bytes, int alignment) {
    Block block = takeForHandle(bytes, alignment);
    block.beginOrAbandon(bytes);
    return block;
  }

  /** Where no use has begun, or a sample, of which something may be learnt. */
  private Block seldom(PooledBlock found, long stamp, long bytes, int depth) {
    if (depth > 0) {
      return seldom(found, stamp, bytes, depth - 1);
    }
    if (stamp == 0) {
      return openSlowly(bytes, (int) DEFAULT_ALIGNMENT);
    }
    learn(found, bytes, bytes);
    return found;
  }

  /**
   * Lets the block be looked at first when the next request comes for the same.
   *
   * @param totalBytes of the use that has begun, header included
   */
  final void learn(PooledBlock block, long totalBytes, long extent) {
    // The blocks of a plan that was replaced must not stay in use by this: if the array is that of
    // the new plan, so is what is read after it.
    PooledBlock[] blocks = recent;
    // Nor must what was borrowed from a larger bin be borrowed when the own bin has something.
    boolean own = block.bin() == block.requestBin(totalBytes);
    if (own && block.home() == ready && block.isHeldByCaller()) {
      RecentBlocks.learn(blocks, block, extent);
    }
  }
}
