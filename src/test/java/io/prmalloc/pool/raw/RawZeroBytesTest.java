package io.prmalloc.pool.raw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.pool.TensorPoolAllocator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RawZeroBytesTest {

  /** Header and bytes together fill a size class exactly where the alignment is one. */
  @ParameterizedTest
  @ValueSource(longs = {1, 8, 16, 64, 128, 4096, 1 << 20})
  void shouldComeBackWhenARawAddressHoldsNoBytes(long alignment) {
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
      long first = pool.allocateRaw(alignment, 0);
      long second = pool.allocateRaw(alignment, 0);

      assertNotEquals(first, second);
      assertEquals(0, first % alignment);
      pool.deallocateRaw(first);
      assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(first));
      pool.deallocateRaw(second);
      assertEquals(0, pool.stats().bytesInUse());
    }
  }
}
