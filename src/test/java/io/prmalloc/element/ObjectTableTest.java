package io.prmalloc.element;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ObjectTableTest {

  private final ObjectTable table = new ObjectTable();

  @Test
  void shouldGiveEveryEntryANumberOfItsOwnWhenPlacesAreUsedAgain() {
    long first = table.put("a");
    table.remove(first);
    long second = table.put("b");
    assertNotEquals(first, second);
    assertEquals((int) first, (int) second, "the place is used again");
    assertEquals("b", table.get(second));
    assertThrows(IllegalStateException.class, () -> table.get(first));
    assertThrows(IllegalStateException.class, () -> table.remove(first));
    assertEquals(1, table.size());
  }

  @Test
  void shouldRefuseWhenNobodyHasTheNumber() {
    long number = table.put("a");
    for (long bad :
        new long[] {0, -1, number + 1, number - 1, number ^ 1L << 32, 1, Long.MIN_VALUE}) {
      String message = assertThrows(IllegalStateException.class, () -> table.get(bad)).getMessage();
      assertTrue(message.contains("0x" + Long.toHexString(bad)), message);
      assertThrows(IllegalStateException.class, () -> table.remove(bad));
    }
    assertEquals(1, table.size());
    assertThrows(NullPointerException.class, () -> table.put(null));
  }

  @Test
  void shouldAgreeWithAMapWhenEntriesComeAndGoAtRandom() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Map<Long, Object> model = new HashMap<>();
    List<Long> numbers = new ArrayList<>();
    int mostPlaces = 0;
    int most = 0;
    for (int i = 0; i < 20_000; i++) {
      if (numbers.isEmpty() || random.nextInt(100) < (i / 5_000 % 2 == 0 ? 60 : 40)) {
        Object object = new Object();
        long number = table.put(object);
        assertNull(model.put(number, object), "seed " + seed);
        numbers.add(number);
        most = Math.max(most, model.size());
        mostPlaces = Math.max(mostPlaces, (int) number);
      } else {
        long number = numbers.remove(random.nextInt(numbers.size()));
        assertSame(model.remove(number), table.get(number), "seed " + seed);
        table.remove(number);
      }
      assertEquals(model.size(), table.size(), "seed " + seed);
    }
    model.forEach((number, object) -> assertSame(object, table.get(number), "seed " + seed));
    assertEquals(most, mostPlaces, "no more places than objects at a time, seed " + seed);
  }

  @Test
  void shouldForgetTheObjectWhenItsEntryEnds() throws InterruptedException {
    WeakReference<Object> object = new WeakReference<>(new byte[1000]);
    table.remove(table.put(object.get()));
    for (int i = 0; i < 100 && object.get() != null; i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertNull(object.get());
  }
}
