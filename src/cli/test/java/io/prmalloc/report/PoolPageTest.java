package io.prmalloc.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.pool.PoolPolicies;
import io.prmalloc.trace.Trace;
import io.prmalloc.trace.TraceInput;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("jdk-independent")
class PoolPageTest {

  private static final String SCRIPT = "<script type=\"application/json\" id=\"data\">";

  @TempDir private Path directory;

  private static String page(PoolPolicies policies) {
    Trace trace = new TraceInput("sample:mobilenet", null, null).read();
    return PoolPage.html(trace, 0, policies, Duration.ZERO);
  }

  private static JsonNode data(String html) throws IOException {
    int start = html.indexOf(SCRIPT) + SCRIPT.length();
    return new ObjectMapper().readTree(html.substring(start, html.indexOf("</script>", start)));
  }

  private static JsonNode chosen(JsonNode data) {
    JsonNode chosen = null;
    for (JsonNode plan : data.get("plans")) {
      if (plan.get("chosen").asBoolean()) {
        assertTrue(chosen == null, "two are chosen");
        chosen = plan;
      }
    }
    return chosen;
  }

  @Test
  void shouldDrawCostsAndLivesAndTheChosenPlanWhenOpened() throws Exception {
    String click =
        """
        document.body.dataset.started = document.body.dataset.strategy;
        const rows = [...document.querySelectorAll("#costs tr")];
        document.body.dataset.rows = rows.map(row => row.cells[0].textContent).join("; ");
        document.body.dataset.wide = rows.every(row => row.querySelector(".cost").offsetWidth > 50);
        [...document.querySelectorAll("#tabs button")].at(-1).click();
        """;

    String dom = new Browser(directory).dom(page(PoolPolicies.ALL), click);

    assertEquals("packing of whole steps", Browser.attribute(dom, "data-started"));
    assertEquals(
        "classes of 4 KiB; classes of 8 KiB; classes of 16 KiB; classes of 2 KiB; geometric"
            + " classes; packing of whole steps (chosen); planned step",
        Browser.attribute(dom, "data-rows"));
    assertEquals("true", Browser.attribute(dom, "data-wide"));
    assertEquals("planned step", Browser.attribute(dom, "data-strategy"));
    assertTrue(Integer.parseInt(Browser.attribute(dom, "data-classes")) > 3);
    assertTrue(Integer.parseInt(Browser.attribute(dom, "data-drawn")) > 50);
  }

  @Test
  void shouldLetNoTwoTensorsMeetWhenDrawn() throws IOException {
    JsonNode data = data(page(PoolPolicies.ALL));
    int tensors = data.get("sizes").size();
    for (JsonNode plan : data.get("plans")) {
      for (int a = 0; a < tensors; a++) {
        long end = plan.get("offsets").get(a).asLong() + plan.get("blockBytes").get(a).asLong();
        assertTrue(end <= plan.get("total").asLong(), plan.get("strategy") + ", tensor " + a);
        for (int b = 0; b < a; b++) {
          assertFalse(meet(data, plan, a, b), plan.get("strategy") + ": " + a + " and " + b);
        }
      }
    }
  }

  private static boolean meet(JsonNode data, JsonNode plan, int a, int b) {
    return data.get("first").get(a).asLong() <= data.get("last").get(b).asLong()
        && data.get("first").get(b).asLong() <= data.get("last").get(a).asLong()
        && plan.get("offsets").get(a).asLong()
            < plan.get("offsets").get(b).asLong() + data.get("sizes").get(b).asLong()
        && plan.get("offsets").get(b).asLong()
            < plan.get("offsets").get(a).asLong() + data.get("sizes").get(a).asLong();
  }

  @Test
  void shouldChooseAmongTheReferencesWhenTheyAloneCompete() throws IOException {
    JsonNode data = data(page(PoolPolicies.REFERENCE));
    JsonNode chosen = chosen(data);
    assertTrue(chosen.get("strategy").asText().startsWith("classes of "));
    assertTrue(
        chosen(data(page(PoolPolicies.ALL))).get("total").asLong() < chosen.get("total").asLong());
  }

  @Test
  void shouldNameNothingOutsideWhenMade() {
    String html = page(PoolPolicies.ALL);
    assertFalse(Pattern.compile("https?:|src=|@import|url\\(").matcher(html).find());
    assertFalse(html.contains("/*COMMON*/") || html.contains("/*DATA*/"));
  }

  @Test
  void shouldRefuseATraceWithoutAnythingToPlan() {
    Trace small = Trace.builder("small").allocate("a", 100).build();
    assertThrows(
        IllegalArgumentException.class,
        () -> PoolPage.html(small, 0, PoolPolicies.ALL, Duration.ZERO));
  }
}
