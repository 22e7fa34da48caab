package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/**
 * The metadata for native images, checked without {@code native-image}: all that it names exists,
 * and it has all that the sources look up by name.
 */
class NativeImageMetadataTest {

  private static final String FILE =
      "META-INF/native-image/io.prmalloc/prmalloc/reachability-metadata.json";

  private static final Path SOURCES = Path.of("main/java/io/prmalloc");

  /**
   * What some JDKs lack: the pool does without there. The compiler of 17 makes a class for a switch
   * over an enum, that of 25 need not.
   */
  private static final Pattern NOT_EVERYWHERE =
      Pattern.compile(
          "java\\.lang\\.foreign\\..*|jdk\\.internal\\..*|java\\.lang\\.VirtualThread"
              + "|io\\.prmalloc\\..*\\$\\d+");

  private static final Map<String, Class<?>> PRIMITIVES =
      Map.of(
          "int",
          int.class,
          "long",
          long.class,
          "void",
          void.class,
          "boolean",
          boolean.class,
          "byte",
          byte.class);

  /** Look-ups of classes, of members, and of methods by handles. */
  private static final Pattern TYPE = Pattern.compile("Class\\.forName\\(\\s*\"([^\"]+)\"");

  private static final Pattern MEMBER =
      Pattern.compile(
          "(?:getMethod|getField|getDeclaredField|getDeclaredMethod)\\(\\s*\"(\\w+)\""
              + "|(?:findStatic|findVirtual|findVarHandle|bind)\\(\\s*[\\w.]+,\\s*\"(\\w+)\"");

  private static JsonNode metadata() throws IOException {
    try (InputStream file =
        NativeImageMetadataTest.class.getClassLoader().getResourceAsStream(FILE)) {
      return JsonMapper.builder().build().readTree(file);
    }
  }

  private static List<JsonNode> types() throws IOException {
    return StreamSupport.stream(metadata().path("reflection").spliterator(), false).toList();
  }

  private static Set<String> names() throws IOException {
    return types().stream()
        .map(entry -> entry.path("type").asText())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Class<?> type(String name) throws ClassNotFoundException {
    if (name.endsWith("[]")) {
      return type(name.substring(0, name.length() - 2)).arrayType();
    }
    Class<?> primitive = PRIMITIVES.get(name);
    return primitive != null
        ? primitive
        : Class.forName(name, false, NativeImageMetadataTest.class.getClassLoader());
  }

  @Test
  void shouldNameOnlyWhatExists() throws Exception {
    int checked = 0;
    for (JsonNode entry : types()) {
      JsonNode name = entry.path("type");
      for (JsonNode proxied : name.path("proxy")) {
        assertTrue(type(proxied.asText()).isInterface(), proxied::asText);
      }
      if (name.isTextual() && exists(name.asText())) {
        assertMembersExist(type(name.asText()), entry);
        checked++;
      }
    }
    assertTrue(checked >= 50, "only " + checked);
  }

  private static boolean exists(String name) throws ClassNotFoundException {
    try {
      return type(name) != null;
    } catch (ClassNotFoundException missing) {
      if (NOT_EVERYWHERE.matcher(name).matches()) {
        return false;
      }
      throw missing;
    }
  }

  private static void assertMembersExist(Class<?> type, JsonNode entry) throws Exception {
    // What a Java hides or lacks is looked up in vain there, as the library expects.
    boolean mayLack = !type.getName().contains("prmalloc") && !type.getName().startsWith("ai.");
    for (JsonNode field : entry.path("fields")) {
      if (!mayLack) {
        assertNotNull(type.getDeclaredField(field.path("name").asText()));
      }
    }
    for (JsonNode method : entry.path("methods")) {
      Class<?>[] parameters = new Class<?>[method.path("parameterTypes").size()];
      for (int i = 0; i < parameters.length; i++) {
        parameters[i] = type(method.path("parameterTypes").get(i).asText());
      }
      String name = method.path("name").asText();
      if (name.equals("<init>")) {
        assertNotNull(type.getDeclaredConstructor(parameters));
      } else if (!mayLack || !name.equals("isNativeAccessEnabled")) {
        assertNotNull(type.getDeclaredMethod(name, parameters));
      }
    }
  }

  @Test
  void shouldNameEveryTypeAndMemberThatTheSourcesLookUp() throws Exception {
    Set<String> names = names();
    Set<String> members =
        types().stream()
            .flatMap(
                entry ->
                    Stream.concat(
                        StreamSupport.stream(entry.path("fields").spliterator(), false),
                        StreamSupport.stream(entry.path("methods").spliterator(), false)))
            .map(member -> member.path("name").asText())
            .collect(Collectors.toSet());
    int lookUps = 0;
    for (String source : sources()) {
      Matcher type = TYPE.matcher(source);
      while (type.find()) {
        assertTrue(names.contains(type.group(1)), type.group(1));
        lookUps++;
      }
      Matcher member = MEMBER.matcher(source);
      while (member.find()) {
        String name = member.group(1) != null ? member.group(1) : member.group(2);
        assertTrue(members.contains(name), name);
        lookUps++;
      }
    }
    assertTrue(lookUps >= 40, "only " + lookUps);
  }

  private static List<String> sources() throws IOException {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .map(NativeImageMetadataTest::read)
          .toList();
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void shouldNameEveryClassThatAPoolInitializesEarly() throws Exception {
    String source = Files.readString(SOURCES.resolve("pool/EarlyInitialization.java"));
    Matcher name =
        Pattern.compile("\"([^\"]+)\"")
            .matcher(source.substring(source.indexOf("NAMES = {"), source.indexOf("};")));
    Set<String> names = names();
    int found = 0;
    while (name.find()) {
      assertTrue(names.contains("io.prmalloc." + name.group(1)), name.group(1));
      found++;
    }
    assertTrue(found > 20, "only " + found);
  }

  @Test
  void shouldNameEveryNativeMethodThatJnaBinds() throws Exception {
    Path classes =
        Path.of(Allocator.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Set<String> natives = new TreeSet<>();
    try (Stream<Path> files = Files.walk(classes.resolve("io/prmalloc"))) {
      for (Path file : files.filter(file -> file.toString().endsWith(".class")).toList()) {
        String path = classes.relativize(file).toString();
        String name = path.substring(0, path.length() - ".class".length()).replace('/', '.');
        if (!name.endsWith("package-info")) {
          Arrays.stream(type(name).getDeclaredMethods())
              .filter(method -> Modifier.isNative(method.getModifiers()))
              .forEach(method -> natives.add(name + "." + method.getName()));
        }
      }
    }
    Set<String> named =
        types().stream()
            .filter(entry -> entry.path("jniAccessible").asBoolean())
            .flatMap(
                entry ->
                    StreamSupport.stream(entry.path("methods").spliterator(), false)
                        .map(
                            method ->
                                entry.path("type").asText() + "." + method.path("name").asText()))
            .filter(name -> !name.endsWith(".callback"))
            .collect(Collectors.toCollection(TreeSet::new));
    assertFalse(natives.isEmpty());
    assertEquals(natives, named);
  }

  @Test
  void shouldNameResourcesThatAreThere() throws Exception {
    for (JsonNode resource : metadata().path("resources")) {
      String name = resource.path("glob").asText().replace("*", "linux-x86-64");
      assertNotNull(getClass().getClassLoader().getResource(name), name);
    }
  }
}
