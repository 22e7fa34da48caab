package io.prmalloc.pool.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The text of a plan file, which can be changed and given the checksum that fits.
 *
 * @param plan without white space
 */
record PlanText(int version, String plan) {

  private static final Pattern FILE =
      Pattern.compile(
          "\\{\"format\":\"[^\"]*\",\"version\":(\\d+),\"checksum\":\"\\w*\",\"plan\":(.*)}");

  /** Of a file whose texts have no white space. */
  static PlanText of(String file) {
    Matcher parts = FILE.matcher(file.replaceAll("\\s+", ""));
    if (!parts.matches()) {
      throw new IllegalArgumentException("not a plan file: " + file);
    }
    return new PlanText(Integer.parseInt(parts.group(1)), parts.group(2));
  }

  PlanText with(String otherPlan) {
    return new PlanText(version, otherPlan);
  }

  /** The file, with the right checksum. */
  String file() {
    return "{\"format\":\"prmalloc-plan\",\"version\":"
        + version
        + ",\"checksum\":\""
        + checksum()
        + "\",\"plan\":"
        + plan
        + "}";
  }

  private String checksum() {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(digest.digest((version + " " + plan).getBytes(UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
