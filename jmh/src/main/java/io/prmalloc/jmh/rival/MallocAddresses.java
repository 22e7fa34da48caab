package io.prmalloc.jmh.rival;

import org.agrona.UnsafeApi;

/**
 * The C library's {@code malloc} and {@code free}, without anything in between that could be
 * spared.
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
