package io.prmalloc.arrow;

import io.prmalloc.AllocatorRegistry;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.RootAllocator;

/**
 * A program that makes its own {@code RootAllocator}, without code of ours except to print which
 * memory it got.
 */
public final class RootMain {

  private RootMain() {}

  /** Prints how many bytes of ours a buffer of Arrow's took, and how many are left at the end. */
  public static void main(String[] arguments) {
    long inUse;
    try (RootAllocator root = new RootAllocator();
        ArrowBuf buffer = root.buffer(1000)) {
      buffer.setLong(992, 42);
      inUse = ours();
    }
    System.out.print(inUse + " " + ours());
  }

  private static long ours() {
    return AllocatorRegistry.global().allocator().stats().bytesInUse();
  }
}
