package io.prmalloc.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.plan.TensorConstraints;
import io.prmalloc.plan.TensorConstraints.Gap;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.trace.TensorLifetimes;
import io.prmalloc.trace.TraceInput;
import io.prmalloc.trace.planning.PlanKind;
import io.prmalloc.trace.planning.PlanMethods;
import io.prmalloc.trace.planning.PlanOptions;
import io.prmalloc.trace.planning.PlanReport;
import io.prmalloc.trace.planning.Planning;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("jdk-independent")
class PlanPageTest {

  private static final Map<Shown, String> DOMS = new EnumMap<>(Shown.class);

  @TempDir private Path directory;

  /** What is opened in a browser, all of it in one. */
  private enum Shown {
    TWO_TENSORS,
    GAPS,
    SAMPLE,
    HUNDRED_THOUSAND;

    private Browser.Page page() throws InterruptedException {
      return switch (this) {
        case TWO_TENSORS -> twoTensors();
        case GAPS -> gaps();
        case SAMPLE -> sample();
        case HUNDRED_THOUSAND -> hundredThousand();
      };
    }
  }

  private String dom(Shown shown) throws Exception {
    if (DOMS.isEmpty()) {
      List<Browser.Page> pages = new ArrayList<>();
      for (Shown each : Shown.values()) {
        pages.add(each.page());
      }
      Iterator<String> opened = new Browser(directory).doms(pages).iterator();
      for (Shown each : Shown.values()) {
        DOMS.put(each, opened.next());
      }
    }
    return DOMS.get(shown);
  }

  private static PlanReport report(TensorLifetimes tensors, String... strategies)
      throws InterruptedException {
    return report(tensors, Optional.empty(), strategies);
  }

  private static PlanReport report(
      TensorLifetimes tensors, Optional<PlanKind> kind, String... strategies)
      throws InterruptedException {
    PlanOptions options = new PlanOptions(1, Optional.empty(), OptionalLong.empty());
    Planning planning = new Planning(tensors, options, List.of(strategies), kind);
    return new PlanReport(tensors, options, planning.run((strategy, done, total) -> {}));
  }

  private static Browser.Page twoTensors() throws InterruptedException {
    TensorLifetimes tensors =
        TensorLifetimes.of(
            "two </script> tensors",
            List.of("the <b>low</b> one", "the high one"),
            List.of(new TensorUsageRecord(4000, 0, 9), new TensorUsageRecord(1000, 5, 9)));
    String move =
        """
        const at = (t, a) => document.getElementById("stage").dispatchEvent(
            new MouseEvent("mousemove", {clientX: x(t), clientY: y(a)
                + document.getElementById("stage").getBoundingClientRect().top}));
        at(2, 2000);
        document.body.dataset.low = document.getElementById("tip").textContent;
        at(7, 4500);
        document.body.dataset.high = document.getElementById("tip").textContent;
        at(2, 4500);
        document.body.dataset.none = document.getElementById("tip").hidden;
        """;
    return new Browser.Page(PlanPage.html(report(tensors, "greedy-by-size")), move);
  }

  @Test
  void shouldShowNameAndSizeWhenTheMouseIsOverATensor() throws Exception {
    String dom = dom(Shown.TWO_TENSORS);

    assertEquals("two &lt;/script&gt; tensors", Browser.text(dom, "name"));
    assertEquals(
        "the &lt;b&gt;low&lt;/b&gt; one\n4,000 bytes at offset 0\nalive from 0 to 9",
        Browser.attribute(dom, "data-low").replace("<", "&lt;").replace(">", "&gt;"));
    assertEquals(
        "the high one\n1,000 bytes at offset 4,000\nalive from 5 to 9",
        Browser.attribute(dom, "data-high"));
    assertEquals("true", Browser.attribute(dom, "data-none"));
  }

