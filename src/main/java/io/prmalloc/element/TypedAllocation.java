package io.prmalloc.element;

import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.internal.block.Failures;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Elements of one type, one after the other in off-heap memory. Close it once; afterwards every
 * method but those that tell what it was throws.
 *
 * <p>Comes from {@link Allocator#allocate(ElementType, long)}.
 *
 * <p>Threading: may be passed on and closed by any thread; of two concurrent closes one wins and
 * the other throws. Elements may be read and written by any thread, and by several at a time if no
 * two use the same one. It must not be closed while it is used.
 *
 * @param <T> the value of an element
 */
public final class TypedAllocation<T> implements AutoCloseable {

  // Elements begin and end in the order in which they lie, as TensorFlow's TypedAllocator has it,
  // also where a beginning fails and those before it end.
  //
  // Memory is never lost to an element that fails to end: the others end all the same, the memory
  // goes back, and only then the first failure goes on, with the others attached to it.

  private final Allocator allocator;
  private final ElementType<T> type;
  private final long count;
  private final Allocation allocation;
  // Of our own: users may change position, limit and order of the allocation's buffer.
  private final ByteBuffer memory;
  private final AtomicBoolean closed = new AtomicBoolean();

  private TypedAllocation(
      Allocator allocator, ElementType<T> type, long count, Allocation allocation) {
    this.allocator = allocator;
    this.type = type;
    this.count = count;
    this.allocation = allocation;
    this.memory = allocation.byteBuffer().duplicate().order(ByteOrder.nativeOrder());
  }

  public static <T> TypedAllocation<T> allocate(
      Allocator allocator, ElementType<T> type, long count) {
    Allocation allocation = allocator.allocate(bytesOf(type, count));
    int made = 0;
    TypedAllocation<T> elements = null;
    try {
      elements = new TypedAllocation<>(allocator, type, count, allocation);
      if (!type.isTrivial()) {
        while (made < count) {
          type.construct(allocator, elements.memory, made * type.slotBytes());
          made++;
        }
      }
      return elements;
    } catch (Throwable failure) {
      if (elements == null) {
        allocation.close();
      } else {
        elements.end(made, failure);
      }
      throw failure;
    }
  }

  private static long bytesOf(ElementType<?> type, long count) {
    int slot = type.slotBytes();
    if (slot < 1) {
      throw new IllegalArgumentException(
          "slotBytes " + slot + " of " + type.name() + " is not positive");
    }
    if (count < 0 || count > MemoryRegion.MAX_BYTES / slot) {
      throw new IllegalArgumentException(
          "count "
              + count
              + " of "
              + type.name()
              + ", "
              + slot
              + " bytes each, is not from 0 to "
              + MemoryRegion.MAX_BYTES / slot);
    }
    return count * slot;
  }

  /** What the elements are. Threading: any thread, also after {@link #close}. */
  public ElementType<T> type() {
    return type;
  }

  /** How many elements there are. Threading: any thread, also after {@link #close}. */
  public long count() {
    return count;
  }

  /**
   * Bytes of all elements, without what they own elsewhere. Threading: any thread, also after
   * {@link #close}.
   */
  public long sizeBytes() {
    return allocation.sizeBytes();
  }

  /**
   * The value of an element.
   *
   * <p>Threading: as the class says.
   *
   * @param index from 0
   * @throws IndexOutOfBoundsException if there is no such element
   * @throws IllegalStateException if this is closed
   */
  public T get(long index) {
    return type.read(memory(), offset(index));
  }

  /**
   * Gives an element a value. If this throws, the element keeps the old one.
   *
   * <p>Threading: as the class says.
   *
   * @param index from 0
   * @param value what the type can hold
   * @throws IndexOutOfBoundsException if there is no such element
   * @throws IllegalArgumentException if the type cannot hold the value
   * @throws OutOfNativeMemoryException if memory that the element needs is not available
   * @throws IllegalStateException if this is closed
   */
  public void set(long index, T value) {
    type.write(allocator, memory(), offset(index), value);
  }

  /**
   * The elements' memory in native byte order, from position 0 to its limit: a new view at each
   * call. Of a type that is not trivial it is read-only, because what lies there are addresses and
   * numbers.
   *
   * <p>Threading: any thread; must not be used after {@link #close}; this is not checked.
   *
   * @throws IllegalStateException if this is closed
   */
  public ByteBuffer byteBuffer() {
    ByteBuffer whole = memory();
    ByteBuffer view = type.isTrivial() ? whole.duplicate() : whole.asReadOnlyBuffer();
    return view.order(ByteOrder.nativeOrder());
  }

  /**
   * Address of the first element, a multiple of {@link Allocator#DEFAULT_ALIGNMENT}.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if this is closed, or if this JVM cannot tell addresses (the
   *     message then holds the flag that helps)
   */
  public long address() {
    checkOpen();
    return allocation.address();
  }

  /**
   * Ends the elements in the order in which they lie, and gives the memory back, also if an element
   * fails to end; the first failure goes on then, with the others attached.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if this was closed before; nothing changes then
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      throw closedBefore();
    }
    Throwable failure = end(type.isTrivial() ? 0 : count, null);
    Failures.throwIfAny(failure);
  }

  /**
   * Ends the first elements and gives the memory back.
   *
   * @param failure what went wrong before, or null
   * @return the first failure, the others attached to it, or null
   */
  private Throwable end(long made, Throwable failure) {
    Throwable first = failure;
    for (int i = 0; i < made; i++) {
      try {
        type.destroy(allocator, memory, i * type.slotBytes());
      } catch (Throwable e) {
        first = Failures.join(first, e);
      }
    }
    try {
      allocation.close();
    } catch (Throwable e) {
      first = Failures.join(first, e);
    }
    return first;
  }

  Allocator allocator() {
    return allocator;
  }

  /** The elements' memory, to be used at {@link #offset} only. */
  ByteBuffer memory() {
    checkOpen();
    return memory;
  }

  int offset(long index) {
    return (int) Objects.checkIndex(index, count) * type.slotBytes();
  }

  private void checkOpen() {
    if (closed.get()) {
      throw closedBefore();
    }
  }

  private IllegalStateException closedBefore() {
    return new IllegalStateException(this + " was closed before");
  }

  @Override
  public String toString() {
    return "TypedAllocation[" + count + " of " + type.name() + "]";
  }
}
