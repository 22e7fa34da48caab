package io.prmalloc.example.client;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A run of wrk, a load generator in C: one request again and again, for a time, over a number of
 * connections with one request under way each. wrk checks only the status of an answer.
 *
 * @param perSecond requests answered in a second
 */
record WrkRun(double perSecond, double p50Micros, double p99Micros, double p999Micros) {

  // A request is told to wrk by a Lua script, and so is how to print what came of it: its own
  // report is for people and rounds. The body is too large for a script and lies in a file.

  private static final String PROGRAM = "wrk";

  /** Separates a request's head from its body. */
  private static final String HEAD_END = "\r\n\r\n";

  private static final String PRINT =
      """
      function done(summary, latency, requests)
        local e = summary.errors
        io.write(string.format("measured %d %d %d %d %d %d\\n", summary.requests, summary.duration,
          e.connect + e.read + e.write + e.status + e.timeout,
          latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
      end
      """;

  private static final Pattern MEASURED =
      Pattern.compile("measured (\\d+) (\\d+) (\\d+) (\\d+) (\\d+) (\\d+)");

  /** Whether the program is there. */
  static boolean isInstalled() throws InterruptedException {
    try {
      Process process = new ProcessBuilder(PROGRAM, "-v").redirectErrorStream(true).start();
      process.getInputStream().readAllBytes();
      process.waitFor();
      return true;
    } catch (IOException absent) {
      return false;
    }
  }

  /**
   * Sends a request for so many seconds.
   *
   * @param request head and body, as {@link LoadClient#post} makes it
   * @throws IOException if the program fails, or an answer says that the request did
   */
  static WrkRun of(URI server, byte[] request, int connections, long seconds)
      throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("prmalloc-wrk");
    Path body = directory.resolve("body");
    Path script = directory.resolve("request.lua");
    try {
      int bodyAt = head(request).length() + HEAD_END.length();
      Files.write(body, Arrays.copyOfRange(request, bodyAt, request.length));
      Files.writeString(script, script(head(request), body));
      return run(
          List.of(
              PROGRAM,
              "--threads=1",
              "--connections=" + connections,
              "--duration=" + seconds + "s",
              "--timeout=60s",
              "--script=" + script,
              server.resolve("/").toString()));
    } finally {
      Files.deleteIfExists(script);
      Files.deleteIfExists(body);
      Files.delete(directory);
    }
  }

  private static String head(byte[] request) {
    // One character for each byte, whatever the body holds.
    String text = new String(request, StandardCharsets.ISO_8859_1);
    return text.substring(0, text.indexOf(HEAD_END));
  }

  private static String script(String head, Path body) {
    List<String> lines = head.lines().toList();
    String[] first = lines.get(0).split(" ", -1);
    String headers =
        lines.stream()
            .skip(1)
            .map(line -> line.split(": ", 2))
            // Made by wrk itself.
            .filter(header -> !header[0].equals("Content-Length") && !header[0].equals("Host"))
            .map(header -> "wrk.headers[\"" + header[0] + "\"] = \"" + header[1] + "\"\n")
            .collect(Collectors.joining());
    return "wrk.method = \""
        + first[0]
        + "\"\nwrk.path = \""
        + first[1]
        + "\"\n"
        + headers
        + "local file = assert(io.open([["
        + body
        + "]], \"rb\"))\nwrk.body = file:read(\"*a\")\nfile:close()\n"
        + PRINT;
  }

  private static WrkRun run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Matcher measured = MEASURED.matcher(output);
    if (process.waitFor() != 0 || !measured.find()) {
      throw new IOException(String.join(" ", command) + " failed: " + output);
    }
    double requests = number(measured, 1);
    if (requests == 0 || number(measured, 3) != 0) {
      throw new IOException(
          measured.group(1) + " requests by wrk, of which failed " + measured.group(3));
    }
    return new WrkRun(
        requests * 1e6 / number(measured, 2),
        number(measured, 4),
        number(measured, 5),
        number(measured, 6));
  }

  private static double number(Matcher measured, int group) {
    return Double.parseDouble(measured.group(group));
  }
}
