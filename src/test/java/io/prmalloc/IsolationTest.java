package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Isolation.Fill;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.BlockIsolation;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IsolationTest {

  private static final int CAPACITY = 50_000;

  private final SubAllocator source = SubAllocator.direct();
  private final MemoryRegion region = source.alloc(64, CAPACITY + 200);

  @AfterEach
  void giveBack() {
    source.free(region);
  }

  /** A block that counts how often it was freed. */
  private static final class Counted extends Block {
    private int freed;

    Counted(MemoryRegion region, Isolation isolation) {
      super(region, 100, CAPACITY, BlockIsolation.of(isolation));
    }

    @Override
    protected boolean onFreed() {
      freed++;
      return false;
    }

    @Override
    protected void settle() {
      throw new AssertionError("nothing to settle");
    }
  }

  private byte at(int index) {
    return region.buffer().get(100 + index);
  }

  @ParameterizedTest
  @CsvSource({
    "none, NONE, false",
    "zero, ZERO, false",
    "poison, POISON, false",
    "canaries, NONE, true",
    "' Zero , CANARIES', ZERO, true",
    "'canaries,poison', POISON, true",
    "'zero,zero', ZERO, false",
  })
  void shouldReadWhatIsWanted(String words, Fill fill, boolean canaries) {
    assertEquals(new Isolation(fill, canaries), Isolation.parse(words));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "zeros", "zero,", "zero canaries", "zero,poison", "guard"})
  void shouldRefuseWhatItDoesNotKnow(String words) {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> Isolation.parse(words));
    assertTrue(refused.getMessage().startsWith("isolation '" + words + "'"), refused.getMessage());
  }

  @ParameterizedTest
  @CsvSource({"NONE, 7", "ZERO, 0", "POISON, -37"})
  void shouldLeaveWhatIsWantedWhenAUseEnds(Fill fill, byte left) {
    Counted block = new Counted(region, Isolation.NONE.withFill(fill));
    for (int bytes : new int[] {0, 1, 16_384, 16_385, CAPACITY}) {
      for (int i = 0; i < region.sizeBytes(); i++) {
        region.buffer().put(i, (byte) 7);
      }
      block.openRaw(bytes, 0);
      assertTrue(block.closeRaw());
      for (int i = -100; i < CAPACITY + 100; i++) {
        byte expected = i >= 0 && i < CAPACITY ? left : 7;
        if (at(i) != expected) {
          assertEquals(expected, at(i), "byte " + i + " of " + bytes);
        }
      }
    }
    assertEquals(5, block.freed);
  }

  @Test
  void shouldFillTheHeaderTooWhenTheUseWasRaw() {
    Counted block = new Counted(region, Isolation.NONE.withFill(Fill.POISON));
    block.openRaw(10, 64);
    assertTrue(block.closeRaw());
    assertEquals(Isolation.POISON, at(0));
    assertEquals(Isolation.POISON, at(73));
    assertEquals(Isolation.POISON, at(CAPACITY - 1), "and what nobody asked for");
    assertEquals(0, at(-1));
    assertEquals(0, at(CAPACITY));
  }

  @Test
  void shouldWipeCanariesWhenMemoryIsFilled() {
    Counted block = new Counted(region, Isolation.NONE.withFill(Fill.ZERO).withCanaries(true));
    Allocation handle = block.open(1000);
    assertFalse(at(1000) == 0 || at(1015) == 0 || at(CAPACITY - 16) == 0 || at(CAPACITY - 1) == 0);
    assertEquals(0, at(1016));
    handle.close();
    for (int i = 0; i < CAPACITY; i++) {
      if (at(i) != 0) {
        assertEquals(0, at(i), "byte " + i);
      }
    }
  }

  @Test
  void shouldSayNothingWhenAllThatWasAskedForIsWritten() {
    long seed = ThreadLocalRandom.current().nextLong();
    Random random = new Random(seed);
    Counted block = new Counted(region, Isolation.NONE.withCanaries(true));
    for (int i = 0; i < 200; i++) {
      int bytes = random.nextInt(CAPACITY - 16 + 1);
      Allocation handle = block.open(bytes);
      ByteBuffer buffer = handle.byteBuffer();
      assertEquals(bytes, buffer.remaining(), "seed " + seed);
      while (buffer.hasRemaining()) {
        buffer.put((byte) i);
      }
      handle.close();
    }
    assertEquals(200, block.freed);
  }

  @ParameterizedTest
  @ValueSource(ints = {1000, 1007, 1015, CAPACITY - 16, CAPACITY - 1})
  void shouldSayWhereWhenSomebodyWroteBeyondTheEnd(int position) {
    Counted block = new Counted(region, Isolation.NONE.withCanaries(true));
    Allocation handle = block.open(1000);
    region.buffer().put(100 + position, (byte) 1);
    IllegalStateException overrun = assertThrows(IllegalStateException.class, handle::close);
    assertEquals(
        "allocation of 1000 bytes was written beyond its end, at byte " + position,
        overrun.getMessage());
    // Nothing is lost: the block is free and serves again, and the handle is closed.
    assertEquals(1, block.freed);
    assertTrue(block.isFree());
    assertThrows(IllegalStateException.class, handle::byteBuffer);
    block.open(1000).close();
    assertEquals(2, block.freed);
  }

  @Test
  void shouldCountFromTheUsersFirstByteWhenTheUseWasRaw() {
    Counted block = new Counted(region, Isolation.NONE.withCanaries(true));
    block.openRaw(1000, 64);
    region.buffer().put(100 + 64 + 1003, (byte) 1);
    IllegalStateException overrun = assertThrows(IllegalStateException.class, block::closeRaw);
    assertEquals(
        "allocation of 1000 bytes was written beyond its end, at byte 1003", overrun.getMessage());
  }

  @Test
  void shouldNotBeHadByOthersWhenItIsBeingFilled() {
    // The block is neither live nor free while its memory is filled: whoever looks then must not
    // have it. Seen from inside onFreed, which comes after the filling.
    boolean[] freeBefore = new boolean[1];
    Block block =
        new Block(region, 100, CAPACITY, BlockIsolation.of(Isolation.NONE.withFill(Fill.ZERO))) {
          @Override
          protected boolean onFreed() {
            freeBefore[0] = isFree() && at(5) == 0;
            return false;
          }

          @Override
          protected void settle() {
            throw new AssertionError("nothing to settle");
          }
        };
    Allocation handle = block.open(10);
    handle.byteBuffer().put(5, (byte) 3);
    assertFalse(block.claim());
    handle.close();
    assertTrue(freeBefore[0]);
    assertTrue(block.claim());
  }

  @Test
  void shouldTellOneOfTwoThreadsOnlyWhenBothClose() throws Exception {
    for (int round = 0; round < 200; round++) {
      Counted block = new Counted(region, Isolation.NONE.withFill(Fill.POISON).withCanaries(true));
      Allocation handle = block.open(4000);
      int[] closed = new int[2];
      Thread other = new Thread(() -> closed[0] = close(handle));
      other.start();
      closed[1] = close(handle);
      other.join();
      assertEquals(1, closed[0] + closed[1], "round " + round);
      assertEquals(1, block.freed);
    }
  }

  private static int close(Allocation handle) {
    try {
      handle.close();
      return 1;
    } catch (IllegalStateException closedBefore) {
      return 0;
    }
  }
}
