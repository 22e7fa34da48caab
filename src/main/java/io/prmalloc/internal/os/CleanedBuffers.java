package io.prmalloc.internal.os;

import io.prmalloc.MemoryRegion;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import org.agrona.BufferUtil;

/**
 * Direct buffers from {@link ByteBuffer#allocateDirect}, given back by running their cleaner early.
 * A buffer that is not given back is still cleaned when the collector finds it.
 *
 * <p>Threading: any thread.
 */
final class CleanedBuffers implements DirectMemory {

  /** What the JVM's own allocation promises: room for any primitive. */
  private static final long NATURAL_ALIGNMENT = Long.BYTES;

  private final Consumer<ByteBuffer> cleaner;

  private CleanedBuffers(Consumer<ByteBuffer> cleaner) {
    this.cleaner = cleaner;
  }

  /** Cleans through Agrona. Needs {@link AgronaAccess}. */
  static CleanedBuffers throughAgrona() {
    return new CleanedBuffers(BufferUtil::free);
  }

  /**
   * Cleans through {@code sun.misc.Unsafe}, by reflection because javac warns of it and newer JDKs
   * may lack it.
   *
   * @throws IllegalStateException if this JVM has no such method; the message holds the flag that
   *     helps
   */
  static CleanedBuffers throughUnsafe() {
    try {
      Class<?> unsafeClass = Class.forName("sun.misc.Unsafe");
      Field instance = unsafeClass.getDeclaredField("theUnsafe");
      instance.setAccessible(true);
      MethodHandle invokeCleaner =
          MethodHandles.lookup()
              .findVirtual(
                  unsafeClass, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
              .bindTo(instance.get(null));
      return new CleanedBuffers(buffer -> clean(invokeCleaner, buffer));
    } catch (ReflectiveOperationException missing) {
      throw new IllegalStateException(
          "direct buffers cannot be given back without sun.misc.Unsafe (of the module"
              + " jdk.unsupported: --add-modules jdk.unsupported) or the JVM flag: "
              + AgronaAccess.FLAG,
          missing);
    }
  }

  private static void clean(MethodHandle invokeCleaner, ByteBuffer buffer) {
    try {
      invokeCleaner.invokeExact(buffer);
    } catch (Throwable thrown) {
      throw Rethrow.unchecked(thrown);
    }
  }

  @Override
  public Piece allocate(long alignment, long bytes) {
    long padding = alignment <= NATURAL_ALIGNMENT ? 0 : alignment - 1;
    if (bytes + padding > MemoryRegion.MAX_BYTES) {
      throw new IllegalArgumentException(
          "bytes "
              + bytes
              + " with room to align to "
              + alignment
              + " exceed "
              + MemoryRegion.MAX_BYTES
              + ", the most one buffer can hold");
    }
    ByteBuffer whole = ByteBuffer.allocateDirect((int) (bytes + padding));
    int misalignment = whole.alignmentOffset(0, (int) alignment);
    int start = misalignment == 0 ? 0 : (int) alignment - misalignment;
    return new Piece(whole.slice(start, (int) bytes).order(ByteOrder.nativeOrder()), whole, 0);
  }

  @Override
  public long bytesAvailable() {
    return Pool.BEAN == null
        ? Long.MAX_VALUE
        : Math.max(0, Pool.MAX_BYTES - Pool.BEAN.getTotalCapacity());
  }

  @Override
  public void free(Object owner) {
    cleaner.accept((ByteBuffer) owner);
  }

  /**
   * What the JVM tells of its direct buffers. Asked for late: the bean takes a while to be made.
   */
  private static final class Pool {
    private static final long MAX_BYTES = DirectMemory.maxBytes();
    private static final BufferPoolMXBean BEAN = find();

    private static BufferPoolMXBean find() {
      try {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(bean -> bean.getName().equals("direct"))
            .findFirst()
            .orElse(null);
      } catch (LinkageError notThere) {
        // A JVM made without the management module.
        return null;
      }
    }
  }
}