  private static Browser.Page gaps() throws InterruptedException {
    TensorConstraints gaps =
        TensorConstraints.NONE.withGaps(List.of(new Gap(2, 7, 0, 1000), new Gap(9, 9, 0, 0)));
    TensorLifetimes tensors =
        TensorLifetimes.of(
            "gaps",
            List.of("wide", "within"),
            List.of(new TensorUsageRecord(4000, 0, 9, gaps), new TensorUsageRecord(3000, 2, 7)));
    String move =
        """
        const seen = document.body.dataset;
        const at = (t, a) => {
          document.getElementById("stage").dispatchEvent(
              new MouseEvent("mousemove", {clientX: x(t), clientY: y(a)
                  + document.getElementById("stage").getBoundingClientRect().top}));
          return document.getElementById("tip").textContent;
        };
        seen.before = at(1, 2000).split("\\n")[0];
        seen.kept = at(5, 500).split("\\n")[0];
        seen.inside = at(5, 2000).split("\\n")[0];
        seen.wide = at(9.5, 2000);
        seen.most = Math.max(...load.map(([, live]) => live));
        const color = (t, a) => [...$("plan").getContext("2d")
            .getImageData(Math.round(x(t)), Math.round(y(a)), 1, 1).data].join();
        seen.sameColor = color(1, 2700) === color(5, 700);
        seen.gapIsEmpty = color(9.5, 2700) === color(9.5, 4100);
        """;
    return new Browser.Page(PlanPage.html(report(tensors, "exact")), move);
  }

  /** The load and the rectangles are without the gaps; what lies in one is met by the mouse. */
  @Test
  void shouldLeaveOutGapsWhenTensorsHaveThem() throws Exception {
    String dom = dom(Shown.GAPS);

    assertEquals("wide", Browser.attribute(dom, "data-before"));
    assertEquals("wide", Browser.attribute(dom, "data-kept"));
    assertEquals("within", Browser.attribute(dom, "data-inside"));
    assertEquals(
        "wide\n4,000 bytes at offset 0\nalive from 0 to 9\n"
            + "from 2 to 7 only bytes 0 to 999 in use\nfrom 9 to 9 not in use",
        Browser.attribute(dom, "data-wide"));
    assertEquals("4000", Browser.attribute(dom, "data-most"));
    assertEquals("true", Browser.attribute(dom, "data-same-color"));
    assertEquals("true", Browser.attribute(dom, "data-gap-is-empty"));
    assertEquals("4", Browser.attribute(dom, "data-filled"));
  }

  private static Browser.Page sample() throws InterruptedException {
    TensorLifetimes tensors = new TraceInput("sample:mobilenet", null, null).readLifetimes();
    String click =
        """
        document.body.dataset.started = document.body.dataset.strategy;
        const tabs = [...document.querySelectorAll("#tabs button")];
        const seen = [];
        for (const tab of tabs) {
          tab.click();
          seen.push(document.body.dataset.strategy + "/" + document.body.dataset.kind + "/"
              + document.body.dataset.drawn);
        }
        document.body.dataset.seen = seen.join(" ");
        """;
    // The canvas keeps no text: what is written on it is noted.
    String note =
        """
        const written = [], fillText = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
          written.push(text);
          fillText.call(this, text, x, y);
        };
        draw();
        document.body.dataset.written = written.filter(text => text.includes("(")).join("; ");
        """;
    return new Browser.Page(PlanPage.html(report(tensors)), click + note);
  }

  @Test
  void shouldHaveATabPerStrategyWhenThereAreSeveral() throws Exception {
    String dom = dom(Shown.SAMPLE);

    String expected =
        PlanMethods.all().stream()
            .map(strategy -> strategy.label() + "/offsets/128")
            .collect(Collectors.joining(" "));
    assertEquals(expected, Browser.attribute(dom, "data-seen"));
    assertEquals("greedy-by-size", Browser.attribute(dom, "data-started"));
    assertTrue(Integer.parseInt(Browser.attribute(dom, "data-load-points")) > 50);
    assertTrue(
        Browser.text(dom, "facts").contains("load 51,841,024 bytes"), Browser.text(dom, "facts"));
  }

  @Test
  void shouldTitleTheAxesWhenAPlanIsDrawn() throws Exception {
    String dom = dom(Shown.SAMPLE);

    assertEquals(
        "time (tasks of the step); offset (1 kB = 1,000 bytes)",
        Browser.attribute(dom, "data-written"));
  }

