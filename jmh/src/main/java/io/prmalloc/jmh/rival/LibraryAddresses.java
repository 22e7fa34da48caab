package io.prmalloc.jmh.rival;

/**
 * Another malloc than the C library's.
 *
 * <p>Threading: as {@link Strategy} says.
 */
final class LibraryAddresses extends AddressStrategy {

  private final NativeHeap heap;

  LibraryAddresses(NativeHeap heap) {
    this.heap = heap;
  }

  @Override
  long take(long bytes) {
    long address = heap.malloc(bytes);
    if (address == 0) {
      throw new IllegalStateException(bytes + " bytes are not available");
    }
    return address;
  }

  @Override
  void giveBack(long address) {
    heap.free(address);
  }

  @Override
  public void close() {}
}
