package io.prmalloc.jmh.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.jmh.FakeRun;
import io.prmalloc.jmh.rival.Rival;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class ReportTest {

  private static final List<Rival> RIVALS = List.of(Rival.values());

  @TempDir Path folder;
  private Path run;
  private Path docs;

  @BeforeEach
  void makeDirectories() throws IOException {
    run = Files.createDirectory(folder.resolve("run"));
    docs = Files.createDirectory(folder.resolve("docs"));
  }

  private static Document parsed(String svg) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(svg)));
  }

  private static BarChart chart(double... nanos) {
    List<Grid.Row> rows =
        IntStream.range(0, nanos.length)
            .mapToObj(
                i ->
                    new Grid.Row(
                        RIVALS.get(i),
                        List.of(
                            Double.isNaN(nanos[i])
                                ? OptionalDouble.empty()
                                : OptionalDouble.of(nanos[i]))))
            .toList();
    return new BarChart("a < b", "time", 1, new Grid(List.of("it"), rows));
  }

  private static double width(NodeList bars, int bar) {
    return Double.parseDouble(((Element) bars.item(bar)).getAttribute("width"));
  }

  @Test
  void shouldDrawBarsOnALogarithmicAxisWhenThereAreNumbers() throws Exception {
    Document svg = parsed(chart(10, 100, 1_000, Double.NaN).svg());

    NodeList bars = svg.getElementsByTagName("rect");
    assertEquals(3, bars.getLength());
    // The axis goes from 10 ns to 1 us: the bar in the middle ends in the middle.
    assertEquals(2 * width(bars, 1), width(bars, 2), 0.2);
    assertTrue(width(bars, 0) < 2);
    assertTrue(svg.getDocumentElement().getTextContent().contains("100 ns"));
    assertTrue(svg.getDocumentElement().getTextContent().contains("a < b"));
  }

  @Test
  void shouldSayThatNothingWasMeasuredWhenThereIsNothing() throws Exception {
    Document svg = parsed(chart().svg());

    assertEquals(0, svg.getElementsByTagName("rect").getLength());
    assertTrue(svg.getDocumentElement().getTextContent().contains("not measured"));
  }

  @Test
  void shouldDrawABarOfItsOwnLengthWhenAllNumbersAreTheSame() throws Exception {
    NodeList bars = parsed(chart(10, 10).svg()).getElementsByTagName("rect");
    assertEquals(width(bars, 0), width(bars, 1));
  }

  @Test
  void shouldRoundAsPeopleReadWhenNumbersAreOfAnySize() {
    assertEquals("0.00", Numbers.plain(0));
    assertEquals("7.35", Numbers.plain(7.349));
    assertEquals("10.0", Numbers.plain(9.996));
    assertEquals("42.4", Numbers.plain(42.42));
    assertEquals("100", Numbers.plain(99.96));
    assertEquals("1,235", Numbers.plain(1_234.5678));
    assertEquals("41,700", Numbers.plain(41_687));
    assertEquals("8.40 ns", Numbers.time(8.4));
    assertEquals("1.00 µs", Numbers.time(999.9));
    assertEquals("41.7 ms", Numbers.time(41_687_000));
    assertEquals("5,000 s", Numbers.time(5e12));
  }

  @Test
  void shouldReplaceOnlyWhatIsMarkedWhenAPageIsWritten() {
    String page = "a\n<!-- begin x -->\nold $1\n<!-- end x -->\nb <!-- begin y -->\n<!-- end y -->";

    assertEquals(
        "a\n<!-- begin x -->\nnew $1 \\\n<!-- end x -->\nb <!-- begin y -->\n<!-- end y -->",
        MarkedPage.with(page, Map.of("x", "new $1 \\\n", "y", "")));
    assertThrows(
        IllegalArgumentException.class, () -> MarkedPage.with(page, Map.of("x", "one is missing")));
    assertThrows(
        IllegalArgumentException.class,
        () -> MarkedPage.with(page, Map.of("x", "", "y", "", "z", "")));
    assertThrows(
        IllegalArgumentException.class,
        () -> MarkedPage.with(page + page, Map.of("x", "", "y", "")));
  }

  @Test
  void shouldFillTheProjectsPageWhenARunIsThere() throws Exception {
    // Maven runs the tests in the module's directory.
    Path page = Path.of("..", "docs", "benchmarks", "README.md");
    Files.copy(page, docs.resolve("README.md"));
    FakeRun.published(rival -> 10 * (1 + RIVALS.indexOf(rival))).write(run.resolve("all.json"));
    Files.writeString(run.resolve(Report.ENVIRONMENT_FILE), "CPU=some processor\n");

    Report.of(run).withFixedThreshold(run).write(docs);
    String written = Files.readString(docs.resolve("README.md"));

    assertTrue(written.contains("| CPU | some processor |"));
    assertTrue(written.contains("| malloc | 120 | 120 | 120 | 120 |"), written);
    assertTrue(written.contains("| malloc | 0.12 | 0.12 | 0.12 | 0.12 |"), written);
    assertFalse(written.contains("Not measured."), written);
    int charts = 0;
    for (String line : written.split("\n", -1)) {
      if (line.startsWith("![")) {
        Path chart = docs.resolve(line.replaceAll(".*\\((.*)\\)", "$1"));
        NodeList bars = parsed(Files.readString(chart)).getElementsByTagName("rect");
        assertTrue(bars.getLength() > 3, chart::toString);
        charts++;
      }
    }
    try (var files = Files.list(docs)) {
      assertEquals(charts, files.filter(file -> file.toString().endsWith(".svg")).count());
    }
    // Again from the page that was written: nothing is left of the first time, and nothing is lost.
    Report.of(run).withFixedThreshold(run).write(docs);
    assertEquals(written, Files.readString(docs.resolve("README.md")));
  }

  @Test
  void shouldWriteNothingWhenThePageHasNoPlace() throws IOException {
    FakeRun.published(rival -> 10).write(run.resolve("all.json"));
    Files.writeString(docs.resolve("README.md"), "no marks");

    assertThrows(IllegalArgumentException.class, () -> Report.of(run).write(docs));
    try (var files = Files.list(docs)) {
      assertEquals(1, files.count());
    }
  }
}
