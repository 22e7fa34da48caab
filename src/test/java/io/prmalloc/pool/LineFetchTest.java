package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Block;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class LineFetchTest {

  private static final int BLOCKS = 32;

  private final LineFetch lines = new LineFetch();

  private void took(int times, long nanosSideBySide, long nanosInTurn) {
    for (int i = 0; i < times; i++) {
      lines.took(true, nanosSideBySide * BLOCKS, BLOCKS);
      lines.took(false, nanosInTurn * BLOCKS, BLOCKS);
    }
  }

  @Test
  void shouldGoSideBySideUntilBothWaysAreKnown() {
    assertTrue(lines.isSideBySide());
    lines.took(true, 1000, BLOCKS);
    assertTrue(lines.isSideBySide());
    lines.took(false, 999, BLOCKS);
    assertFalse(lines.isSideBySide());
  }

  @Test
  void shouldTryTheWaysInTurn() {
    boolean first = lines.nextTrial();
    assertEquals(!first, lines.nextTrial());
    assertEquals(first, lines.nextTrial());
  }

  @Test
  void shouldFollowWhatTakesLess() {
    took(1, 18, 12);
    assertFalse(lines.isSideBySide());

    // The processors are far apart from now on.
    took(100, 20, 90);
    assertTrue(lines.isSideBySide());

    took(100, 18, 12);
    assertFalse(lines.isSideBySide());
  }

  @Test
  void shouldNotBeMisledByAThreadThatLostTheProcessor() {
    took(100, 18, 12);
    lines.took(false, 50_000_000, BLOCKS);
    assertFalse(lines.isSideBySide());

    // Nor by many, if they are fewer than the others.
    for (int i = 0; i < 100; i++) {
      lines.took(false, i % 4 == 0 ? 50_000_000 : 12 * BLOCKS, BLOCKS);
    }
    assertFalse(lines.isSideBySide());
  }

  @Test
  void shouldComeBackFromAClockThatStoodStill() {
    took(100, 0, 0);
    took(100, 18, 12);
    assertFalse(lines.isSideBySide());
    took(200, 12, 18);
    assertTrue(lines.isSideBySide());
  }

  @Test
  void shouldMarkBlocksByEitherWayAndNoOthers() {
    PooledBlock[] blocks = Buffers.buffer(0, 64).blocks().toArray(PooledBlock[]::new);
    for (int number = 0; number < blocks.length; number++) {
      blocks[number].readyIn(ReadyBlocks.NONE, number);
    }
    ReadyWord word = ReadyWord.of(blocks, 0);
    StripeHold hold = StripeHold.ofCaller(null, 0, null);
    long some = 0xF0F0_F0F0_F0F0_F0F0L;

    // As many as see both ways, timed and not.
    for (int i = 0; i < 4 * LineFetch.TRIAL_EVERY; i++) {
      lines.fetch(hold, word, some);
      for (PooledBlock block : blocks) {
        boolean meant = (block.bit() & some) != 0;
        assertEquals(meant, Block.isMarked(block.stamp()), "block " + block.number());

        block.unmark(Block.markerOf(block.stamp()), 63);
      }
    }
  }

  @Test
  void shouldMarkNothingForAnotherThreadsHold() throws InterruptedException {
    PooledBlock[] blocks = Buffers.buffer(0, 64).blocks().toArray(PooledBlock[]::new);
    StripeHold hold = StripeHold.ofCaller(null, 0, null);
    Thread other = new Thread(() -> lines.fetch(hold, ReadyWord.of(blocks, 0), -1L));
    other.start();
    other.join();
    assertTrue(Arrays.stream(blocks).noneMatch(block -> Block.isMarked(block.stamp())));
  }
}
