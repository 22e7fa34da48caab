package io.prmalloc.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A headless browser.
 *
 * @param directory where it has room
 */
record Browser(Path directory) {

  private static final List<String> BROWSERS =
      List.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome");

  /**
   * A page that is opened.
   *
   * @param html the page
   * @param script of a test, which runs after those of the page
   */
  record Page(String html, String script) {}

  /**
   * The page as a browser leaves it after its scripts ran, and after another that a test adds. The
   * test is skipped where there is no browser.
   */
  String dom(String page, String script) throws IOException, InterruptedException {
    return doms(List.of(new Page(page, script))).get(0);
  }

  /**
   * The same of several pages, in one browser: its start takes longer than most pages do. Each is a
   * frame as large as a window, and knows nothing of the others.
   */
  List<String> doms(List<Page> pages) throws IOException, InterruptedException {
    StringBuilder frames =
        new StringBuilder(
            """
            <!DOCTYPE html><meta charset=utf-8>
            <style>iframe { display: block; border: 0; width: 100vw; height: 100vh }</style><body>
            """);
    for (Page page : pages) {
      String whole =
          page.html().replace("</body>", "<script>" + page.script() + "</script></body>");
      frames
          .append("<iframe srcdoc=\"")
          .append(whole.replace("&", "&amp;").replace("\"", "&quot;"))
          .append("\"></iframe>");
    }
    frames.append(
        """
        <script>
        addEventListener("load", () => document.body.replaceChildren(
            ...[...document.querySelectorAll("iframe")].map(frame => {
              const text = document.createElement("pre");
              text.textContent = frame.contentDocument.documentElement.outerHTML;
              return text;
            })));
        </script>
        """);
    String[] texts = open(frames.toString()).split("<pre>", -1);
    assertEquals(pages.size() + 1, texts.length, texts[0]);
    return Stream.of(texts).skip(1).map(Browser::unescaped).toList();
  }

  /** What a text says up to its end. */
  private static String unescaped(String text) {
    return text.substring(0, text.indexOf("</pre>"))
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&nbsp;", "\u00a0")
        .replace("&amp;", "&");
  }

  private String open(String page) throws IOException, InterruptedException {
    Optional<String> browser = BROWSERS.stream().filter(b -> Files.exists(Path.of(b))).findFirst();
    assumeTrue(browser.isPresent(), "there is no Chromium at " + BROWSERS);
    Path file = Files.writeString(directory.resolve("page.html"), page);
    Path out = directory.resolve("dom");
    Path err = directory.resolve("err");
    Process process =
        new ProcessBuilder(
                browser.get(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--user-data-dir=" + directory.resolve("profile"),
                "--window-size=1200,800",
                "--virtual-time-budget=20000",
                "--dump-dom",
                file.toUri().toString())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    if (!process.waitFor(5, TimeUnit.MINUTES)) {
      process.destroyForcibly().waitFor();
    }
    assertEquals(0, process.exitValue(), Files.readString(err));
    return Files.readString(out);
  }

  /** An attribute of the body. */
  static String attribute(String dom, String name) {
    Matcher matcher = Pattern.compile("<body[^>]*\\b" + name + "=\"([^\"]*)\"").matcher(dom);
    assertTrue(matcher.find(), name + " in " + dom.substring(0, Math.min(300, dom.length())));
    return matcher.group(1);
  }

  /** The text of an element. */
  static String text(String dom, String id) {
    Matcher matcher = Pattern.compile("id=\"" + id + "\"[^>]*>([^<]*)<").matcher(dom);
    assertTrue(matcher.find(), "element " + id);
    return matcher.group(1);
  }
}
