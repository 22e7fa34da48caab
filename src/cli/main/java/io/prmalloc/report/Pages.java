package io.prmalloc.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * Pages that come as a resource with one place for data, one for the style and one for the script
 * that they share.
 *
 * <p>Threading: any thread.
 */
final class Pages {

  private static final String PLACE = "/*DATA*/";
  private static final String STYLE_PLACE = "/*COMMON*/";
  private static final String SCRIPT_PLACE = "/*COMMON SCRIPT*/";

  private Pages() {}

  /**
   * A page with its data.
   *
   * @param resource beside this class
   * @param json the data
   */
  static String fill(String resource, String json) {
    String page =
        read(resource)
            .replace(STYLE_PLACE, read("common.css"))
            .replace(SCRIPT_PLACE, read("common.js"));
    int place = page.indexOf(PLACE);
    // A name could end the script element.
    return page.substring(0, place)
        + json.replace("<", "\\u003c")
        + page.substring(place + PLACE.length());
  }

  private static String read(String resource) {
    try (InputStream in = Pages.class.getResourceAsStream(resource)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
