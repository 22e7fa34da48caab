package io.prmalloc.onnxruntime;

/**
 * The functions of an {@code OrtAllocator} that ONNX Runtime calls. They must not throw.
 *
 * <p>Threading: any thread, also one of the engine's.
 */
interface EngineCalls {

  /**
   * {@code Alloc} and {@code Reserve}.
   *
   * @param self the {@code OrtAllocator}
   * @return the address; 0 ends the process
   */
  long allocate(long self, long bytes);

  /** {@code Free}. */
  void free(long self, long address);

  /** {@code Info}: the address of an {@code OrtMemoryInfo}. */
  long info(long self);
}
