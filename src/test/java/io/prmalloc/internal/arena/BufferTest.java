package io.prmalloc.internal.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.freelist.Buffers;
import io.prmalloc.internal.freelist.PooledBlock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The buffer alone on one thread; where freed blocks are noted is tested elsewhere. */
class BufferTest {

  private static Buffer newBuffer(int blocks) {
    Buffer buffer = Buffers.buffer(0, blocks);
    Buffers.ready(1, buffer);
    return buffer;
  }

  private static List<Allocation> takeAll(Buffer buffer) {
    List<Allocation> handles = new ArrayList<>();
    for (Block block = buffer.claimAny(); block != null; block = buffer.claimAny()) {
      handles.add(block.open(1));
    }
    return handles;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 63, 64, 65, 1000})
  void shouldGiveEveryBlockOnceWhenAsked(int count) {
    Buffer buffer = newBuffer(count);
    Set<PooledBlock> seen = new HashSet<>();
    for (int i = 0; i < count; i++) {
      PooledBlock block = buffer.claimAny();
      assertNotNull(block, "after " + i);
      assertTrue(seen.add(block), "twice");
    }
    assertNull(buffer.claimAny());
    assertEquals(Set.copyOf(buffer.blocks()), seen);
  }

  @Test
  void shouldSayWhatItWasMadeWithWhenAsked() {
    Buffer buffer = Buffers.buffer(3, 2);
    assertEquals(3, buffer.bin());
    assertEquals(2, buffer.count());
    assertEquals(Buffers.CHUNK_BYTES, buffer.strideBytes());
    assertEquals(64, buffer.alignment());
    assertEquals(2, buffer.blocks().size());
    for (PooledBlock block : buffer.blocks()) {
      assertEquals(3, block.bin());
      assertEquals(Buffers.CHUNK_BYTES, block.capacityBytes());
    }
  }

  @Test
  void shouldFindTheOneThatIsFreeWhenAllOthersAreAllocated() {
    Buffer buffer = newBuffer(100);
    List<Allocation> handles = takeAll(buffer);
    // One request in vain is skipped after every one that asked.
    assertNull(buffer.claimAny());
    handles.get(57).close();
    assertSame(buffer.blocks().get(57), buffer.claimAny());
  }

  /** So that a bin that is exhausted costs a request at most some 64 looks on average. */
  @ParameterizedTest
  @CsvSource({"1, 0", "63, 0", "64, 1", "127, 1", "128, 2", "1000, 15"})
  void shouldSkipAsManyRequestsAsTheBlocksAskedAreWorthWhenAllAreOut(int count, int skipped) {
    Buffer buffer = newBuffer(count);
    List<Allocation> handles = takeAll(buffer);
    assertEquals(count, handles.size());
    handles.get(count / 2).close();
    for (int i = 0; i < skipped; i++) {
      assertNull(buffer.claimAny(), "request " + i);
    }
    assertNotNull(buffer.claimAny());
  }

  @Test
  void shouldNotSkipWhenTheLastRequestFoundOne() {
    Buffer buffer = newBuffer(1000);
    for (int i = 0; i < 3; i++) {
      PooledBlock block = buffer.claimAny();
      assertNotNull(block);
      block.giveUp();
    }
  }

  @Test
  void shouldCountWhatIsFreeAndWhatWasUsedWhenBlocksComeAndGo() {
    Buffer buffer = newBuffer(3);
    assertEquals(3, buffer.freeBlocks());
    assertEquals(0, buffer.blocksUsed());
    Allocation handle = buffer.claimAny().open(100);
    PooledBlock claimed = buffer.claimAny();
    assertEquals(1, buffer.freeBlocks());
    assertEquals(1, buffer.blocksUsed(), "what is not open was not used yet");
    claimed.giveUp();
    handle.close();
    assertEquals(3, buffer.freeBlocks());
    PoolCounts counts = new PoolCounts();
    buffer.addTo(counts);
    assertEquals(1, counts.uses);
    assertEquals(0, counts.bytesInUse);
    assertEquals(100, counts.largestBytes);
  }

  private static List<Long> stamps(Buffer buffer) {
    return buffer.blocks().stream().map(Block::stamp).toList();
  }

  private static List<Long> uses(Buffer buffer) {
    return buffer.blocks().stream().map(Block::uses).toList();
  }

  @Test
  void shouldLetNothingOutWhenRetiredAndGoOnAsBeforeWhenReopened() {
    Buffer buffer = newBuffer(3);
    buffer.claimAny().open(1).close();
    List<Long> before = stamps(buffer);
    assertTrue(buffer.retire());
    assertEquals(0, buffer.freeBlocks());
    assertNull(buffer.claimAny());
    assertEquals(List.of(1L, 0L, 0L), uses(buffer));
    assertFalse(buffer.retire(), "a second time");
    buffer.reopen();
    assertEquals(before, stamps(buffer));
    assertEquals(List.of(1L, 0L, 0L), uses(buffer));
    assertEquals(3, takeAll(buffer).size());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void shouldChangeNothingWhenABlockIsOutAtRetirement(int out) {
    Buffer buffer = newBuffer(3);
    PooledBlock block = buffer.blocks().get(out);
    assertTrue(block.claim());
    Allocation handle = block.open(1);
    List<Long> before = stamps(buffer);
    assertFalse(buffer.retire());
    assertEquals(before, stamps(buffer));
    handle.close();
    assertTrue(buffer.retire());
  }

  @Test
  void shouldNotRetireWhenABlockIsClaimedByAnother() {
    Buffer buffer = newBuffer(2);
    PooledBlock block = buffer.claimAny();
    List<Long> before = stamps(buffer);
    assertFalse(buffer.retire());
    assertEquals(before, stamps(buffer));
    block.giveUp();
    assertTrue(buffer.retire());
  }

  @Test
  void shouldCloseHandlesAndLetNothingOutWhenRevoked() {
    Buffer buffer = newBuffer(3);
    Allocation handle = buffer.claimAny().open(1);
    buffer.claimAny().open(1).close();
    buffer.revokeAll();
    assertThrows(IllegalStateException.class, handle::close);
    assertThrows(IllegalStateException.class, handle::byteBuffer);
    assertNull(buffer.claimAny());
    assertEquals(0, buffer.freeBlocks());
    assertEquals(2, uses(buffer).stream().mapToLong(Long::longValue).sum());
    PoolCounts counts = new PoolCounts();
    buffer.addTo(counts);
    assertEquals(0, counts.bytesInUse);
    assertEquals(0, counts.liveBlocks);
  }

  // ---- discarding

  @Test
  void shouldLetNobodyHaveABlockWhileItsPagesGo() {
    Buffer buffer = newBuffer(2);
    Allocation out = buffer.claimAny().open(1);
    List<PooledBlock> discarded = new ArrayList<>();
    long bytes =
        buffer.discardFree(
            block -> {
              assertNull(buffer.claimAny());
              assertFalse(block.isFree());
              discarded.add(block);
              return 4096;
            });
    assertEquals(4096, bytes);
    assertEquals(List.of(buffer.claimAny()), discarded);
    assertTrue(out.toString().endsWith("bytes]"), out.toString());
  }

  @Test
  void shouldDiscardAgainOnlyWhatWasUsedOrCouldNotBeDiscarded() {
    Buffer buffer = newBuffer(3);
    assertEquals(0, buffer.discardedBytes());
    int[] number = {0};
    assertEquals(300, buffer.discardFree(block -> 100L * number[0]++));
    assertEquals(300, buffer.discardedBytes());
    Allocation out = buffer.blocks().get(2).open(1);
    assertEquals(100, buffer.discardedBytes());
    assertEquals(7, buffer.discardFree(block -> 7));
    assertEquals(107, buffer.discardedBytes());
    out.close();
    assertEquals(5, buffer.discardFree(block -> 5));
    buffer.noteResident();
    assertEquals(0, buffer.discardedBytes());
    assertEquals(3, buffer.discardFree(block -> 1));
  }

  @Test
  void shouldKeepTheBlockWhenItsPagesCannotGo() {
    Buffer buffer = newBuffer(1);
    assertThrows(
        IllegalStateException.class,
        () ->
            buffer.discardFree(
                block -> {
                  throw new IllegalStateException("refused");
                }));
    assertNotNull(buffer.claimAny());
  }
}
