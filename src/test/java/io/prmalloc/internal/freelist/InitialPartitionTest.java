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
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * How an arena's blocks are divided among the threads that a plan is for, and their order in the
 * arena.
 */
class InitialPartitionTest {

  private static List<PooledBlock> chunks(int... blocks) {
    return IntStream.range(0, blocks.length)
        .boxed()
        .flatMap(bin -> Buffers.buffer(bin, blocks[bin]).blocks().stream())
        .toList();
  }

  private static BlockNumbers numbers(int threads, int... blocks) {
    BlockNumbers numbers = new BlockNumbers(chunks(blocks), threads, new Stripes(64));
    numbers.noteIn(FreeIndex.NONE);
    return numbers;
  }

  private static ChunkIndex divided(int stripes, int threads, Buffer... buffers) {
    return Buffers.ready(stripes, threads, buffers);
  }

  private static int[] binsOf(BlockNumbers numbers, int share) {
    int each = numbers.words() * Long.SIZE;
    return Arrays.stream(numbers.blocks(), share * each, (share + 1) * each)
        .mapToInt(block -> block == null ? -1 : block.bin())
        .toArray();
  }

  @ParameterizedTest
  @CsvSource({"2, 1", "2, 31", "3, 43", "4, 64", "4, 65", "8, 200"})
  void shouldLetBinsLieAlikeInEachShareWhenTheyCanBeDivided(int threads, int each) {
    BlockNumbers numbers = numbers(threads, 20 * threads, each * threads, 3 * threads);
    assertEquals(threads, numbers.shares());
    assertEquals(threads * numbers.words() * Long.SIZE, numbers.blocks().length);
    int[] first = binsOf(numbers, 0);
    for (int bin = 0; bin < 3; bin++) {
      int wanted = bin;
      long count = Arrays.stream(first).filter(found -> found == wanted).count();
      assertEquals(new int[] {20, each, 3}[bin], count);
    }
    for (int share = 1; share < threads; share++) {
      assertEquals(Arrays.toString(first), Arrays.toString(binsOf(numbers, share)));
    }
    Set<PooledBlock> all = new HashSet<>();
    Stream.of(numbers.blocks()).filter(Objects::nonNull).forEach(all::add);
    assertEquals(threads * (23 + each), all.size());
    all.forEach(block -> assertSame(block, numbers.blocks()[block.number()]));
  }

  @ParameterizedTest
  @CsvSource({"2, 3, 4", "3, 3, 4", "2, 4096, 2", "2, 3970, 128"})
  void shouldHaveOneShareWhenBinsCannotBeDividedOrTakeTooManyWords(
      int threads, int first, int second) {
    BlockNumbers numbers = numbers(threads, first, second);
    assertEquals(1, numbers.shares());
    assertEquals(0, numbers.blocks()[0].bin());
    assertEquals(
        first + second, Stream.of(numbers.blocks()).filter(Objects::nonNull).distinct().count());
  }

  @Test
  void shouldDivideWhenTheWordsAreJustEnough() {
    assertEquals(2, numbers(2, 4096).shares());
    assertEquals(32, numbers(2, 4096).words());
    assertEquals(1, numbers(2, 4094, 4).shares());
  }

  @Test
  void shouldGiveAShareToEachStripeAndTheRestToWhoeverNeedsMore() {
    Stripes stripes = new Stripes(4);
    InitialPartition shares = new InitialPartition(3, stripes);
    assertEquals(0, shares.next(2, false));
    assertEquals(InitialPartition.NONE, shares.next(2, false), "it has one");
    assertEquals(1, shares.next(0, false));
    assertEquals(2, shares.next(2, true));
    assertEquals(InitialPartition.NONE, shares.next(1, false), "none is left");
    assertEquals(InitialPartition.NONE, shares.next(2, true));
  }

  @Test
  void shouldNotDivideWhenThereAreMoreThreadsThanStripes() {
    ChunkIndex ready = divided(2, 4, Buffers.buffer(0, 8));
    assertEquals(8, drain(ready, 0).size());
  }

