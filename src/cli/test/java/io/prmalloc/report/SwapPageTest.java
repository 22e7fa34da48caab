package io.prmalloc.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.SharedData;
import io.prmalloc.trace.TraceInput;
import io.prmalloc.trace.simulate.ModelKind;
import io.prmalloc.trace.swap.SwapMode;
import io.prmalloc.trace.swap.SwapOptions;
import io.prmalloc.trace.swap.Swapping;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("jdk-independent")
class SwapPageTest {

  private static String dom;

  @TempDir private Path directory;

  private static Swapping squeezenet(SwapMode mode) {
    return Swapping.of(
        new TraceInput(SharedData.path("mnn/Squeezenet").toString(), null, 2).readProfile(),
        new SwapOptions(
            mode,
            ModelKind.OS,
            SwapOptions.DEFAULT_BYTES_PER_SECOND,
            SwapOptions.DEFAULT_BYTES_PER_SECOND,
            OptionalInt.empty(),
            OptionalLong.empty(),
            false));
  }

  /** The page as both tests see it, opened once. */
  private String dom() throws Exception {
    String move =
        """
        const point = (t, py) => {
          document.getElementById("stage").dispatchEvent(new MouseEvent("mousemove",
              {clientX: x(t), clientY: py + document.getElementById("stage").getBoundingClientRect().top}));
          return document.getElementById("tip").textContent;
        };
        const longest = data.opCompute.indexOf(Math.max(...data.opCompute));
        const middle = data.opComputeStart[longest] + data.opCompute[longest] / 2;
        document.body.dataset.longest = data.opNames[longest];
        document.body.dataset.op = point(middle, computeTop() + 5);
        document.body.dataset.transfer = point((data.diskStart[0] + data.diskEnd[0]) / 2, diskTop() + 5);
        document.body.dataset.live = point(data.total / 2, top_ + 20);
        document.getElementById("stage").dispatchEvent(
            new WheelEvent("wheel", {deltaY: -2000, clientX: 600, clientY: 400}));
        document.body.dataset.closer = document.body.dataset.ops;
        document.getElementById("reset").click();
        """;
    String texts =
        """
        const texts = [], fill = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
          texts.push(text);
          fill.call(this, text, ...at);
        };
        draw();
        document.body.dataset.texts = texts.join("|");
        """;
    if (dom == null) {
      dom = new Browser(directory).dom(SwapPage.html(squeezenet(SwapMode.ASYNC)), move + texts);
    }
    return dom;
  }

  @Test
  void shouldDrawBothLanesAndTheCurveWhenOpened() throws Exception {
    Swapping swapping = squeezenet(SwapMode.ASYNC);
    String dom = dom();

    assertEquals("620", Browser.attribute(dom, "data-ops"));
    assertEquals(
        Integer.toString(swapping.timeline().transfers().size()),
        Browser.attribute(dom, "data-transfers"));
    assertTrue(Integer.parseInt(Browser.attribute(dom, "data-points")) > 100);
    assertTrue(
        Browser.attribute(dom, "data-op")
            .startsWith(Browser.attribute(dom, "data-longest") + "\nfrom "),
        Browser.attribute(dom, "data-op"));
    assertTrue(
        Browser.attribute(dom, "data-transfer").contains(" to the disk\n"),
        Browser.attribute(dom, "data-transfer"));
    assertTrue(Browser.attribute(dom, "data-live").endsWith(" bytes alive"));
    assertTrue(Integer.parseInt(Browser.attribute(dom, "data-closer")) < 300);
    assertTrue(Browser.text(dom, "facts").startsWith("async over os: 7,455.648 ms"), dom);
  }

  @Test
  void shouldSayWhatTheAxesShowWhenDrawn() throws Exception {
    String drawn = Browser.attribute(dom(), "data-texts");
    assertTrue(drawn.contains("|time (ms)|bytes alive (1 kB = 1,000 bytes)|"), drawn);
  }

  @Test
  void shouldNameNothingOutsideWhenMade() {
    String html = SwapPage.html(squeezenet(SwapMode.SEMI_SYNC));

    assertFalse(Pattern.compile("https?:|src=|href=|@import|url\\(").matcher(html).find());
    assertTrue(html.contains("default-src 'none'"));
    assertFalse(html.contains("/*DATA*/"));
  }
}
