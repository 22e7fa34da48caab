package io.prmalloc.internal.slab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SizeClassesTest {

  @Test
  void shouldHaveFourClassesPerDoublingWhenCounted() {
    assertEquals(41, SizeClasses.count());
    for (int sizeClass = 0; sizeClass < 4; sizeClass++) {
      assertEquals(16 * (sizeClass + 1), SizeClasses.slotBytes(sizeClass));
    }
    for (int sizeClass = 8; sizeClass < 40; sizeClass++) {
      assertEquals(
          2 * SizeClasses.slotBytes(sizeClass - 4), SizeClasses.slotBytes(sizeClass), "class");
    }
    assertEquals(32 * 1024, SizeClasses.slotBytes(39));
    assertEquals(40 * 1024, SizeClasses.slotBytes(40));
  }

  @Test
  void shouldGiveTheSmallestSlotThatFitsWhenSizesAndAlignmentsVary() {
    for (int alignment = 1; alignment <= SizeClasses.MAX_ALIGNMENT; alignment *= 2) {
      int previous = 0;
      for (int bytes = 0; bytes <= SizeClasses.MAX_SLOT_BYTES; bytes++) {
        int sizeClass = SizeClasses.classOf(bytes, alignment);
        int slot = SizeClasses.slotBytes(sizeClass);
        if (slot < bytes || slot % alignment != 0) {
          throw new AssertionError("slot " + slot + " for " + bytes + " at " + alignment);
        }
        assertTrue(sizeClass >= previous, "classes go up");
        previous = sizeClass;
        for (int smaller = sizeClass - 1; smaller >= 0; smaller--) {
          int other = SizeClasses.slotBytes(smaller);
          if (other < bytes) {
            break;
          }
          assertTrue(other % alignment != 0, "a smaller class would do");
        }
      }
    }
  }

  @Test
  void shouldWasteLittleWhenTheAlignmentIsModest() {
    for (int bytes = 1; bytes <= 32 * 1024; bytes++) {
      int slot = SizeClasses.slotBytes(SizeClasses.classOf(bytes, 16));
      // A quarter of the doubling below at most, or 15 bytes where sizes are tiny.
      assertTrue(slot - bytes < Math.max(16, bytes / 4.0), slot + " for " + bytes);
      int aligned = SizeClasses.slotBytes(SizeClasses.classOf(bytes, 64));
      assertTrue(aligned - bytes < Math.max(64, bytes / 2.0), aligned + " for " + bytes);
    }
  }
}
