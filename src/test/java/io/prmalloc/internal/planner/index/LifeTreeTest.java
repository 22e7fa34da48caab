package io.prmalloc.internal.planner.index;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("jdk-independent")
class LifeTreeTest {

  @Test
  void shouldFindThoseAliveWhenTensorsComeAndGo() {
    for (int seed = 0; seed < 500; seed++) {
      Random random = new Random(seed);
      int count = random.nextInt(40);
      int[] firsts = new int[count];
      int[] lasts = new int[count];
      for (int i = 0; i < count; i++) {
        firsts[i] = random.nextInt(20);
        lasts[i] = random.nextInt(10) == 0 ? -1 : firsts[i] + random.nextInt(8);
      }
      LifeTree tree = new LifeTree(firsts, lasts);
      Set<Integer> set = new TreeSet<>();
      int[] found = new int[count];
      for (int step = 0; step < 100; step++) {
        if (count > 0) {
          int tensor = random.nextInt(count);
          if (set.remove(tensor)) {
            tree.remove(tensor);
          } else {
            set.add(tensor);
            tree.add(tensor);
          }
        }
        int from = random.nextInt(28);
        int to = from - 1 + random.nextInt(6);

        int foundCount = tree.collect(from, to, found);

        assertEquals(
            set.stream()
                .filter(i -> from <= to && firsts[i] <= to && lasts[i] >= from)
                .collect(Collectors.toSet()),
            Arrays.stream(found, 0, foundCount).boxed().collect(Collectors.toSet()),
            "seed " + seed);
      }
    }
  }
}