  private static List<TensorUsageRecord> manyRecords() {
    return IntStream.range(0, 100_000)
        .mapToObj(i -> new TensorUsageRecord(1 + i % 977, i, i + 1 + i % 311))
        .toList();
  }

  private static Browser.Page hundredThousand() throws InterruptedException {
    List<String> ids = IntStream.range(0, 100_000).mapToObj(i -> "tensor " + i).toList();
    String html =
        PlanPage.html(
            report(
                TensorLifetimes.of("many", ids, manyRecords()),
                Optional.of(PlanKind.OFFSETS),
                "greedy-by-size"));
    String work =
        """
        const seen = document.body.dataset;
        for (let i = 0; i < 20; i++) {
          stage.dispatchEvent(new MouseEvent("mousemove", {clientX: 200 + 30 * i, clientY: 600}));
        }
        seen.all = seen.drawn;
        seen.allFilled = seen.filled;
        stage.dispatchEvent(new WheelEvent("wheel", {deltaY: -2000, clientX: 600, clientY: 400}));
        seen.closer = seen.drawn;
        const type = (id, text, event) => {
          const field = document.getElementById(id);
          field.value = text;
          field.dispatchEvent(event);
        };
        document.getElementById("reset").click();
        type("from", 5000, new Event("change"));
        type("to", 5009, new Event("change"));
        seen.window = seen.drawn + " from " + view.t0 + " to " + view.t1;
        type("find", "Tensor 4242", new Event("input"));
        seen.count = document.getElementById("found").textContent;
        type("find", "Tensor 4242", new KeyboardEvent("keydown", {key: "Enter"}));
        seen.first = document.getElementById("tip").textContent.split("\\n")[0];
        type("find", "Tensor 4242", new KeyboardEvent("keydown", {key: "Enter"}));
        seen.second = document.getElementById("tip").textContent.split("\\n")[0];
        """;
    assertTrue(html.length() < 10_000_000, html.length() + " characters");
    return new Browser.Page(html, work);
  }

  /**
   * As many as a large model has, and the mouse goes over them. What is smaller than a pixel is
   * filled once a pixel, so that a picture has a bounded number of rectangles.
   */
  @Test
  void shouldStayUsableWhenThereAreHundredThousandTensors() throws Exception {
    String dom = dom(Shown.HUNDRED_THOUSAND);

    assertEquals("100000", Browser.attribute(dom, "data-all"));
    int filled = Integer.parseInt(Browser.attribute(dom, "data-all-filled"));
    assertTrue(filled > 1_000 && filled < 90_000, filled + " filled");
    int closer = Integer.parseInt(Browser.attribute(dom, "data-closer"));
    assertTrue(closer > 0 && closer < 50_000, closer + " drawn when zoomed in");
    long alive =
        manyRecords().stream()
            .filter(r -> r.lastTask() + 1 >= 5000 && r.firstTask() <= 5009)
            .count();
    assertEquals(alive + " from 5000 to 5009", Browser.attribute(dom, "data-window"));
    assertEquals("11 tensors", Browser.attribute(dom, "data-count"));
    assertEquals("tensor 4242", Browser.attribute(dom, "data-first"));
    assertEquals("tensor 42420", Browser.attribute(dom, "data-second"));
  }

  @Test
  void shouldNameNothingOutsideWhenMade() throws Exception {
    TensorLifetimes tensors = new TraceInput("sample:mobilenet", null, null).readLifetimes();

    String html = PlanPage.html(report(tensors, "naive"));

    assertFalse(Pattern.compile("https?:|src=|href=|@import|url\\(").matcher(html).find());
    assertTrue(html.contains("default-src 'none'"));
    assertFalse(html.contains("/*DATA*/"));
  }

  @Test
  void shouldRefuseWhenSizesAreShapes() throws Exception {
    Path file = Files.writeString(directory.resolve("s.csv"), "id,size,first,last\na,2x2,0,1\n");
    TensorLifetimes tensors = new TraceInput(file.toString(), null, null).readLifetimes();

    PlanReport report = report(tensors);

    assertEquals(
        "sizes of 2 dimensions have no address to draw",
        assertThrows(IllegalArgumentException.class, () -> PlanPage.html(report)).getMessage());
  }
}
