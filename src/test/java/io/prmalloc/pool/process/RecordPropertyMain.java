package io.prmalloc.pool.process;

import io.prmalloc.pool.TensorPoolAllocator;

/** A program without any code for recordings, which has two pools and closes one. */
public final class RecordPropertyMain {

  private RecordPropertyMain() {}

  /**
   * Takes and gives back.
   *
   * @param arguments {@code halt} to end as if killed
   */
  public static void main(String[] arguments) throws InterruptedException {
    TensorPoolAllocator first = TensorPoolAllocator.builder().build();
    first.allocate(100).close();
    first.close();
    TensorPoolAllocator second = TensorPoolAllocator.builder().build();
    second.allocate(200).close();
    second.allocate(300);
    if (arguments.length > 0) {
      // Longer than events wait before they are written.
      Thread.sleep(1000);
      Runtime.getRuntime().halt(9);
    }
  }
}
