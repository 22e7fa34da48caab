package io.prmalloc.redis;

import io.lettuce.core.RedisURI;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the address of a Redis, and says what is wrong with one without showing a password.
 *
 * <p>Threading: any thread.
 */
final class RedisAddress {

  // Lettuce takes a timeout that it cannot read for none, and one without an end for 0. A `#`, `?`
  // or `/` in a password ends what Java takes for the host, and the password's rest would be shown
  // as part of the path. Exceptions of Java and of Lettuce quote the address, so their messages are
  // not passed on, and they are not a cause.

  private static final String SHOULD_BE = "redis://user:password@host:6379/0";

  /** A host and a port; also in brackets, as IPv6 has it. */
  private static final Pattern HOST = Pattern.compile("(\\[[^\\[\\]]*\\]|[^:\\[\\]]*)(:[0-9]*)?");

  private static final Pattern TIMEOUT = Pattern.compile("([0-9]+)(ns|us|ms|s|m|h|d)?");

  /** Netty counts the milliseconds of a connect timeout as an int. */
  private static final Duration MOST = Duration.ofMillis(Integer.MAX_VALUE);

  private static final Map<String, TimeUnit> UNITS =
      Map.of(
          "ns", TimeUnit.NANOSECONDS,
          "us", TimeUnit.MICROSECONDS,
          "ms", TimeUnit.MILLISECONDS,
          "s", TimeUnit.SECONDS,
          "m", TimeUnit.MINUTES,
          "h", TimeUnit.HOURS,
          "d", TimeUnit.DAYS);

  private RedisAddress() {}

  /**
   * What Lettuce reads, with its timeout.
   *
   * @param timeout where the address says nothing
   * @throws IllegalArgumentException if that is no address, or its timeout is none
   */
  static RedisURI parse(String uri, Duration timeout) {
    URI parts = split(uri);
    String authority = parts.getRawAuthority() == null ? "" : parts.getRawAuthority();
    String hosts = authority.substring(authority.lastIndexOf('@') + 1);
    for (String host : hosts.split(",", -1)) {
      if (!HOST.matcher(host).matches()) {
        throw new IllegalArgumentException(
            "uri has a port that is no number, or a password and no host; it should be as "
                + SHOULD_BE);
      }
    }
    if (behind(uri, authority).indexOf('@') >= 0) {
      throw new IllegalArgumentException(
          "uri has an `@` behind the host; in a password, `/` is written as %2F, `?` as %3F and `#`"
              + " as %23, and elsewhere `@` as %40");
    }
    Duration told = timeout(parts.getQuery(), uri).orElse(timeout);
    try {
      RedisURI parsed = RedisURI.create(parts);
      parsed.setTimeout(told);
      return parsed;
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "uri " + masked(uri) + " is no address of a Redis, as " + SHOULD_BE + " is");
    }
  }

  private static URI split(String uri) {
    try {
      return new URI(uri);
    } catch (URISyntaxException e) {
      String place = e.getIndex() < 0 ? "" : " at index " + e.getIndex();
      throw new IllegalArgumentException("uri is not one: " + e.getReason() + place);
    }
  }

  private static String behind(String uri, String authority) {
    return uri.substring(uri.indexOf(authority) + authority.length());
  }

  /** The address without user and password; of one whose every {@code @} is before the host. */
  private static String masked(String uri) {
    return uri.replaceFirst("//.*@", "//***@");
  }

  /** Empty if the address does not say. Of several the last one counts, as it does to Lettuce. */
  private static Optional<Duration> timeout(String query, String uri) {
    Optional<Duration> timeout = Optional.empty();
    for (String parameter : query == null ? new String[0] : query.split("[&;]")) {
      String lowerCase = parameter.toLowerCase(Locale.ROOT);
      if (lowerCase.startsWith("timeout=")) {
        timeout = Optional.of(duration(lowerCase.substring("timeout=".length()), uri));
      }
    }
    return timeout;
  }

  private static Duration duration(String text, String uri) {
    Matcher matcher = TIMEOUT.matcher(text);
    String timeout = "timeout `" + text + "` of " + masked(uri);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          timeout + " is not a whole number of ns, us, ms, s, m, h or d");
    }
    long count = count(matcher.group(1));
    TimeUnit unit = UNITS.get(matcher.group(2) == null ? "ms" : matcher.group(2));
    // To nanoseconds: what is out of range becomes the most, and no exception.
    Duration duration = Duration.ofNanos(unit.toNanos(count));
    if (duration.isZero()) {
      // To Lettuce it means to wait without an end.
      throw new IllegalArgumentException(timeout + " is not more than 0");
    }
    if (duration.compareTo(MOST) > 0) {
      throw new IllegalArgumentException(timeout + " is over " + MOST.toMillis() + "ms");
    }
    return duration;
  }

  private static long count(String digits) {
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException tooLong) {
      return Long.MAX_VALUE;
    }
  }
}
