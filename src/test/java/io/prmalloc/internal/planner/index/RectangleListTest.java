package io.prmalloc.internal.planner.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RectangleListTest {

  private static final int LAST = Integer.MAX_VALUE - 1;

  private static RectangleList of(FreeRectangle rectangle) {
    RectangleList list = new RectangleList();
    list.add(rectangle);
    return list;
  }

  @Test
  void shouldKeepWhatARectangleKnowsWhenItComesAndGoes() {
    for (boolean floor : new boolean[] {true, false}) {
      for (boolean roof : new boolean[] {true, false}) {
        FreeRectangle rectangle =
            new FreeRectangle(1, LAST, 2, LAST, 3, LAST - 1, floor, roof, 64, 1L << 62);
        RectangleList list = of(rectangle);

        assertEquals(rectangle, list.get(0));
        assertEquals(rectangle.height(), list.height(0));
        assertEquals(rectangle.latestFirst(), list.latestFirst(0));
        assertEquals(rectangle.earliestLast(), list.earliestLast(0));
      }
    }
  }

  /** Tensors touch the floor in the ticks 2 to 4, and 7: nobody need be asked but of 5 and 6. */
  @Test
  void shouldSayWhetherAFloorIsTouchedUnlessALifeLiesInItsHole() {
    FreeRectangle whole = FreeRectangle.plane(10).above(8, 2, 4);
    assertTrue(whole.isFloorWhole());
    FreeRectangle broken = whole.withFloor(7, 7);
    assertFalse(broken.isFloorWhole());

    assertTrue(of(whole).isFloorTouched(0, 3, 3));
    assertTrue(of(broken).isFloorTouched(0, 0, 2));
    assertTrue(of(broken).isFloorTouched(0, 7, 9));
    assertFalse(of(broken).isFloorTouched(0, 5, 6));
    assertTrue(of(broken).isRoofTouched(0, 5, 6));
  }

  @Test
  void shouldStayWholeWhenTensorsLieNextToEachOther() {
    FreeRectangle floor = FreeRectangle.plane(10).above(8, 2, 4);
    FreeRectangle roof = FreeRectangle.plane(10).below(8, 2, 4);

    assertTrue(floor.withFloor(5, 30).isFloorWhole());
    assertTrue(floor.withFloor(0, 1).isFloorWhole());
    assertTrue(roof.withRoof(5, 30).isRoofWhole());
    assertFalse(roof.withRoof(6, 30).isRoofWhole());
    assertEquals(9, roof.withRoof(5, 30).roofLast());
  }
}
