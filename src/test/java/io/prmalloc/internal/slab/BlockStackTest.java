package io.prmalloc.internal.slab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.PooledBlock;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BlockStackTest {

  private static final int SLOT_BYTES = 64;

  /** How often the owner of a stack heard of it. */
  private int changes;

  private final SubAllocator source = SubAllocator.direct();
  private final MemoryRegion region = source.alloc(64, 200 * SLOT_BYTES);

  @AfterEach
  void giveBack() {
    source.free(region);
  }

  private PooledBlock block(int index) {
    return new PooledBlock(
        region, (long) SLOT_BYTES * index, SLOT_BYTES, BlockIsolation.NONE, index);
  }

  private BlockStack stack(int capacity) {
    return new BlockStack(capacity, new Stripes(1)) {
      @Override
      PooledBlock create(int index) {
        return block(index);
      }

      @Override
      void changed() {
        changes++;
      }
    };
  }

  /** As a close does; how often the owner hears of it. */
  private int finishFree(PooledBlock block) {
    block.giveUp();
    return settle(block, block.onFreed());
  }

  private int settle(PooledBlock block, boolean isLeft) {
    int before = changes;
    if (isLeft) {
      block.settle();
    }
    return changes - before;
  }

  private static PooledBlock[] takeAll(BlockStack stack, int capacity) {
    PooledBlock[] all = new PooledBlock[capacity];
    for (int i = 0; i < capacity; i++) {
      all[i] = stack.allocate();
    }
    assertNull(stack.allocate());
    return all;
  }

  @Test
  void shouldTellOfTheFirstAndOfTheLastWhenTheFrontIsShut() {
    BlockStack stack = stack(3);
    PooledBlock[] all = takeAll(stack, 3);
    assertEquals(1, finishFree(all[1]));
    assertEquals(0, finishFree(all[0]));
    assertEquals(2, stack.freeBlocks());
    assertFalse(stack.allFree());
    assertEquals(1, finishFree(all[2]));
    assertTrue(stack.allFree());
  }

  @Test
  void shouldTellOfNothingWhenTheFrontIsOpen() {
    BlockStack stack = stack(150);
    PooledBlock[] all = takeAll(stack, 150);
    stack.openFront();
    assertTrue(stack.isFrontOpen());
    for (PooledBlock block : all) {
      assertEquals(0, finishFree(block));
    }
    assertEquals(0, stack.freeBlocks(), "all are in front");
    PooledBlock[] again = takeAll(stack, 150);
    assertEquals(List.of(all), List.of(again), "word by word");
    for (PooledBlock block : again) {
      assertEquals(0, finishFree(block));
    }
    stack.shutFront();
    assertFalse(stack.isFrontOpen());
    assertTrue(stack.allFree());
    assertEquals(150, Arrays.stream(takeAll(stack, 150)).distinct().count());
  }

  @Test
  void shouldGiveABlockOnceWhenItsBitIsStillSetAfterItWentToTheStack() {
    BlockStack stack = stack(2);
    PooledBlock[] both = takeAll(stack, 2);
    stack.openFront();
    finishFree(both[0]);
    stack.shutFront();
    assertEquals(1, stack.freeBlocks());
    assertSame(both[0], stack.allocate());
    assertNull(stack.allocate());
  }

  @Test
  void shouldFindABlockWhoseBitIsLostWhenItGathers() {
    BlockStack stack = stack(2);
    PooledBlock[] both = takeAll(stack, 2);
    stack.openFront();
    finishFree(both[1]);
    assertTrue(both[1].claim());
    assertNull(stack.allocate(), "its bit is cleared, for it is busy");
    both[1].giveUp();
    assertNull(stack.allocate());
    stack.gather();
    assertSame(both[1], stack.allocate());
    assertNull(stack.allocate());
  }

  @Test
  void shouldTellWhenSomebodyElsePutTheBlockOnTheStack() {
    BlockStack stack = stack(3);
    PooledBlock[] all = takeAll(stack, 3);
    all[0].giveUp();
    stack.gather();
    assertEquals(1, stack.freeBlocks());
    assertEquals(1, settle(all[0], true));
    assertEquals(1, stack.freeBlocks());
  }

  @Test
  void shouldBringToTheFrontAtOnceWhatWasTakenBefore() {
    BlockStack stack = stack(150);
    PooledBlock[] some = new PooledBlock[100];
    for (int i = 0; i < some.length; i++) {
      some[i] = stack.allocateServed();
    }
    for (PooledBlock block : some) {
      finishFree(block);
    }
    assertEquals(150, stack.freeBlocks());
    stack.openFront();
    PooledBlock block = stack.allocateServed();
    assertTrue(Arrays.asList(some).contains(block));
    assertEquals(50, stack.freeBlocks(), "those that are not made yet");
    assertEquals(99, Arrays.stream(some).filter(PooledBlock::isFree).count());
    assertEquals(block, stack.blocks()[0], "the lowest first");
    finishFree(block);
    assertEquals(100, Arrays.stream(takeAll(stack, 150)).filter(List.of(some)::contains).count());
  }

  @Test
  void shouldBringNothingToTheFrontForOthers() {
    BlockStack stack = stack(3);
    PooledBlock[] all = takeAll(stack, 3);
    for (PooledBlock block : all) {
      finishFree(block);
    }
    stack.openFront();
    assertSame(all[2], stack.allocate());
    assertEquals(2, stack.freeBlocks());
    assertEquals(0, Arrays.stream(all).filter(PooledBlock::isFree).count());
  }

  @Test
  void shouldRetireOnlyWhenNoBlockIsOut() {
    BlockStack stack = stack(2);
    stack.openFront();
    PooledBlock[] both = takeAll(stack, 2);
    finishFree(both[0]);
    assertFalse(stack.retire());
    assertSame(both[0], stack.allocate());
    finishFree(both[1]);
    finishFree(both[0]);
    assertTrue(stack.retire());
    assertNull(stack.allocate());
    stack.reopen();
    assertNotSame(stack.allocate(), stack.allocate());
  }

  @Test
  void shouldRefuseMoreBlocksThanItHasWordsFor() {
    assertEquals(
        "capacity 4097 exceeds 4096",
        assertThrows(IllegalArgumentException.class, () -> stack(4097)).getMessage());
    assertEquals(4096, stack(4096).freeBlocks());
  }

  @Test
  void shouldKeepASlotFreeWhenItsBlockCannotBeMade() {
    Map<Integer, Integer> tries = new HashMap<>();
    BlockStack stack =
        new BlockStack(2, new Stripes(1)) {
          @Override
          PooledBlock create(int index) {
            if (tries.merge(index, 1, Integer::sum) == 1) {
              throw new OutOfMemoryError("no heap for block " + index);
            }
            return block(index);
          }

          @Override
          void changed() {
            changes++;
          }
        };
    assertThrows(OutOfMemoryError.class, () -> stack.allocate());
    assertTrue(stack.allFree());
    PooledBlock block = stack.allocate();
    assertSame(stack.blocks()[0], block);
    assertEquals(1, stack.freeBlocks());
    assertEquals(new TreeMap<>(Map.of(0, 2)), new TreeMap<>(tries));
  }
}
