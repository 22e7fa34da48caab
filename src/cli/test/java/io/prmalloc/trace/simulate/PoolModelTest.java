package io.prmalloc.trace.simulate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PoolModelTest {

  /** Plays {@code A1000} (allocate) and {@code -A} (free); says total and free sizes after each. */
  private static List<String> play(PoolModel pool, String... events) {
    List<String> after = new ArrayList<>();
    for (String event : events) {
      if (event.startsWith("-")) {
        pool.free(event.charAt(1) - 'A');
      } else {
        pool.allocate(event.charAt(0) - 'A', Long.parseLong(event.substring(1)));
      }
      after.add(event + " → " + pool.peakBytes() + " " + pool.freeBytes());
    }
    return after;
  }

  @Test
  void shouldDoWhatTheWorkedExampleSaysWhenChildrenWait() {
    List<String> after =
        play(
            new PoolModel(8, false),
            "A1000 -A B100 C800 -B D100 -C -D E1000 F60 G65 -E H64".split(" "));

    assertEquals(
        List.of(
            "A1000 → 1024 []",
            "-A → 1024 [1024]",
            "B100 → 1024 [896]",
            "C800 → 1024 [64]",
            "-B → 1024 [64]",
            "D100 → 1152 [64]",
            "-C → 1152 [1024]",
            "-D → 1152 [128, 1024]",
            "E1000 → 1152 [128]",
            "F60 → 1152 [64]",
            "G65 → 1280 [64]",
            "-E → 1280 [64, 1024]",
            "H64 → 1280 [1024]"),
        after);
  }

  @Test
  void shouldHandOutAChildAtOnceWhenChildrenAreReused() {
    List<String> after =
        play(new PoolModel(4, true), "A1000 -A B100 C800 -B D100 -C -D".split(" "));

    assertEquals(
        List.of(
            "A1000 → 1024 []",
            "-A → 1024 [1024]",
            "B100 → 1024 [896]",
            "C800 → 1024 [64]",
            "-B → 1024 [64, 128]",
            "D100 → 1024 [64]",
            "-C → 1024 [896]",
            "-D → 1024 [1024]"),
        after);
  }

  /** A child that was split and is whole again does not wait for its sibling. */
  @Test
  void shouldFreeASplitChildWhenItIsWholeAgain() {
    List<String> after =
        play(new PoolModel(5, false), "A1024 -A B128 C128 -C D896 -D -B".split(" "));

    assertEquals(
        List.of(
            "A1024 → 1024 []",
            "-A → 1024 [1024]",
            "B128 → 1024 [896]",
            "C128 → 1024 [768]",
            "-C → 1024 [896]",
            "D896 → 1024 []",
            "-D → 1024 []",
            "-B → 1024 [1024]"),
        after);
  }

  @Test
  void shouldTakeTheLastFreedWhenSizesAreEqual() {
    PoolModel pool = new PoolModel(8, false);
    play(pool, "A128", "B128", "-A", "-B", "C64");

    // C lies in what was B's, which is split; what was A's is whole.
    assertEquals(List.of(64L, 128L), pool.freeBytes());
    play(pool, "D128", "-C");
    assertEquals(List.of(128L), pool.freeBytes());
    assertEquals(256, pool.peakBytes());
  }

  @Test
  void shouldRefuseWhenATensorComesOrGoesTwice() {
    for (ModelKind kind : ModelKind.values()) {
      MemoryModel model = kind.create(1);
      assertThrows(IllegalStateException.class, () -> model.free(0));
      model.allocate(0, 10);
      assertThrows(IllegalStateException.class, () -> model.allocate(0, 10));
      model.free(0);
      assertEquals(kind == ModelKind.OS ? 10 : 64, model.peakBytes(), kind.label());
      assertEquals(kind == ModelKind.OS ? 0 : 64, model.heldBytes(), kind.label());
    }
  }

  @Test
  void shouldAllocateNothingWhenTheSizeIsZero() {
    PoolModel pool = new PoolModel(2, false);

    List<String> after = play(pool, "A0", "-A", "B0");

    assertEquals(List.of("A0 → 0 []", "-A → 0 [0]", "B0 → 0 []"), after);
  }

  /** When all is given back, all is free and whole. */
  @Test
  void shouldBeWholeWhenRandomTensorsAreGivenBack() {
    for (long seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      PoolModel pool = new PoolModel(200, seed % 2 == 0);
      TreeMap<Integer, Long> live = new TreeMap<>();
      long rounded = 0;
      for (int i = 0; i < 200; i++) {
        if (random.nextInt(3) > 0) {
          long bytes = 1L + random.nextInt(1 << random.nextInt(1, 14));
          pool.allocate(i, bytes);
          live.put(i, bytes);
        } else if (!live.isEmpty()) {
          List<Integer> tensors = new ArrayList<>(live.keySet());
          int gone = tensors.get(random.nextInt(tensors.size()));
          pool.free(gone);
          live.remove(gone);
        }
        rounded = live.values().stream().mapToLong(bytes -> (bytes + 63) / 64 * 64).sum();
        assertTrue(rounded <= pool.heldBytes(), "seed " + seed);
        long free = pool.freeBytes().stream().mapToLong(Long::longValue).sum();
        assertTrue(rounded + free <= pool.heldBytes(), "seed " + seed + ": too much is free");
      }
      live.keySet().forEach(pool::free);
      assertEquals(
          pool.heldBytes(),
          pool.freeBytes().stream().mapToLong(Long::longValue).sum(),
          "seed " + seed);
    }
  }
}
