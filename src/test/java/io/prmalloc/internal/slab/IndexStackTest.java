package io.prmalloc.internal.slab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.pool.Threads;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IndexStackTest {

  @Test
  void shouldGiveTheNumberThatCameLastWhenPopped() {
    IndexStack stack = new IndexStack(4);
    assertEquals(0, stack.pop());
    assertEquals(1, stack.pop());
    assertEquals(2, stack.pop());
    assertEquals(2, stack.push(1));
    assertEquals(3, stack.push(0));
    assertEquals(4, stack.push(2));
    assertEquals(2, stack.pop());
    assertEquals(0, stack.pop());
    assertEquals(1, stack.pop());
    assertEquals(3, stack.pop());
  }

  @Test
  void shouldGiveNothingWhenEmpty() {
    IndexStack stack = new IndexStack(2);
    stack.pop();
    stack.pop();
    assertEquals(0, stack.size());
    assertEquals(-1, stack.pop());
    assertEquals(-1, stack.pop());
    assertEquals(1, stack.push(1));
    assertEquals(1, stack.pop());
    assertEquals(-1, stack.pop());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 65_534, 65_535})
  void shouldHoldEveryNumberOnceWhenNew(int capacity) {
    IndexStack stack = new IndexStack(capacity);
    assertEquals(capacity, stack.capacity());
    assertEquals(capacity, stack.size());
    BitSet seen = new BitSet();
    for (int i = 0; i < capacity; i++) {
      seen.set(stack.pop());
    }
    assertEquals(capacity, seen.cardinality());
    assertEquals(-1, stack.pop());
    for (int i = capacity - 1; i >= 0; i--) {
      assertEquals(capacity - i, stack.push(i));
    }
    for (int i = 0; i < capacity; i++) {
      assertEquals(i, stack.pop());
    }
  }

  @Test
  void shouldGiveAtOnceWhatIsOnTopAndWanted() {
    IndexStack stack = new IndexStack(5);
    for (int i = 0; i < 3; i++) {
      stack.pop();
    }
    stack.push(1);
    stack.push(0);
    // From the top: 0, 1, 3, 4.
    List<Integer> taken = new ArrayList<>();
    assertEquals(0, stack.popWhile(index -> index == 1, taken::add), "the top is not wanted");
    assertEquals(2, stack.popWhile(index -> index < 2, taken::add));
    assertEquals(List.of(0, 1), taken);
    assertEquals(2, stack.size());
    assertEquals(2, stack.popWhile(index -> true, taken::add));
    assertEquals(List.of(0, 1, 3, 4), taken);
    assertEquals(0, stack.size());
    assertEquals(0, stack.popWhile(index -> true, taken::add));
    assertEquals(-1, stack.pop());
    assertEquals(1, stack.push(3));
    assertEquals(3, stack.pop());
  }

  @Test
  void shouldGiveWhatIsPushedAsItIsGiven() {
    IndexStack stack = new IndexStack(3);
    List<Integer> taken = new ArrayList<>();
    int count =
        stack.popWhile(
            index -> true,
            index -> {
              taken.add(index);
              stack.push(index);
            });
    assertEquals(3, count);
    assertEquals(List.of(0, 1, 2), taken);
    assertEquals(3, stack.size());
  }

  @Test
  void shouldRefuseWhenTheCapacityIsOutOfBounds() {
    for (int capacity : new int[] {-1, 0, 65_536, Integer.MAX_VALUE}) {
      assertEquals(
          "capacity " + capacity + " is not from 1 to 65535",
          assertThrows(IllegalArgumentException.class, () -> new IndexStack(capacity))
              .getMessage());
    }
  }

  @Test
  void shouldRetireOnlyWhenAllNumbersAreFree() {
    IndexStack stack = new IndexStack(3);
    int first = stack.pop();
    assertFalse(stack.retire());
    assertEquals(2, stack.size());
    stack.push(first);
    assertTrue(stack.retire());
    assertEquals(0, stack.size());
    assertEquals(-1, stack.pop());
    assertFalse(stack.retire(), "a second time");
  }

  @Test
  void shouldGoOnAsBeforeWhenReopened() {
    IndexStack stack = new IndexStack(3);
    stack.push(stack.pop());
    int one = stack.pop();
    int two = stack.pop();
    stack.push(one);
    stack.push(two);
    assertTrue(stack.retire());
    stack.reopen();
    assertEquals(3, stack.size());
    assertEquals(two, stack.pop());
    assertEquals(one, stack.pop());
    assertEquals(2, stack.pop());
    assertEquals(-1, stack.pop());
  }

  @Test
  void shouldKeepCountAndTopWhenTheTagWraps() throws ReflectiveOperationException {
    VarHandle head =
        MethodHandles.privateLookupIn(IndexStack.class, MethodHandles.lookup())
            .findVarHandle(IndexStack.class, "head", long.class);
    IndexStack stack = new IndexStack(3);
    // All ones above the 32 bits of count and top: the next change wraps.
    head.setVolatile(stack, (long) head.getVolatile(stack) | 0xFFFFFFFF_00000000L);
    assertEquals(0, stack.pop());
    assertEquals(0L, (long) head.getVolatile(stack) >>> 32);
    assertEquals(2, stack.size());
    assertEquals(1, stack.pop());
    assertEquals(2, stack.push(1));
    assertEquals(3, stack.push(0));
    head.setVolatile(stack, (long) head.getVolatile(stack) | 0xFFFFFFFF_00000000L);
    assertTrue(stack.retire());
    stack.reopen();
    assertEquals(3, stack.size());
    assertEquals(0, stack.pop());
  }

  @Test
  void shouldChangeTheTagWhenTheSameNumberIsBackOnTop() throws ReflectiveOperationException {
    VarHandle head =
        MethodHandles.privateLookupIn(IndexStack.class, MethodHandles.lookup())
            .findVarHandle(IndexStack.class, "head", long.class);
    IndexStack stack = new IndexStack(3);
    long before = (long) head.getVolatile(stack);
    stack.push(stack.pop());
    long after = (long) head.getVolatile(stack);
    assertEquals(before & 0xFFFFFFFFL, after & 0xFFFFFFFFL, "same count and top");
    assertTrue(before != after, "or a pop that was held up would not notice");
  }

  @Test
  void shouldHandOutNoNumberTwiceAndLoseNoneWhenManyThreadsPopAndPush() throws Exception {
    long seed = 42;
    int capacity = 7;
    IndexStack stack = new IndexStack(capacity);
    AtomicIntegerArray owners = new AtomicIntegerArray(capacity);
    AtomicLong pops = new AtomicLong();
    Threads.run(
        6,
        thread -> {
          SplittableRandom random = new SplittableRandom(seed + thread);
          int[] held = new int[3];
          int count = 0;
          for (int i = 0; i < 200_000; i++) {
            int index = count < held.length && random.nextBoolean() ? stack.pop() : -1;
            if (index >= 0) {
              assertEquals(0, owners.getAndSet(index, thread + 1), "seed " + seed);
              held[count++] = index;
              pops.incrementAndGet();
            } else if (count > 0) {
              int back = held[--count];
              assertEquals(thread + 1, owners.getAndSet(back, 0), "seed " + seed);
              int size = stack.push(back);
              assertTrue(size >= 1 && size <= capacity, "size " + size);
            }
          }
          while (count > 0) {
            owners.set(held[--count], 0);
            stack.push(held[count]);
          }
        });
    assertTrue(pops.get() > 100_000, "pops " + pops);
    assertEquals(capacity, stack.size());
    BitSet seen = new BitSet();
    for (int i = 0; i < capacity; i++) {
      seen.set(stack.pop());
    }
    assertEquals(capacity, seen.cardinality());
  }

  @Test
  void shouldRetireOnlyFullStacksWhenOthersPopAndPush() throws Exception {
    IndexStack stack = new IndexStack(3);
    // 1 between a pop and the push that follows it, so never while all numbers are free.
    AtomicIntegerArray held = new AtomicIntegerArray(3);
    Threads.run(
        4,
        thread -> {
          for (int i = 0; i < 50_000; i++) {
            if (thread == 0) {
              if (stack.retire()) {
                assertEquals("[0, 0, 0]", held.toString());
                assertEquals(-1, stack.pop());
                stack.reopen();
              }
              continue;
            }
            int index = stack.pop();
            if (index >= 0) {
              assertEquals(1, held.incrementAndGet(index));
              held.decrementAndGet(index);
              stack.push(index);
            }
          }
        });
    assertEquals(3, stack.size());
    assertTrue(stack.retire());
    assertEquals(-1, stack.pop());
  }
}