  private static List<Allocation> drain(ChunkIndex ready, int sizeClass) {
    List<Allocation> out = new ArrayList<>();
    long bytes = Buffers.bytesOf(sizeClass);
    for (PooledBlock block = take(ready, bytes); block != null; block = take(ready, bytes)) {
      out.add(block.open(1));
    }
    return out;
  }

  private static PooledBlock take(ChunkIndex ready, long bytes) {
    PooledBlock block = ready.take(bytes);
    return block != null ? block : ready.takeFurther(bytes);
  }

  /** Of bins in front of which another lies, within a word and in several. */
  @ParameterizedTest
  @CsvSource({"1, 2", "30, 2", "64, 2", "100, 2", "128, 2", "200, 4"})
  void shouldFindItsOwnShareAndNoOtherWhenEachThreadHasOne(int each, int threads) throws Exception {
    Buffer small = Buffers.buffer(0, 10 * threads);
    Buffer large = Buffers.buffer(1, each * threads);
    int stripes = 16;
    ChunkIndex ready = divided(stripes, threads, small, large);
    List<Allocation> mine = drain(ready, 1);
    assertEquals(each, mine.size());
    int theirs =
        Buffers.onAnotherStripe(
            new Stripes(stripes),
            () -> {
              assertNull(take(ready, Buffers.bytesOf(1)), "not yet");
              assertTrue(ready.giveShare(false));
              assertFalse(ready.giveShare(false));
              assertNotNull(ready.take(Buffers.bytesOf(0)), "at the first look");
              for (int round = 0; round < 2; round++) {
                List<Allocation> out = new ArrayList<>();
                for (int i = 0; i < Math.min(each, Long.SIZE) && round == 0; i++) {
                  out.add(ready.take(Buffers.bytesOf(1)).open(1));
                }
                out.addAll(drain(ready, 1));
                assertEquals(each, out.size());
                out.forEach(Allocation::close);
              }
              return each;
            });
    assertEquals(each, theirs);
    mine.forEach(Allocation::close);
    assertEquals(each, drain(ready, 1).size());
    assertTrue(threads == 2 || ready.giveShare(true), "of the threads that never came");
  }

  @Test
  void shouldStealFromEveryShareWhenItHasNone() throws Exception {
    Buffer buffer = Buffers.buffer(0, 2 * 70);
    ChunkIndex ready = divided(16, 2, buffer);
    assertTrue(ready.giveShare(true));
    int stolen =
        Buffers.onAnotherStripe(
            new Stripes(16),
            () -> {
              Set<Integer> numbers = new HashSet<>();
              for (int i = 0; i < 140; i++) {
                PooledBlock block = take(ready, Buffers.bytesOf(0));
                block = block != null ? block : ready.takeFromAny(0, buffer.count());
                numbers.add(block.number());
                block.open(1);
              }
              assertNull(ready.takeFromAny(0, buffer.count()));
              return numbers.size();
            });
    assertEquals(140, stolen);
    assertNull(take(ready, Buffers.bytesOf(0)));
  }

  @Test
  void shouldTakeWhatNobodyCameForWhenItWouldFindNothing() throws Exception {
    BinTable table = Buffers.table(2, 2, 2);
    long bytes = Buffers.bytesOf(1);
    assertNull(table.takeSlowly(Buffers.bytesOf(5), 64), "has no bin, and gets no share");
    Allocation one = table.takeSlowly(bytes, 64).open(1);
    assertNull(table.take(bytes), "the other is nobody's so far");
    assertNotNull(table.takeSlowly(bytes, 64));
    assertNull(table.takeSlowly(bytes, 64));
    one.close();
    assertEquals(
        0,
        Buffers.onAnotherStripe(
            Stripes.many(), () -> table.takeSlowly(Buffers.bytesOf(0), 64).bin()),
        "from the one that has both shares");
  }
}
