package io.prmalloc.plan.exact;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SolvedPartsTest {

  private final SolvedParts parts = new SolvedParts();

  @Test
  void shouldKnowAPartWhenBothHalvesOfItsHashAgree() {
    parts.put(1, 2, new int[] {7, 3});

    assertThat(parts.get(1, 2)).containsExactly(7, 3);
    assertThat(parts.get(1, 3)).isEmpty();
    assertThat(parts.get(2, 1)).isEmpty();
  }

  @Test
  void shouldBeginAnewWhenAllPlaceIsTaken() {
    parts.put(1, 1, new int[] {1});
    parts.put(2, 2, new int[SolvedParts.MAX_TENSORS]);

    assertThat(parts.get(1, 1)).isEmpty();
    assertThat(parts.get(2, 2)).hasSize(SolvedParts.MAX_TENSORS);
  }
}
