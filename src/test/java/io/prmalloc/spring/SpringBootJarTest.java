package io.prmalloc.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands on the page {@code docs/spring-boot.md}: Maven builds the executable jar from a
 * project of its own, and the jar serves until it is stopped. Needs Maven, and its repository.
 */
@Tag("long")
class SpringBootJarTest {

  private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

  @TempDir private Path directory;

  @Test
  void shouldServeFromAnExecutableJarAndCloseThePoolWhenToldToEnd() throws Exception {
    assumeTrue(isMavenThere(), "there is no mvn on the path");
    copyTheProject();
    maven("-pl", "src", "-am", "-Dmaven.test.skip", "-Dmaven.javadoc.skip", "install");
    maven("-f", "src/test/spring-boot/pom.xml", "package");
    Path log = directory.resolve("log");
    String jar = "src/test/spring-boot/target/spring-boot-example-0.1.0-SNAPSHOT.jar";
    Process server =
        command(log, Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-jar")
            .apply(
                jar,
                "--server.port=0",
                "--management.endpoints.web.exposure.include=health,prometheus");
    try {
      String address = "http://127.0.0.1:" + port(server, log);
      assertEquals("3.5", SpringBootPageTest.sum(address, 1, 2.5f));
      String metrics = SpringBootPageTest.get(address + "/actuator/prometheus");
      assertTrue(metrics.contains("prmalloc_memory_used_bytes{pool=\"main\"}"), metrics);
    } finally {
      server.destroy(); // SIGTERM, as a container's end
    }
    assertEquals(143, server.waitFor(), () -> read(log));
    assertFalse(read(log).contains("still has"), () -> read(log));
    assertFalse(read(log).contains("Exception"), () -> read(log));
  }

  /** Gives a started process what is still to be said of its command. */
  private interface Start {
    Process apply(String... more) throws IOException;
  }

  private Start command(Path log, String... first) {
    return more -> {
      List<String> all = Stream.of(first, more).flatMap(Stream::of).toList();
      return new ProcessBuilder(all)
          .directory(directory.toFile())
          .redirectErrorStream(true)
          .redirectOutput(log.toFile())
          .start();
    };
  }

  private void maven(String... arguments) throws IOException, InterruptedException {
    Path log = directory.resolve("maven");
    String[] flags = {"mvn", "-B", "-q", "-Dspotless.check.skip", "-DskipTests"};
    assertEquals(0, command(log, flags).apply(arguments).waitFor(), () -> read(log));
  }

  private boolean isMavenThere() throws InterruptedException {
    try {
      return command(directory.resolve("maven"), "mvn", "-v").apply().waitFor() == 0;
    } catch (IOException notFound) {
      return false;
    }
  }

  /** What the commands need of the project: it is being built where it lies. */
  private void copyTheProject() throws IOException {
    Path root = Path.of("..").toRealPath();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String name = root.relativize(file).toString();
        boolean pom = name.matches("(\\w[\\w-]*/)*pom\\.xml|docs/LICENSE|\\.mvn/.*");
        boolean source = name.startsWith("src/main/") || name.startsWith("src/test/");
        if (pom || (source && !name.contains("/target/"))) {
          Path copy = directory.resolve(name);
          Files.createDirectories(copy.getParent());
          Files.copy(file, copy);
        }
      }
    }
  }

  /** Waits until the server says its port, or is no more. */
  private static String port(Process server, Path log) throws InterruptedException {
    while (true) {
      boolean alive = server.isAlive();
      MatchResult said = PORT.matcher(read(log)).results().findFirst().orElse(null);
      if (said != null) {
        return said.group(1);
      }
      assertTrue(alive, () -> read(log));
      Thread.sleep(50);
    }
  }

  private static String read(Path log) {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
