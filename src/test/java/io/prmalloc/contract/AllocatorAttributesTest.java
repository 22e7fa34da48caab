package io.prmalloc.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.AllocatorAttributes;
import org.junit.jupiter.api.Test;

class AllocatorAttributesTest {

  private static final AllocatorAttributes NONE = AllocatorAttributes.NONE;

  @Test
  void shouldSetItsOwnBitAloneWhenOneIsSet() {
    assertEquals(0, NONE.value());
    assertEquals(1, NONE.withOnHost(true).value());
    assertEquals(2, NONE.withNicCompatible(true).value());
    assertEquals(4, NONE.withGpuCompatible(true).value());
    assertEquals(8, NONE.withTrackSizes(true).value());
    assertEquals(0xAB00_0000, NONE.withDevice(0xAB).value());
    AllocatorAttributes all = new AllocatorAttributes(0xFF00_000F);
    assertTrue(all.onHost() && all.nicCompatible() && all.gpuCompatible() && all.trackSizes());
    assertEquals(255, all.device());
    assertEquals(0xFF00_000E, all.withOnHost(false).value());
    assertEquals(0xFF00_000D, all.withNicCompatible(false).value());
    assertEquals(0xFF00_000B, all.withGpuCompatible(false).value());
    assertEquals(0xFF00_0007, all.withTrackSizes(false).value());
    assertEquals(0x0000_000F, all.withDevice(0).value());
    assertEquals(
        "AllocatorAttributes[onHost, trackSizes, device=7]",
        NONE.withOnHost(true).withTrackSizes(true).withDevice(7).toString());
  }

  @Test
  void shouldSetWhatOneOfTheTwoSetsWhenMerged() {
    for (int a = 0; a < 16; a++) {
      for (int b = 0; b < 16; b++) {
        AllocatorAttributes merged =
            new AllocatorAttributes(a | 0x1000_0000).merge(new AllocatorAttributes(b | 1 << 31));
        assertEquals(a | b | 0x9000_0000, merged.value());
      }
    }
  }

  @Test
  void shouldBeLessRestrictiveExactlyWhenTheOtherSetsEveryBitToo() {
    for (int a = 0; a < 16; a++) {
      for (int b = 0; b < 16; b++) {
        boolean wanted = true;
        for (int bit = 1; bit < 16; bit *= 2) {
          wanted &= (a & bit) == 0 || (b & bit) != 0;
        }
        assertEquals(
            wanted,
            new AllocatorAttributes(a).isEqualOrLessRestrictiveThan(new AllocatorAttributes(b)),
            a + " and " + b);
      }
    }
    assertTrue(NONE.isEqualOrLessRestrictiveThan(NONE.withDevice(128)));
    assertFalse(NONE.withDevice(128).isEqualOrLessRestrictiveThan(NONE.withDevice(127)));
  }

  @Test
  void shouldRefuseWhenABitMeansNothing() {
    assertEquals(
        "value 0x800011 has bits that mean nothing: 0x800010; there are bits 0 to 3 and 24 to 31",
        assertThrows(IllegalArgumentException.class, () -> new AllocatorAttributes(0x80_0011))
            .getMessage());
    for (int bit = 0; bit < 32; bit++) {
      int value = 1 << bit;
      if (bit < 4 || bit > 23) {
        assertEquals(value, new AllocatorAttributes(value).value());
      } else {
        assertThrows(IllegalArgumentException.class, () -> new AllocatorAttributes(value));
      }
    }
    for (int device : new int[] {-1, 256}) {
      assertEquals(
          "device " + device + " is not from 0 to 255",
          assertThrows(IllegalArgumentException.class, () -> NONE.withDevice(device)).getMessage());
    }
  }
}
