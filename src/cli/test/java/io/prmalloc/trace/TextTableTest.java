package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class TextTableTest {

  @Test
  void shouldAlignWhenCellsAreOfDifferentLengths() {
    TextTable table = new TextTable("name", "bytes");
    table.row("x", "1000000");
    table.row("a longer one", "5");

    assertEquals(
        """
        name            bytes
        x             1000000
        a longer one        5
        """,
        table.toString());
  }

  @Test
  void shouldEndInNoBlanksWhenARowIsShort() {
    TextTable table = new TextTable("name", "bytes");
    table.row("x");

    assertEquals("name  bytes\nx\n", table.toString());
  }

  @Test
  void shouldRefuseWhenCellsAndColumnsDoNotFit() {
    assertThrows(IllegalArgumentException.class, TextTable::new);
    TextTable table = new TextTable("name");
    assertThrows(IllegalArgumentException.class, () -> table.row("x", "y"));
  }
}
