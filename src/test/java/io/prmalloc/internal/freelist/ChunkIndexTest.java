package io.prmalloc.internal.freelist;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.arena.Buffer;
import io.prmalloc.internal.block.Stripes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The index of free blocks when threads take turns, and its results when its hints are wrong. */
class ChunkIndexTest {

  static final int NONE = -1;

  /** Takes blocks of a size class, and tells their numbers. */
  static List<Integer> take(ChunkIndex ready, int sizeClass, int count) {
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      PooledBlock block = ready.take(Buffers.bytesOf(sizeClass));
      numbers.add(block == null ? NONE : block.number());
    }
    return numbers;
  }

  private static PooledBlock takeAny(ChunkIndex ready, Buffer buffer) {
    return ready.takeFromAny(buffer.firstNumber(), buffer.count());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8, 64})
  void shouldGiveTheFirstThatIsFreeWhenOneThreadWorks(int stripes) {
    Buffer buffer = Buffers.buffer(0, 4);
    ChunkIndex ready = Buffers.ready(stripes, buffer);
    PooledBlock one = ready.take(Buffers.bytesOf(0));
    PooledBlock two = ready.take(Buffers.bytesOf(0));
    PooledBlock three = ready.take(Buffers.bytesOf(0));
    assertEquals(List.of(0, 1, 2), List.of(one.number(), two.number(), three.number()));
    Allocation first = one.open(1);
    Allocation second = two.open(1);
    three.open(1);
    second.close();
    assertEquals(List.of(1), take(ready, 0, 1));
    first.close();
    assertEquals(List.of(0, 3, NONE), take(ready, 0, 3));
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 32768, 32769 + 2 * 4096, 1L << 33, Long.MAX_VALUE})
  void shouldFindNothingWhenTheSizeHasNoClass(long bytes) {
    ChunkIndex ready = Buffers.ready(8, Buffers.buffer(0, 1), Buffers.buffer(1, 1));
    assertNull(ready.removeFirst(bytes));
    assertNull(ready.take(bytes));
    assertNull(FreeIndex.NONE.removeFirst(bytes));
    assertEquals(0, ready.removeFirst(32769).number(), "the least there is");
    assertEquals(1, ready.removeFirst(32768 + 2 * 4096).number(), "the most there is");
  }

  @Test
  void shouldKeepSizeClassesApartWhenThereAreSeveral() {
    Buffer small = Buffers.buffer(0, 2);
    Buffer large = Buffers.buffer(2, 3);
    ChunkIndex ready = Buffers.ready(8, small, large);
    assertNull(ready.take(Buffers.bytesOf(1)), "no block is of this class");
    assertEquals(List.of(2, 3, 4, NONE), take(ready, 2, 4));
    assertEquals(List.of(0, 1, NONE), take(ready, 0, 3));
    assertNull(takeAny(ready, small));
    assertNull(takeAny(ready, large));
  }

  @Test
  void shouldGiveTheSmallestFirstWhenAClassMayBorrow() {
    BinTable table = Buffers.table(true, 1, 2, 1);
    assertNull(table.take(Buffers.bytesOf(0)), "nobody has anything so far");
    table.takeSlowly(Buffers.bytesOf(0), 64).open(1).close();
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      PooledBlock block = table.take(Buffers.bytesOf(0));
      numbers.add(block == null ? NONE : block.number());
    }
    assertEquals(List.of(0, 1, 2, NONE), numbers, "its own, then those of the next bin, no others");
    assertEquals(3, table.take(Buffers.bytesOf(1)).number(), "the next bin borrows as well");
  }

  /** More blocks than a word has bits, in bins of which some begin behind a gap. */
  @ParameterizedTest
  @ValueSource(ints = {1, 63, 64, 65, 127, 128, 129, 1000})
  void shouldGiveEveryBlockOnceWhenThereAreMoreThanAWordHolds(int count) {
    Buffer first = Buffers.buffer(0, 40);
    Buffer second = Buffers.buffer(1, count);
    Buffer third = Buffers.buffer(2, 3);
    ChunkIndex ready = Buffers.ready(4, first, second, third);
    for (int round = 0; round < 2; round++) {
      List<Allocation> out = new ArrayList<>();
      List<Integer> numbers = new ArrayList<>();
      for (PooledBlock block = claim(ready, second); block != null; block = claim(ready, second)) {
        numbers.add(block.number());
        out.add(block.open(1));
      }
      Collections.sort(numbers);
      assertEquals(numbersOf(second), numbers);
      out.forEach(Allocation::close);
    }
    assertEquals(0, ready.take(Buffers.bytesOf(0)).number());
    assertEquals(third.firstNumber(), ready.take(Buffers.bytesOf(2)).number());
  }

  private static List<Integer> numbersOf(Buffer buffer) {
    return IntStream.range(0, buffer.count()).map(i -> buffer.firstNumber() + i).boxed().toList();
  }

  @ParameterizedTest
  @CsvSource({"24, 40", "25, 64", "64, 64", "65, 64", "1, 40"})
  void shouldBeginABinWithAWordWhenItDoesNotFitInTheOneBefore(int count, int first) {
    Buffer smaller = Buffers.buffer(0, 40);
    Buffer buffer = Buffers.buffer(1, count);
    Buffer larger = Buffers.buffer(2, 64);
    ChunkIndex ready = Buffers.ready(1, smaller, buffer, larger);
    assertEquals(0, smaller.firstNumber());
    assertEquals(first, buffer.firstNumber());
    assertEquals((first + count + 63) / 64 * 64, larger.firstNumber());
    List<Integer> quick = take(ready, 1, Math.min(count, 64));
    assertEquals(numbersOf(buffer).subList(0, quick.size()), quick, "found at the first look");
  }

  /** Without asking the blocks. */
  private static PooledBlock claim(ChunkIndex ready, Buffer buffer) {
    PooledBlock block = ready.take(Buffers.bytesOf(buffer.bin()));
    return block != null ? block : takeAny(ready, buffer);
  }

  @Test
  void shouldKeepStripesApartWhenThereAreManyWords() throws Exception {
    for (int count : new int[] {1, 64, 65, 1024, 1025, 3000}) {
      Buffer buffer = Buffers.buffer(0, count);
      ChunkIndex ready = Buffers.ready(16, buffer);
      assertEquals(
          count,
          Buffers.onAnotherStripe(
              new Stripes(16),
              () -> {
                assertNull(ready.take(Buffers.bytesOf(0)), "what is ready is another stripe's");
                List<Allocation> out = new ArrayList<>();
                PooledBlock block = takeAny(ready, buffer);
                while (block != null) {
                  out.add(block.open(1));
                  block = takeAny(ready, buffer);
                }
                out.forEach(Allocation::close);
                assertNotNull(ready.take(Buffers.bytesOf(0)), "they belong to this stripe");
                return out.size();
              }),
          "of " + count);
      assertNull(ready.take(Buffers.bytesOf(0)), "all lie with the other thread");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8, 64})
  void shouldTakeOneOfAnotherStripeWhenThisOneHasNone(int count) throws Exception {
    Stripes stripes = new Stripes(count);
    Buffer small = Buffers.buffer(0, 1);
    Buffer large = Buffers.buffer(1, 3);
    ChunkIndex ready = Buffers.ready(count, small, large);
    int stolen =
        Buffers.onAnotherStripe(
            stripes,
            () -> {
              takeAny(ready, small).open(1).close();
              PooledBlock block = takeAny(ready, large);
              assertNull(ready.take(Buffers.bytesOf(1)), "the others stay");
              return block.number();
            });
    assertEquals(1, stolen);
    assertEquals(List.of(2, 3, NONE), take(ready, 1, 3));
    assertEquals(0, takeAny(ready, small).number());
  }

  /** A size class whose blocks fill more words than one. */
  @Test
  void shouldGiveFurtherBlocksOfItsStripeWhenThereAreMoreThanAWordHas() {
    Buffer buffer = Buffers.buffer(0, 200);
    ChunkIndex ready = Buffers.ready(16, buffer);
    for (int number = 0; number < 200; number++) {
      PooledBlock block = ready.take(Buffers.bytesOf(0));
      if (number == 64 || number == 128) {
        assertNull(block, "the word it looks at is empty; who looks further finds the next");
      }
      if (number >= 192) {
        assertNull(block, "blocks of other bins may lie in this word, it is not looked at first");
      }
      if (block == null) {
        block = ready.takeFurther(Buffers.bytesOf(0));
      }
      assertEquals(number, block.number());
    }
    assertNull(ready.takeFurther(Buffers.bytesOf(0)));
    buffer.blocks().get(150).open(1).close();
    buffer.blocks().get(10).open(1).close();
    assertEquals(150, ready.take(Buffers.bytesOf(0)).number(), "where it found the last");
    assertNull(ready.take(Buffers.bytesOf(0)));
    assertEquals(10, ready.takeFurther(Buffers.bytesOf(0)).number());
    assertNull(ready.takeFurther(Buffers.bytesOf(0)));
  }

  /** The quick way and what it leaves, whatever lies before. */
  @ParameterizedTest
  @ValueSource(ints = {1, 40, 64, 1000, 4031, 4032, 4033, 4096})
  void shouldGiveEveryBlockOnceWhenBinsBeginAnywhere(int before) {
    Buffer smaller = Buffers.buffer(0, before);
    Buffer buffer = Buffers.buffer(1, 300);
    Buffer larger = Buffers.buffer(2, 100);
    ChunkIndex ready = Buffers.ready(1, smaller, buffer, larger);
    for (int round = 0; round < 3; round++) {
      List<Integer> numbers = new ArrayList<>();
      int quick = 0;
      for (int i = 0; i < 300; i++) {
        PooledBlock block = ready.take(Buffers.bytesOf(1));
        quick += block == null ? 0 : 1;
        block = block != null ? block : ready.takeFurther(Buffers.bytesOf(1));
        numbers.add(block.number());
      }
      assertNull(ready.take(Buffers.bytesOf(1)), "none of another bin");
      assertNull(ready.takeFurther(Buffers.bytesOf(1)), "none of another bin");
      numbers.sort(null);
      assertEquals(numbersOf(buffer), numbers);
      // Four words are full of the bin's blocks; one take for each goes the slow way, and those of
      // the last word do.
      assertTrue(quick >= 4 * 64 - 4, quick + " found quickly, behind " + before);
      buffer.blocks().forEach(block -> block.open(1).close());
    }
    assertEquals(2, ready.take(Buffers.bytesOf(2)).bin());
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 32, 33, 64, 100, 2000, 4096})
  void shouldFindNothingWhenAClassBetweenOthersHasNoBin(int count) {
    ChunkIndex ready = Buffers.ready(1, Buffers.buffer(1, count), Buffers.buffer(3, count));
    for (int sizeClass : new int[] {0, 2}) {
      assertNull(ready.take(Buffers.bytesOf(sizeClass)));
      assertNull(ready.takeFurther(Buffers.bytesOf(sizeClass)));
    }
    assertEquals(1, ready.take(Buffers.bytesOf(1)).bin());
    assertEquals(3, ready.take(Buffers.bytesOf(3)).bin());
  }

  @Test
  void shouldGiveFurtherWhatOneWordHasIfTheFirstLookDroppedOne() {
    Buffer buffer = Buffers.buffer(0, 3);
    ChunkIndex ready = Buffers.ready(1, buffer);
    assertTrue(buffer.blocks().get(0).claim());
    assertNull(ready.take(Buffers.bytesOf(0)));
    assertEquals(1, ready.takeFurther(Buffers.bytesOf(0)).number());
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8, 64})
  void shouldComeBackToItsStripeWhenAnotherOneCloses(int count) throws Exception {
    Buffer buffer = Buffers.buffer(0, 3);
    ChunkIndex ready = Buffers.ready(count, buffer);
    List<Allocation> out = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      out.add(ready.take(Buffers.bytesOf(0)).open(1));
    }
    Buffers.onAnotherStripe(
        new Stripes(count),
        () -> {
          out.forEach(Allocation::close);
          assertNull(ready.take(Buffers.bytesOf(0)));
          assertNull(ready.takeFurther(Buffers.bytesOf(0)), "they are another stripe's");
          return true;
        });
    assertNull(ready.take(Buffers.bytesOf(0)), "not at the first look");
    assertEquals(0, ready.takeFurther(Buffers.bytesOf(0)).number());
    assertEquals(List.of(1, 2, NONE), take(ready, 0, 3), "all came at once");
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8, 64})
  void shouldBelongToTheStripeThatTookItFromAnother(int count) throws Exception {
    Stripes stripes = new Stripes(count);
    Buffer buffer = Buffers.buffer(0, 2);
    ChunkIndex ready = Buffers.ready(count, buffer);
    PooledBlock taken =
        Buffers.onAnotherStripe(
            stripes,
            () -> {
              PooledBlock block = takeAny(ready, buffer);
              block.open(1).close();
              assertSame(block, ready.take(Buffers.bytesOf(0)), "it came back to this stripe");
              return block;
            });
    taken.open(1).close();
    assertEquals(List.of(1, NONE), take(ready, 0, 2), "closed here, but not of this stripe");
    assertSame(taken, takeAny(ready, buffer));
    taken.open(1).close();
    assertSame(taken, ready.take(Buffers.bytesOf(0)));
  }

  @Test
  void shouldBelongToTheStripeThatAskedTheBlocks() throws Exception {
    Buffer buffer = Buffers.buffer(0, 1);
    ChunkIndex ready = Buffers.ready(8, buffer);
    assertNotNull(ready.removeFirst(Buffers.bytesOf(0)), "free, and noted nowhere now");
    PooledBlock found =
        Buffers.onAnotherStripe(
            new Stripes(8),
            () -> {
              assertNull(takeAny(ready, buffer));
              PooledBlock block = buffer.claimAny();
              block.open(1).close();
              assertSame(block, ready.take(Buffers.bytesOf(0)));
              return block;
            });
    assertSame(buffer.blocks().get(0), found);
  }

  @Test
  void shouldDropABlockThatIsBusyWhenItIsMet() {
    Buffer buffer = Buffers.buffer(0, 3);
    ChunkIndex ready = Buffers.ready(1, buffer);
    PooledBlock first = buffer.blocks().get(0);
    assertTrue(first.claim(), "by whoever asked it, so it still counts as ready");
    assertNull(ready.take(Buffers.bytesOf(0)), "a look at one block and no more");
    assertEquals(1, ready.take(Buffers.bytesOf(0)).number());
    first.open(1).close();
    assertEquals(List.of(0, 2, NONE), take(ready, 0, 3));
  }

  @Test
  void shouldPassBusyBlocksWhenLookingFurther() {
    Buffer buffer = Buffers.buffer(0, 200);
    ChunkIndex ready = Buffers.ready(1, buffer);
    for (PooledBlock block : buffer.blocks().subList(0, 199)) {
      assertTrue(block.claim());
    }
    assertEquals(199, takeAny(ready, buffer).number());
    buffer.blocks().subList(0, 199).forEach(PooledBlock::giveUp);
    assertNull(takeAny(ready, buffer), "they were dropped");
    assertEquals(199, Buffers.drain(ready, buffer), "but they are not lost");
  }

  /** Random hints, which is worse than what races make of them. */
  @Test
  void shouldNeitherDoubleNorLoseABlockWhenHintsAreRandom() {
    for (long seed = 1; seed <= 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Buffer buffer = Buffers.buffer(0, 1 + random.nextInt(150));
      ChunkIndex ready = Buffers.ready(1 << random.nextInt(4), buffer);
      List<Allocation> out = new ArrayList<>();
      int count = buffer.blocks().size();
      for (int i = 0; i < 400; i++) {
        if (random.nextBoolean()) {
          ready.put(buffer.blocks().get(random.nextInt(count)));
        } else {
          PooledBlock forgotten = ready.take(Buffers.bytesOf(0));
          if (forgotten != null) {
            forgotten.giveUp();
          }
        }
        if (random.nextBoolean()) {
          PooledBlock block = Buffers.claim(ready, buffer);
          assertEquals(out.size() < count, block != null, "seed " + seed);
          if (block != null) {
            assertFalse(block.isLive(), "seed " + seed);
            out.add(block.open(1));
          }
        } else if (!out.isEmpty()) {
          out.remove(random.nextInt(out.size())).close();
        }
      }
      assertEquals(count - out.size(), Buffers.drain(ready, buffer), "seed " + seed);
    }
  }
}
