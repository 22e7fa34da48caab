package io.prmalloc;

import io.prmalloc.internal.os.OperatingSystem;

/**
 * The library as a whole: its end, before a class loader is dropped.
 *
 * <p>Threading: any thread.
 */
public final class Prmalloc {

  private Prmalloc() {}

  /**
   * Ends all that the library began on its own account, so that nothing keeps its class loader: for
   * the end of an application that was deployed with a class loader of its own. Close your own
   * allocators first. This then closes the {@linkplain AllocatorRegistry#global global registry}
   * with its allocators, and has JNA forget our native methods.
   *
   * <p>Where the pool was inside ONNX Runtime, the class loader stays: the engine may call it for
   * as long as the process runs.
   *
   * <p>Afterwards native calls no longer work in this class loader, nor does a JNA that was loaded
   * by the same one clean up behind others; all else works, and begins anew. A second time it does
   * nothing.
   *
   * <p>Threading: any thread; one after the other. Waits for this library's threads to end.
   *
   * @throws IllegalStateException if memory of the global registry's allocators is in use; native
   *     calls still work then, and it may be tried again
   */
  public static void shutdown() {
    AllocatorRegistry.closeGlobal();
    OperatingSystem.releaseNativeCalls();
  }
}
