package io.prmalloc;

import com.sun.jna.Pointer;
import io.prmalloc.OutOfNativeMemoryException.Limit;
import io.prmalloc.contract.MinimalAllocator;
import io.prmalloc.element.ElementTypes;
import io.prmalloc.element.TypedAllocation;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.os.AgronaAccess;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.internal.os.ResourceUsage;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The program that {@link NoFlagTest} runs in a JVM of its own; prints {@code done} if all checks
 * passed.
 */
final class ChildMain {

  private static final int JAVA = Runtime.version().feature();

  // From Java 24 on direct memory knows its address without anybody's help.
  private static final boolean ADDRESS_KNOWN = JAVA >= 24;

  private ChildMain() {}

  public static void main(String[] arguments) {
    switch (arguments[0]) {
      case "block" -> block();
      case "handles" -> handles();
      case "address" -> address();
      case "withoutJna" -> withoutJna();
      case "poolsWithoutJna" -> poolsWithoutJna();
      case "directLimit" -> directLimit();
      case "droppedPools" -> droppedPools();
      case "addressSpaceLimit" -> addressSpaceLimit();
      default -> throw new IllegalArgumentException("no part " + arguments[0]);
    }
    System.out.print("done");
  }

  private static void check(boolean right, String what) {
    if (!right) {
      throw new AssertionError(what);
    }
  }

  /** Nothing but what every block brings about, wherever its memory is from. */
  private static void block() {
    try {
      Class.forName(Block.class.getName());
    } catch (ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }

  private static void handles() {
    check(!AgronaAccess.isAvailable(), "this JVM has the flag");
    check(OperatingSystem.pageSizeBytes() >= 4096, "page size");
    SubAllocator source = SubAllocator.direct();
    MemoryRegion region = source.alloc(4096, 10_000);
    check(region.buffer().alignmentOffset(0, 4096) == 0, "alignment");
    region.buffer().put(9_999, (byte) 1);
    source.free(region);
    try (CpuAllocator allocator = new CpuAllocator(source)) {
      for (int i = 1; i <= 100; i++) {
        try (Allocation allocation = allocator.allocate(1000L * i)) {
          ByteBuffer bytes = allocation.byteBuffer();
          bytes.putInt(1000 * i - 4, i);
          check(bytes.getInt(1000 * i - 4) == i, "contents");
          checkNoBuffer(allocation);
        }
      }
      check(allocator.stats().numAllocs() == 100, "allocations");
      if (ADDRESS_KNOWN) {
        checkRaw(allocator);
      }
    }
    check(source.bytesReserved() == 0, "reserved " + source.bytesReserved());
    pool();
  }

  /** From the first step to beyond the switch-over. */
  private static void pool() {
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder().startStatisticStep(0).executor(Runnable::run).build()) {
      for (int i = 0; i < 20; i++) {
        ScopedMemoryCollector step = pool.collect();
        pool.allocate(100_000).close();
        step.close();
      }
      check(pool.poolStats().hits() > 0, pool.dumpStats());
    }
  }

  private static void checkNoBuffer(Allocation allocation) {
    try {
      allocation.buffer();
    } catch (IllegalStateException refused) {
      check(refused.getMessage().contains(AgronaAccess.FLAG), refused.getMessage());
      return;
    }
    throw new AssertionError("buffer() worked without the flag");
  }

  private static void address() {
    check(!AgronaAccess.isAvailable(), "this JVM has the flag");
    try (CpuAllocator allocator = new CpuAllocator(SubAllocator.direct());
        Allocation allocation = allocator.allocate(100, 4096)) {
      allocation.byteBuffer().putInt(96, 12345);
      check(allocation.address() % 4096 == 0, "alignment of " + allocation.address());
      check(new Pointer(allocation.address()).getInt(96) == 12345, "contents");
      pooledAddresses();
      long raw = allocator.allocateRaw(64, 1000);
      new Pointer(raw).setMemory(0, 1000, (byte) 1);
      allocator.deallocateRaw(raw);
      checkNoBuffer(allocation);
      try (TypedAllocation<byte[]> strings = allocator.allocate(ElementTypes.STRING, 2)) {
        strings.set(1, new byte[] {1, 2, 3});
        check(Arrays.equals(strings.get(1), new byte[] {1, 2, 3}), "string");
      }
    }
  }

