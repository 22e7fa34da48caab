package io.prmalloc;

/**
 * Makes one kind of allocator, and states its name and priority. {@link java.util.ServiceLoader}
 * finds a public class with a public constructor without parameters, whose name is a line of {@code
 * META-INF/services/io.prmalloc.AllocatorFactory}.
 *
 * <p>Threading: any thread; {@link #create} is called by one at a time.
 */
public interface AllocatorFactory {

  /** Under which name the allocator is asked for, such as {@code cpu}. Threading: any thread. */
  String name();

  /**
   * Of all allocators the one with the highest priority is the default. This library's: {@code cpu}
   * 100, {@code tensorpool_cpu} 300.
   *
   * <p>Threading: any thread.
   */
  int priority();

  /**
   * Makes an allocator. Called when it is first asked for, once unless it fails.
   *
   * <p>Threading: one thread at a time.
   */
  Allocator create();
}
