package io.prmalloc.jmh.report;

import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A page with parts that a program writes: each between {@code <!-- begin NAME -->} and {@code <!--
 * end NAME -->}, which stay.
 *
 * <p>Threading: any thread.
 */
final class MarkedPage {

  private static final Pattern PART =
      Pattern.compile("<!-- begin ([a-z-]+) -->\n.*?<!-- end \\1 -->", Pattern.DOTALL);

  private MarkedPage() {}

  /**
   * The page with its parts anew.
   *
   * @param parts what belongs between the marks of each name
   * @throws IllegalArgumentException if the page has a part that is not given, lacks one that is,
   *     or has one twice
   */
  static String with(String page, Map<String, String> parts) {
    Set<String> seen = new LinkedHashSet<>();
    Matcher matcher = PART.matcher(page);
    StringBuilder result = new StringBuilder();
    while (matcher.find()) {
      String name = matcher.group(1);
      String part = parts.get(name);
      if (part == null) {
        throw new IllegalArgumentException(
            "the page's part `" + name + "` is none of " + parts.keySet());
      }
      if (!seen.add(name)) {
        throw new IllegalArgumentException("the page has the part `" + name + "` twice");
      }
      matcher.appendReplacement(
          result,
          Matcher.quoteReplacement(
              "<!-- begin " + name + " -->\n" + part + "<!-- end " + name + " -->"));
    }
    matcher.appendTail(result);
    if (!seen.containsAll(parts.keySet())) {
      Set<String> missing = new LinkedHashSet<>(parts.keySet());
      missing.removeAll(seen);
      throw new IllegalArgumentException("the page has no place for " + missing);
    }
    return result.toString();
  }
}
