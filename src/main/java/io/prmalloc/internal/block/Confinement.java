package io.prmalloc.internal.block;

/**
 * The ownership of blocks by one thread for a time, which then needs no atomic instructions for
 * them. For authors of allocators.
 *
 * <p>Only the owner opens a confined block; any thread may close it, the owner at less cost. If two
 * threads close one handle at the same moment, and one of them is the owner, both closes may
 * succeed; the memory is freed once.
 *
 * <p>Threading: as each method says.
 */
public abstract class Confinement {

  // A plain field is enough. It equals the reader's own thread only if that thread wrote it, and
  // what a thread wrote last it reads, or something later.

  private Thread owner;

  /** Without an owner. Threading: the maker publishes it safely. */
  protected Confinement() {}

  /**
   * Makes the calling thread the owner.
   *
   * <p>Threading: a thread without competitors, while there is no owner.
   */
  protected final void takeOwnership() {
    owner = Thread.currentThread();
  }

  /** Ends what {@link #takeOwnership} began. Threading: the owner. */
  protected final void dropOwnership() {
    owner = null;
  }

  /** Whether the calling thread is the owner. Threading: any thread. */
  public final boolean isMine() {
    return owner == Thread.currentThread();
  }
}