  /** Small ones and planned ones, with headers that Agrona does not write here. */
  private static void pooledAddresses() {
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder().startStatisticStep(0).executor(Runnable::run).build()) {
      for (int i = 0; i < 20; i++) {
        ScopedMemoryCollector step = pool.collect();
        checkHeader(pool, 1000);
        checkHeader(pool, 100_000);
        step.close();
      }
      check(pool.isPooling() && pool.poolStats().hits() > 0, pool.dumpStats());
    }
  }

  private static void checkHeader(TensorPoolAllocator pool, long bytes) {
    boolean full = bytes > LifetimePolicy.SMALL_BYTES;
    long address = pool.allocateRaw(64, bytes);
    // The user address, or the mark of a light header.
    Pointer field = new Pointer(address - (full ? 24 : 8));
    long right = field.getLong(0);
    check(full ? right == address : field.getInt(0) == 0x50524D41, "header of " + bytes);
    field.setLong(0, right + 1);
    try {
      pool.deallocateRaw(address);
      throw new AssertionError("an overwritten header of " + bytes + " was not seen");
    } catch (CorruptedHeaderException seen) {
      field.setLong(0, right);
    }
    pool.deallocateRaw(address);
  }

  private static void withoutJna() {
    SubAllocator source = SubAllocator.direct();
    try (CpuAllocator allocator = new CpuAllocator(source)) {
      try (Allocation allocation = allocator.allocate(100)) {
        allocation.byteBuffer().put(99, (byte) 1);
        checkAddress(allocation);
      }
      checkRaw(allocator);
      track(allocator);
      checkStrings(allocator);
    }
    check(source.bytesReserved() == 0, "reserved " + source.bytesReserved());
    checkMallocs();

    SubAllocator mmap = SubAllocator.mmap(MmapOptions.DEFAULT);
    try {
      mmap.alloc(64, 4096);
      throw new AssertionError("mmap worked without JNA");
    } catch (UnsupportedOperationException refused) {
      check(
          refused.getMessage().startsWith("mmap is not supported on this platform: JNA"),
          refused.getMessage());
    }
    check(mmap.bytesReserved() == 0, "reserved " + mmap.bytesReserved());

    ResourceUsage usage = OperatingSystem.processUsage();
    check(usage.minorFaults() > 0 && usage.peakResidentBytes() > 0, "usage " + usage);
    check(OperatingSystem.residentBytes() > 0, "resident bytes");
    // The JVM itself knows how to trim, from some update of 17 on.
    check(OperatingSystem.trimHeap() || JAVA < 21, "not trimmed");
  }

  /** Handles can be tracked and logged although nobody knows their addresses. */
  private static void track(Allocator allocator) {
    TrackingAllocator tracker = new TrackingAllocator(new MinimalAllocator(allocator), true);
    try (LogRecords log = new LogRecords()) {
      AllocationAttributes logged = AllocationAttributes.DEFAULT.logged("tracked", 1);
      tracker.allocate(100, 64, logged).close();
      check(log.all().size() == 2, "log " + log.all());
      check(log.all().get(0).startsWith("allocated id=0 requested=100"), "log " + log.all());
    }
    check(tracker.getSizesAndUnref().totalBytes() == 100, "total");
    check(tracker.isRetired(), "not retired");
  }

  private static void checkStrings(CpuAllocator allocator) {
    try (TypedAllocation<byte[]> strings = allocator.allocate(ElementTypes.STRING, 2)) {
      AllocatorStats before = allocator.stats();
      try {
        strings.set(1, new byte[] {1, 2, 3});
        throw new AssertionError("memory was reached by its address alone");
      } catch (IllegalStateException refused) {
        check(refused.getMessage().contains(AgronaAccess.FLAG), "" + refused);
      }
      check(before.bytesInUse() == allocator.stats().bytesInUse(), "stats " + allocator.stats());
      check(strings.get(1).length == 0, "string");
    }
  }

  private static void checkMallocs() {
    SubAllocator source = SubAllocator.posixMemalign();
    try {
      source.alloc(64, 4096);
      throw new AssertionError("posix_memalign worked without JNA");
    } catch (UnsupportedOperationException refused) {
      check(refused.getMessage().startsWith("posix_memalign is not supported"), "" + refused);
    }
    check(source.bytesReserved() == 0, "reserved " + source.bytesReserved());
    try {
      SubAllocator.malloc("mimalloc");
      throw new AssertionError("mimalloc worked without JNA");
    } catch (UnsupportedOperationException refused) {
      check(
          refused.getMessage().startsWith("the malloc of library `mimalloc` is not supported"),
          "" + refused);
    }
  }

  private static void checkAddress(Allocation allocation) {
    try {
      check(allocation.address() % 64 == 0 && ADDRESS_KNOWN, "address " + allocation.address());
    } catch (IllegalStateException refused) {
      check(!ADDRESS_KNOWN && refused.getMessage().contains(AgronaAccess.FLAG), "" + refused);
    }
  }

  private static void checkRaw(CpuAllocator allocator) {
    AllocatorStats before = allocator.stats();
    try {
      long address = allocator.allocateRaw(64, 100);
      check(address % 64 == 0 && ADDRESS_KNOWN, "address " + address);
      allocator.deallocateRaw(address);
    } catch (IllegalStateException refused) {
      check(!ADDRESS_KNOWN && refused.getMessage().contains(AgronaAccess.FLAG), "" + refused);
      check(before.equals(allocator.stats()), "stats " + allocator.stats());
    }
  }

  private static void directLimit() {
    SubAllocator source = SubAllocator.direct();
    MemoryRegion region = source.alloc(64, 4 << 20);
    try {
      source.alloc(64, 16 << 20);
      throw new AssertionError("16 MiB granted of 8");
    } catch (OutOfNativeMemoryException refused) {
      check(refused.getCause() instanceof OutOfMemoryError, "cause " + refused.getCause());
      check(refused.requestedBytes() == 16 << 20, refused.getMessage());
      check(refused.reservedBytes() == 4 << 20, refused.getMessage());
      check(refused.limitBytes().orElse(-1) == 8 << 20, refused.getMessage());
      check(refused.limit() == Limit.DIRECT_MEMORY, refused.getMessage());
      check(refused.getMessage().endsWith("larger -XX:MaxDirectMemorySize"), refused.getMessage());
    }
    check(source.bytesReserved() == 4 << 20, "reserved " + source.bytesReserved());
    for (int i = 0; i < 20; i++) {
      // Would soon fail if freeing waited for the collector.
      source.free(source.alloc(64, 3 << 20));
    }
    source.free(region);
    check(source.bytesReserved() == 0, "reserved " + source.bytesReserved());
  }

  private static void poolsWithoutJna() {
    SubAllocator mmap = SubAllocator.mmap(MmapOptions.DEFAULT);
    checkNotBuilt(mmap, "mapped memory is not supported on this platform: JNA does not work");
    checkNotBuilt(mmap.withVisitors(0), "mapped memory is not supported");
    checkNotBuilt(mmap.withSoftLimit(1, (reserved, limit) -> {}), "mapped memory is not supported");
    checkNotBuilt(SubAllocator.posixMemalign(), "memory from malloc is not supported");
    SubAllocator direct = SubAllocator.direct();
    check(direct.ifUsableElse(mmap) == direct, "direct memory is not used");
    try (TensorPoolAllocator pool =
            TensorPoolAllocator.builder().subAllocator(mmap.ifUsableElse(direct)).build();
        Allocation allocation = pool.allocate(100_000)) {
      allocation.byteBuffer().put(0, (byte) 1);
      check(direct.bytesReserved() > 0, "memory is not from where it should be");
    }
  }

  private static void checkNotBuilt(SubAllocator source, String start) {
    try {
      TensorPoolAllocator.builder().subAllocator(source).build().close();
      throw new AssertionError("a pool was built without JNA");
    } catch (UnsupportedOperationException refused) {
      String message = refused.getMessage();
      check(message.startsWith(start) && message.contains("-Djna.tmpdir="), message);
    }
  }

  /** Many more than there is memory for at a time, and none of them closed. */
  private static void droppedPools() {
    // Each holds a MiB at least, and the limit is 16.
    for (int i = 0; i < 25; i++) {
      dropPool();
      System.gc();
    }
  }

  private static void dropPool() {
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder().startStatisticStep(0).executor(Runnable::run).build();
    for (int i = 0; i < 20; i++) {
      ScopedMemoryCollector step = pool.collect();
      pool.allocate(1 << 20).close();
      step.close();
    }
    check(pool.isPooling(), pool.dumpStats());
  }

  private static void addressSpaceLimit() {
    SubAllocator source = SubAllocator.mmap(MmapOptions.DEFAULT);
    List<MemoryRegion> regions = new ArrayList<>();
    long reservedBytes = 0;
    try {
      while (regions.size() < 64) {
        regions.add(source.alloc(64, 1 << 30));
        reservedBytes += 1 << 30;
      }
      throw new AssertionError("64 GiB granted of less");
    } catch (OutOfNativeMemoryException refused) {
      check(refused.getCause().getMessage().contains("Cannot allocate"), "cause");
      check(refused.limit() == Limit.SYSTEM, refused.getMessage());
      check(refused.getMessage().contains("refused by the system"), refused.getMessage());
      check(refused.reservedBytes() == reservedBytes, refused.getMessage());
    }
    check(source.bytesReserved() == reservedBytes, "reserved " + source.bytesReserved());
    regions.forEach(source::free);
    check(source.bytesReserved() == 0, "reserved " + source.bytesReserved());
  }
}
