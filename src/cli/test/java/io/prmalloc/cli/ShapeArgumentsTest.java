package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

class ShapeArgumentsTest {

  /** A command that takes shapes only. */
  @Command
  private static final class Shapes {

    @Mixin private ShapeArguments shapes;
  }

  private static Map<String, List<Integer>> read(String... words) {
    Shapes command = new Shapes();
    new CommandLine(command).parseArgs(words);
    return command.shapes.byName();
  }

  @Test
  void shouldTellShapesByNameWhenTheyAreGiven() {
    assertEquals(Map.of(), read());
    assertEquals(
        Map.of("audio:0", List.of(1, 16000), "a=b", List.of(7)),
        read("--shape", "audio:0=1x16000", "--shape=a=b=7"));
    assertEquals(Map.of("x", List.of(Integer.MAX_VALUE)), read("--shape=x=2147483647"));
  }

  @ParameterizedTest
  @CsvSource({
    "x=1x2147483648, dimension 2147483648 is not from 1 to 2147483647",
    "x=1x0, dimension 0 is not from 1 to 2147483647",
    "x=, is not a name and a shape like x=1x3",
    "=1x3, is not a name and a shape like x=1x3",
    "x, is not a name and a shape like x=1x3",
    "x=1x-3, is not a name and a shape like x=1x3",
    "x=1xx3, is not a name and a shape like x=1x3",
  })
  void shouldSayWhatIsWrongWhenAShapeIsNone(String text, String complaint) {
    String message =
        assertThrows(ParameterException.class, () -> read("--shape=" + text)).getMessage();
    assertEquals(
        "Invalid value for option '--shape' (NAME=AxB): `"
            + text
            + (complaint.startsWith("is") ? "` " : "`: ")
            + complaint,
        message);
  }

  @Test
  void shouldRefuseWhenANameComesTwice() {
    assertEquals(
        "--shape x is given twice",
        assertThrows(IllegalArgumentException.class, () -> read("--shape=x=1", "--shape=x=2"))
            .getMessage());
  }
}
