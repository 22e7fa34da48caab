package io.prmalloc.internal.extent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExtentMapTest {

  /** A map of pages without any cleverness: a bit for each, looked at one by one. */
  private static final class PlainMap {
    private final BitSet taken = new BitSet();
    private final BitSet dirty = new BitSet();
    private final int pages;

    PlainMap(int pages) {
      this.pages = pages;
    }

    int firstFit(int count) {
      int first = taken.nextClearBit(0);
      while (first + count <= pages) {
        int end = taken.nextSetBit(first);
        if (end < 0 || end - first >= count) {
          return first;
        }
        first = taken.nextClearBit(end);
      }
      return -1;
    }

    int longestRun() {
      int longest = 0;
      int first = taken.nextClearBit(0);
      while (first < pages) {
        int end = taken.nextSetBit(first);
        end = end < 0 ? pages : end;
        longest = Math.max(longest, end - first);
        first = taken.nextClearBit(end);
      }
      return longest;
    }

    void take(int first, int count) {
      assertEquals(0, taken.get(first, first + count).cardinality(), "pages given out twice");
      taken.set(first, first + count);
      dirty.set(first, first + count);
    }
  }

  private record Extent(int first, int count) {}

  private static void assertSame(PlainMap plain, ExtentMap map) {
    assertEquals(plain.longestRun(), map.longestRun());
    assertEquals(plain.pages - plain.taken.cardinality(), map.freePages());
    assertEquals(plain.dirty.cardinality(), map.dirtyPages());
    assertEquals(plain.taken.isEmpty(), map.isFree());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 63, 64, 65, 1000, 1024, 1025, 4096, 17_000, 20_001})
  void shouldTakeTheLowestRunThatFitsWhateverComesAndGoes(int pages) {
    SplittableRandom random = new SplittableRandom(pages);
    PlainMap plain = new PlainMap(pages);
    ExtentMap map = new ExtentMap(pages);
    List<Extent> out = new ArrayList<>();
    for (int round = 0; round < 6_000; round++) {
      int bound = 1 + random.nextInt(1 + random.nextInt(Math.min(pages, 300)));
      if (random.nextInt(100) < (round / 1000 % 2 == 0 ? 55 : 40)) {
        int count = 1 + random.nextInt(bound);
        int first = map.take(count, round);
        assertEquals(plain.firstFit(count), first);
        if (first >= 0) {
          plain.take(first, count);
          assertEquals(count, map.length(first));
          out.add(new Extent(first, count));
        }
      } else if (!out.isEmpty()) {
        Extent extent = out.remove(random.nextInt(out.size()));
        map.free(extent.first, round);
        plain.taken.clear(extent.first, extent.first + extent.count);
      }
      if (round % 50 == 0) {
        assertSame(plain, map);
      }
    }
    out.forEach(extent -> map.free(extent.first, 0));
    plain.taken.clear();
    assertSame(plain, map);
    assertEquals(pages, map.longestRun());
  }

  @Test
  void shouldAlignAnExtentWithinARunWhereverItBegins() {
    SplittableRandom random = new SplittableRandom(7);
    for (int round = 0; round < 2_000; round++) {
      ExtentMap map = new ExtentMap(600);
      PlainMap plain = new PlainMap(600);
      for (int i = 0; i < 20; i++) {
        int count = 1 + random.nextInt(20);
        plain.take(map.take(count, 0), count);
      }
      map.free(0, 0);
      int alignment = 1 << random.nextInt(8);
      int origin = random.nextInt(alignment);
      int count = 1 + random.nextInt(50);
      int first = map.takeAligned(count, alignment, origin, 1);
      assertTrue(first >= 0);
      assertEquals(0, (first + origin) % alignment);
      assertEquals(count, map.length(first));
      int before = map.freePages();
      map.free(first, 2);
      assertEquals(before + count, map.freePages());
    }
  }

  @Test
  void shouldRefuseAnAlignedExtentWhenNoRunIsSureToHaveRoom() {
    ExtentMap map = new ExtentMap(64);
    assertEquals(-1, map.takeAligned(33, 64, 1, 0));
    assertEquals(63, map.takeAligned(1, 64, 1, 0));
    assertEquals(63, map.freePages());
  }

  @Test
  void shouldPurgeWhatIsFreeAndWasNotInUseForAWhile() {
    ExtentMap map = new ExtentMap(1000);
    int low = map.take(100, 1);
    int high = map.take(300, 1);
    int used = map.take(10, 5);
    map.free(high, 1);
    assertEquals(410, map.dirtyPages());
    // Nothing is older than the time of its last use.
    assertEquals(-1, map.takeIdle(64, 1));
    int first = map.takeIdle(1000, 2);
    assertEquals(100, first);
    int count = map.length(first);
    assertTrue(count >= 256 && count <= 300, "pages " + count);
    // While it is purged nobody gets it.
    int other = map.take(count, 6);
    assertTrue(other > used);
    map.free(other, 6);
    int dirty = map.dirtyPages();
    map.purged(first);
    assertEquals(dirty - count, map.dirtyPages());
    map.free(low, 7);
    map.free(used, 7);
    assertTrue(map.isFree());
    assertEquals(1000, map.longestRun());
  }

  @Test
  void shouldFindEveryIdlePageOnceWhenPurgedInSmallParts() {
    SplittableRandom random = new SplittableRandom(3);
    for (int round = 0; round < 200; round++) {
      ExtentMap map = new ExtentMap(2000);
      PlainMap plain = new PlainMap(2000);
      List<Extent> out = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        int count = 1 + random.nextInt(60);
        int first = map.take(count, 0);
        if (first >= 0) {
          plain.take(first, count);
          out.add(new Extent(first, count));
        }
      }
      for (Extent extent : out) {
        if (random.nextBoolean()) {
          map.free(extent.first, 0);
          plain.taken.clear(extent.first, extent.first + extent.count);
        }
      }
      for (int first = map.takeIdle(64, 1); first >= 0; first = map.takeIdle(64, 1)) {
        int count = map.length(first);
        assertTrue(count >= 1 && count <= 64);
        assertTrue(plain.taken.get(first, first + count).isEmpty(), "taken pages are purged");
        assertFalse(plain.dirty.get(first, first + count).isEmpty(), "clean pages are purged");
        plain.dirty.clear(first, first + count);
        map.purged(first);
        assertSame(plain, map);
      }
      BitSet left = (BitSet) plain.dirty.clone();
      left.andNot(plain.taken);
      assertTrue(left.isEmpty(), "free pages that stay dirty: " + left);
    }
  }

  @Test
  void shouldKeepDirtyWhatCouldNotBePurged() {
    ExtentMap map = new ExtentMap(100);
    map.free(map.take(50, 0), 0);
    int first = map.takeIdle(100, 1);
    assertFalse(map.isFree());
    map.notPurged(first);
    assertTrue(map.isFree());
    assertEquals(50, map.dirtyPages());
    assertTrue(map.isIdleSince(1));
    assertFalse(map.isIdleSince(0));
  }
}
