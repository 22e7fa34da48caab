package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The list of public types in {@code docs/guide.md}: all of them, and each with a use. */
class DocsTest {

  /** Protobuf makes its classes. */
  private static final String GENERATED = "io.prmalloc.tensor.wire.proto";

  private static final Pattern HEADING = Pattern.compile("^### (.*)$");
  private static final Pattern ROW = Pattern.compile("^\\| `([\\w.]+)` \\| (.+) \\|$");

  @Test
  void shouldListEveryPublicTypeWhenItsPackageIsExported() throws Exception {
    Set<String> types = publicTypes();
    assertEquals(lines(types), lines(listedTypes()));
    // More than that nobody looks through.
    assertTrue(types.size() <= 110, () -> types.size() + " public types");
  }

  private static String lines(Set<String> names) {
    return String.join("\n", names);
  }

  private static Set<String> publicTypes() throws IOException, URISyntaxException {
    Path classes =
        Path.of(Allocator.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    ModuleDescriptor module =
        ModuleFinder.of(classes).find("io.prmalloc").orElseThrow().descriptor();
    Set<String> types = new TreeSet<>();
    for (ModuleDescriptor.Exports exports : module.exports()) {
      if (!exports.isQualified() && !exports.source().equals(GENERATED)) {
        types.addAll(publicTypes(classes, exports.source()));
      }
    }
    return types;
  }

  private static Set<String> publicTypes(Path classes, String packageName) throws IOException {
    try (Stream<Path> files = Files.list(classes.resolve(packageName.replace('.', '/')))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".class") && !name.matches(".*[$-].*"))
          .map(name -> packageName + '.' + name.substring(0, name.length() - ".class".length()))
          .filter(DocsTest::isPublic)
          .collect(Collectors.toSet());
    }
  }

  private static boolean isPublic(String type) {
    try {
      return Modifier.isPublic(
          Class.forName(type, false, DocsTest.class.getClassLoader()).getModifiers());
    } catch (ClassNotFoundException unexpected) {
      throw new AssertionError(unexpected);
    }
  }

  /** Rows name a type by itself under a heading that names its package, else with its package. */
  private static Set<String> listedTypes() throws IOException {
    String page = Files.readString(Path.of("../docs/guide.md"));
    String section = page.substring(page.indexOf("\n## Public types\n"));
    String heading = "";
    Set<String> types = new TreeSet<>();
    for (String line : section.lines().toList()) {
      Matcher headed = HEADING.matcher(line);
      Matcher row = ROW.matcher(line);
      if (headed.matches()) {
        heading = headed.group(1);
      } else if (row.matches()) {
        String name = row.group(1);
        boolean isWhole = name.indexOf('.') >= 0;
        assertTrue(isWhole || heading.matches("`[\\w.]+`"), line);
        String type = isWhole ? name : heading.replace("`", "") + '.' + name;
        assertTrue(types.add(type), () -> "twice: " + type);
      }
    }
    return types;
  }
}
