package io.prmalloc.internal.os;

import com.sun.jna.Function;
import com.sun.jna.ptr.LongByReference;

/**
 * The malloc of a {@link LoadedLibrary}. JNA maps the native methods of a class to one library
 * only, so the functions of any library at all are called by name, which is slower than its direct
 * mapping and makes some garbage. Good enough for regions, which are few.
 *
 * <p>Threading: as {@link MallocCalls} says.
 */
final class LoadedMalloc implements MallocCalls {

  private static final String MEMALIGN = "posix_memalign";
  private static final String FREE = "free";
  private static final String USABLE_SIZE = "malloc_usable_size";

  private final Function memalign;
  private final Function free;
  private final Function usableSize;

  /**
   * @throws UnsupportedOperationException if the library has no malloc of its own
   */
  LoadedMalloc(LoadedLibrary library) {
    String prefix = library.prefix(MEMALIGN, FREE);
    this.memalign = library.function(prefix + MEMALIGN);
    this.free = library.function(prefix + FREE);
    this.usableSize =
        library.owns(prefix + USABLE_SIZE) ? library.function(prefix + USABLE_SIZE) : null;
  }

  @Override
  public long posixMemalign(long alignment, long bytes) {
    LongByReference address = new LongByReference();
    int error = memalign.invokeInt(new Object[] {address, alignment, bytes});
    return error == 0 ? address.getValue() : -error;
  }

  @Override
  public void free(long address) {
    free.invokeVoid(new Object[] {address});
  }

  @Override
  public long mallocUsableSize(long address) {
    return usableSize == null ? 0 : usableSize.invokeLong(new Object[] {address});
  }
}
