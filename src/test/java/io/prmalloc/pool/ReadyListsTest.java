package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the lists do when threads take turns, and what they make of links that races have bent. */
class ReadyListsTest {

  /** Some more than a walk takes steps. */
  private static final int MANY = 20;

  private static List<Integer> numbers(ReadyLists lists, int list, int count) {
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      PooledBlock block = lists.take(list);
      numbers.add(block == null ? 0 : block.number());
    }
    return numbers;
  }

  /** Runs on a thread whose stripe is another than this one's. */
  private static <T> T onAnotherStripe(Stripes stripes, Callable<T> work) throws Exception {
    int own = stripes.current();
    while (true) {
      FutureTask<T> task = new FutureTask<>(() -> stripes.current() == own ? null : work.call());
      Thread thread = new Thread(task);
      thread.start();
      T result = task.get();
      if (result != null) {
        return result;
      }
    }
  }

  private static PooledBlock takeAny(ReadyLists lists, int list) {
    PooledBlock block = lists.takeFromAny(list);
    assertNotNull(block);
    return block;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8, 64})
  void shouldGiveTheFirstBlockFirstAndThenTheOneThatCameLastWhenOneThreadWorks(int stripes) {
    Buffer buffer = Buffers.buffer(0, 4);
    ReadyLists lists = Buffers.lists(stripes, buffer);
    PooledBlock one = lists.take(0);
    PooledBlock two = lists.take(0);
    PooledBlock three = lists.take(0);
    assertEquals(List.of(1, 2, 3), List.of(one.number(), two.number(), three.number()));
    Allocation first = one.open(1);
    Allocation second = two.open(1);
    Allocation third = three.open(1);
    second.close();
    third.close();
    first.close();
    assertEquals(List.of(1, 3, 2, 4, 0), numbers(lists, 0, 5));
  }

  @Test
  void shouldKeepListsApartWhenThereAreSeveral() {
    Buffer small = Buffers.buffer(0, 2);
    Buffer large = Buffers.buffer(2, 3);
    ReadyLists lists = Buffers.lists(8, small, large);
    assertNull(lists.take(1));
    assertNull(lists.takeFromAny(1));
    assertEquals(List.of(3, 4, 5, 0), numbers(lists, 2, 4));
    assertEquals(List.of(1, 2, 0), numbers(lists, 0, 3));
    assertNull(lists.takeFromAny(0));
    assertNull(lists.takeFromAny(2));
  }

  @Test
  void shouldKeepEveryListOfEveryStripeWhenThereAreManyOfBoth() {
    for (int lists : new int[] {1, 2, 31, 32, 33, 64, 100}) {
      Buffer[] buffers = new Buffer[lists];
      for (int list = 0; list < lists; list++) {
        buffers[list] = Buffers.buffer(list, 1);
      }
      ReadyLists ready = Buffers.lists(16, buffers);
      for (int list = 0; list < lists; list++) {
        PooledBlock block = ready.take(list);
        assertSame(buffers[list].blocks().get(0), block, "list " + list + " of " + lists);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8, 64})
  void shouldStealWhenTheOwnListIsEmpty(int count) throws Exception {
    Stripes stripes = new Stripes(count);
    Buffer buffer = Buffers.buffer(0, 2);
    ReadyLists lists = Buffers.lists(count, buffer);
    int stolen =
        onAnotherStripe(
            stripes,
            () -> {
              assertNull(lists.take(0), "the list is another stripe's");
              PooledBlock block = takeAny(lists, 0);
              block.open(1).close();
              // It came home to this stripe.
              assertSame(block, lists.take(0));
              block.giveUp();
              lists.put(block);
              return block.number();
            });
    assertEquals(1, stolen);
    assertEquals(2, lists.take(0).number());
    assertNull(lists.take(0), "the other one lies with the thief");
    assertEquals(1, takeAny(lists, 0).number());
    assertNull(lists.takeFromAny(0));
  }

  @Test
  void shouldDropABlockThatIsBusyWhenItIsMet() {
    Buffer buffer = Buffers.buffer(0, 3);
    ReadyLists lists = Buffers.lists(1, buffer);
    PooledBlock first = buffer.blocks().get(0);
    assertTrue(first.claim(), "by whoever asked it, so it is still on its list");
    assertNull(lists.take(0), "a look at one block and no more");
    assertEquals(2, lists.take(0).number());
    first.open(1).close();
    assertEquals(List.of(1, 3, 0), numbers(lists, 0, 3));
  }

  @Test
  void shouldWalkPastBusyBlocksWhenLookingFurther() {
    Buffer buffer = Buffers.buffer(0, 8);
    ReadyLists lists = Buffers.lists(1, buffer);
    for (PooledBlock block : buffer.blocks().subList(0, 7)) {
      assertTrue(block.claim());
    }
    assertEquals(8, takeAny(lists, 0).number());
  }

  @Test
  void shouldGiveUpAfterSomeStepsWhenAListIsLongAndBusy() {
    Buffer buffer = Buffers.buffer(0, MANY);
    ReadyLists lists = Buffers.lists(1, buffer);
    for (PooledBlock block : buffer.blocks().subList(0, MANY - 1)) {
      assertTrue(block.claim());
    }
    assertNull(lists.takeFromAny(0), "so many steps are not taken");
    assertEquals(MANY, buffer.claimAny().number(), "but the block is not lost");
  }

  @Test
  void shouldNotLinkABlockToItselfWhenItComesHomeToTheListItIsOn() {
    Buffer buffer = Buffers.buffer(0, 2);
    ReadyLists lists = Buffers.lists(1, buffer);
    PooledBlock first = buffer.blocks().get(0);
    assertTrue(first.claim(), "without taking it off the list");
    first.open(1).close();
    assertEquals(2, first.nextReady());
    assertEquals(List.of(1, 2, 0), numbers(lists, 0, 3));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, MANY})
  void shouldEndWhenLinksAreARing(int length) {
    Buffer buffer = Buffers.buffer(0, MANY + 1);
    ReadyLists lists = Buffers.lists(1, buffer);
    List<PooledBlock> ring = buffer.blocks().subList(0, length);
    for (int i = 0; i < length; i++) {
      ring.get(i).nextReady(ring.get((i + 1) % length).number());
    }
    for (int i = 0; i < length; i++) {
      assertEquals(i + 1, lists.take(0).number());
    }
    assertNull(lists.take(0), "round again, and busy");
    assertNull(lists.takeFromAny(0));
    // What the ring cut off is found by asking, and every close mends a link.
    List<Allocation> handles = new ArrayList<>();
    for (PooledBlock block = buffer.claimAny(); block != null; block = buffer.claimAny()) {
      handles.add(block.open(1));
    }
    assertEquals(MANY + 1 - length, handles.size());
    ring.forEach(block -> handles.add(block.open(1)));
    handles.forEach(Allocation::close);
    assertEquals(MANY + 1, Buffers.drain(lists, buffer));
  }

  @Test
  void shouldFindEveryBlockByAskingWhenAllHaveFallenOffTheLists() {
    Buffer buffer = Buffers.buffer(0, 10);
    ReadyLists lists = Buffers.lists(1, buffer);
    for (PooledBlock block : buffer.blocks()) {
      assertTrue(block.claim());
    }
    while (lists.takeFromAny(0) != null || lists.take(0) != null) {
      throw new AssertionError("all are busy");
    }
    for (int i = 0; i < MANY; i++) {
      assertNull(lists.take(0));
    }
    buffer.blocks().forEach(PooledBlock::giveUp);
    // Nobody listed them, but this stripe remembers the one that it put there last.
    PooledBlock last = lists.takeFromAny(0);
    assertSame(buffer.blocks().get(0), last);
    assertNull(lists.takeFromAny(0));
    last.giveUp();
    assertEquals(10, Buffers.drain(lists, buffer));
  }

  /** Random hints, which is worse than what races make of them. */
  @Test
  void shouldNeitherDoubleNorLoseABlockWhenLinksAreRandom() {
    for (long seed = 1; seed <= 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Buffer buffer = Buffers.buffer(0, 1 + random.nextInt(12));
      ReadyLists lists = Buffers.lists(1 << random.nextInt(4), buffer);
      List<Allocation> out = new ArrayList<>();
      int count = buffer.blocks().size();
      for (int i = 0; i < 200; i++) {
        PooledBlock bent = buffer.blocks().get(random.nextInt(count));
        bent.nextReady(random.nextInt(count + 1));
        if (random.nextBoolean()) {
          PooledBlock block = Buffers.claim(lists, buffer);
          assertEquals(out.size() < count, block != null, "seed " + seed);
          if (block != null) {
            assertFalse(block.isLive(), "seed " + seed);
            out.add(block.open(1));
          }
        } else if (!out.isEmpty()) {
          out.remove(random.nextInt(out.size())).close();
        }
      }
      assertEquals(count - out.size(), Buffers.drain(lists, buffer), "seed " + seed);
    }
  }
}
