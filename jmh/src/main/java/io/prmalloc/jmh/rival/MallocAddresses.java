package io.prmalloc.jmh.rival;

import org.agrona.UnsafeApi;

/**
 * The C library's {@code malloc} and {@code free}, by the shortest path that this JDK has.
 *
 * <p>Threading: as {@link Strategy} says.
 */
final class MallocAddresses extends AddressStrategy {

  @Override
  long take(long bytes) {
    return UnsafeApi.allocateMemory(bytes);
  }

  @Override
  void giveBack(long address) {
    UnsafeApi.freeMemory(address);
  }

  @Override
  public void close() {}
}
