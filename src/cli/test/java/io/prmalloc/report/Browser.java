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

/**
 * A headless browser.
 *
 * @param directory where it has room
 */
record Browser(Path directory) {

  private static final List<String> BROWSERS =
      List.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome");

  /**
   * The page as a browser leaves it after its scripts ran, and after another that a test adds. The
   * test is skipped where there is no browser.
   */
  String dom(String page, String script) throws IOException, InterruptedException {
    Optional<String> browser = BROWSERS.stream().filter(b -> Files.exists(Path.of(b))).findFirst();
    assumeTrue(browser.isPresent(), "there is no Chromium at " + BROWSERS);
    Path file =
        Files.writeString(
            directory.resolve("page.html"),
            page.replace("</body>", "<script>" + script + "</script></body>"));
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
