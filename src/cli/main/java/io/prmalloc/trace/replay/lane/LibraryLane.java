package io.prmalloc.trace.replay.lane;

import io.prmalloc.internal.os.MallocLibrary;

/**
 * A malloc that was loaded by name. Each call goes through JNA, which costs some 50 to 100 ns more
 * than the library itself.
 *
 * <p>Threading: one thread at a time.
 */
final class LibraryLane extends AddressLane {

  private final MallocLibrary library;

  LibraryLane(MallocLibrary library, int tensors) {
    super(tensors);
    this.library = library;
  }

  @Override
  public long take(int tensor, long bytes) {
    return library.malloc(Math.max(1, bytes));
  }

  @Override
  public void giveBack(int tensor, long address) {
    library.free(address);
  }
}
