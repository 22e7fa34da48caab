package io.prmalloc.pool.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.SubAllocator;
import io.prmalloc.internal.os.ChildJvm;
import io.prmalloc.pool.TensorPoolAllocator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yaml.snakeyaml.Yaml;

/** The statements of {@code docs/containers.md}: the sizing rule, and the manifest. */
class ContainersPageTest {

  private static final long MIB = 1 << 20;

  /** Direct buffers of the JVM and of the test itself. */
  private static final long OTHER_BYTES = MIB;

  /** For the rest of the process, as the page says. */
  private static final long REST_BYTES = 512 * MIB;

  @TempDir private Path directory;

  private static SizedMain.Need need() {
    try (TensorPoolAllocator pool = SizedMain.builder().build()) {
      return SizedMain.serve(pool);
    }
  }

  private String run(String... flags) throws Exception {
    ChildJvm.Result result = new ChildJvm(directory).flags(flags).run(SizedMain.class);
    assertEquals(0, result.exitCode(), result.errors());
    return result.output();
  }

  @Test
  void shouldServeInALimitOfTheSubAllocatorByTheRule() {
    SizedMain.Need need = need();
    assertTrue(need.arena() > 10 * MIB && need.inFlight() > 10 * MIB, need::toString);
    try (TensorPoolAllocator pool =
        SizedMain.builder().subAllocator(SubAllocator.direct(need.bytes())).build()) {
      SizedMain.serve(pool);
      assertTrue(pool.poolStats().hits() > 0);
      assertTrue(pool.stats().peakBytesReserved() <= need.bytes());
    }
  }

  @Test
  void shouldServeInAJvmOfTheSizeByTheRuleAndNotOfMuchLess() throws Exception {
    SizedMain.Need need = need();
    String flag = "-XX:MaxDirectMemorySize=";
    assertEquals("served", run(flag + (need.bytes() + OTHER_BYTES)));
    assertEquals("refused", run(flag + need.inFlight() / 2));
  }

  @Test
  void shouldServeWhereJnaCannotUnpackItsLibrary() throws Exception {
    assertEquals("served", run("-Djna.tmpdir=/proc/none", "-Djna.nosys=true"));
  }

  // ---- the manifest

  /** Fields of the objects that it uses, of the reference of Kubernetes's API. */
  private static final Map<String, Set<String>> FIELDS =
      Map.ofEntries(
          Map.entry("", Set.of("apiVersion", "kind", "metadata", "spec")),
          Map.entry("metadata", Set.of("name", "labels", "namespace", "annotations")),
          Map.entry("spec", Set.of("replicas", "selector", "template", "strategy")),
          Map.entry("selector", Set.of("matchLabels", "matchExpressions")),
          Map.entry("template", Set.of("metadata", "spec")),
          Map.entry(
              "template.spec",
              Set.of("securityContext", "terminationGracePeriodSeconds", "containers", "volumes")),
          Map.entry(
              "template.spec.securityContext",
              Set.of("runAsNonRoot", "runAsUser", "runAsGroup", "fsGroup", "seccompProfile")),
          Map.entry("seccompProfile", Set.of("type", "localhostProfile")),
          Map.entry(
              "containers",
              Set.of(
                  "name",
                  "image",
                  "env",
                  "ports",
                  "resources",
                  "securityContext",
                  "startupProbe",
                  "readinessProbe",
                  "livenessProbe",
                  "volumeMounts")),
          Map.entry("env", Set.of("name", "value", "valueFrom")),
          Map.entry("ports", Set.of("name", "containerPort", "protocol")),
          Map.entry("resources", Set.of("requests", "limits")),
          Map.entry("requests", Set.of("cpu", "memory")),
          Map.entry("limits", Set.of("cpu", "memory")),
          Map.entry(
              "containers.securityContext",
              Set.of("allowPrivilegeEscalation", "readOnlyRootFilesystem", "capabilities")),
          Map.entry("capabilities", Set.of("add", "drop")),
          Map.entry("startupProbe", Set.of("httpGet", "periodSeconds", "failureThreshold")),
          Map.entry("readinessProbe", Set.of("httpGet", "periodSeconds", "failureThreshold")),
          Map.entry("livenessProbe", Set.of("httpGet", "periodSeconds", "failureThreshold")),
          Map.entry("httpGet", Set.of("path", "port", "scheme", "httpHeaders")),
          Map.entry("volumeMounts", Set.of("name", "mountPath", "readOnly", "subPath")),
          Map.entry("volumes", Set.of("name", "emptyDir", "configMap")),
          Map.entry("emptyDir", Set.of("medium", "sizeLimit")));

  /** Fields that must be there. */
  private static final Map<String, Set<String>> REQUIRED =
      Map.ofEntries(
          Map.entry("", Set.of("apiVersion", "kind", "metadata", "spec")),
          Map.entry("spec", Set.of("selector", "template")),
          Map.entry("template.spec", Set.of("containers")),
          Map.entry("seccompProfile", Set.of("type")),
          Map.entry("containers", Set.of("name", "image")),
          Map.entry("env", Set.of("name")),
          Map.entry("ports", Set.of("containerPort")),
          Map.entry("httpGet", Set.of("port")),
          Map.entry("volumeMounts", Set.of("name", "mountPath")),
          Map.entry("volumes", Set.of("name")));

  /** Whose values are lists; those of other objects are none. */
  private static final Set<String> LISTS =
      Set.of("containers", "env", "ports", "drop", "add", "volumeMounts", "volumes");

  /** Whose values are whole numbers. */
  private static final Set<String> NUMBERS =
      Set.of(
          "replicas",
          "runAsUser",
          "runAsGroup",
          "fsGroup",
          "terminationGracePeriodSeconds",
          "containerPort",
          "periodSeconds",
          "failureThreshold");

  /** Whose values are true or false. */
  private static final Set<String> TRUTHS =
      Set.of("runAsNonRoot", "allowPrivilegeEscalation", "readOnlyRootFilesystem", "readOnly");

  /** Whose values are quantities, as {@code 2Gi}. */
  private static final Set<String> QUANTITIES = Set.of("cpu", "memory", "sizeLimit");

  private static String text() throws IOException {
    return Files.readString(Path.of("../docs/operations/kubernetes.yaml"));
  }

  private static Map<String, Object> manifest() throws IOException {
    return new Yaml().load(text());
  }

  /** Goes through maps by their fields; 0 is the first of a list. */
  private static Object at(Object from, String... fields) {
    Object found = from;
    for (String field : fields) {
      Object outer = found;
      found =
          found instanceof List<?> list
              ? list.get(Integer.parseInt(field))
              : ((Map<?, ?>) found).get(field);
      assertTrue(found != null, () -> field + " is missing in " + outer);
    }
    return found;
  }

  private static Object container(String... fields) throws IOException {
    return at(at(manifest(), "spec", "template", "spec", "containers", "0"), fields);
  }

  /** The entry of the longest name that the path ends with. */
  private static Set<String> fields(Map<String, Set<String>> of, String path) {
    return of.entrySet().stream()
        .filter(entry -> entry.getKey().isEmpty() ? path.isEmpty() : isEnd(entry.getKey(), path))
        .max(Comparator.comparingInt(entry -> entry.getKey().length()))
        .map(Map.Entry::getValue)
        .orElse(Set.of());
  }

  private static boolean isEnd(String name, String path) {
    return ("." + path).endsWith("." + name);
  }

  /** Each object has the fields that it must have, and only those that Kubernetes knows. */
  private static void assertKnown(String path, Object value) {
    String name = path.substring(path.lastIndexOf('.') + 1);
    if (value instanceof List<?> list) {
      assertTrue(LISTS.contains(name), () -> path + " is no list: " + value);
      list.forEach(one -> assertKnownOne(path, name, one));
    } else {
      assertTrue(!LISTS.contains(name), () -> path + " is a list, not " + value);
      assertKnownOne(path, name, value);
    }
  }

  private static void assertKnownOne(String path, String name, Object value) {
    if (name.matches("labels|matchLabels")) {
      // which may have any name
      Map<?, ?> labels = assertInstanceOf(Map.class, value, path);
      labels.values().forEach(label -> assertInstanceOf(String.class, label, path));
    } else if (value instanceof Map<?, ?> map) {
      Set<String> known = fields(FIELDS, path);
      assertTrue(!known.isEmpty(), () -> "an object of no known kind: " + path);
      map.keySet().forEach(field -> assertTrue(known.contains(field), () -> path + "." + field));
      assertTrue(map.keySet().containsAll(fields(REQUIRED, path)), () -> path + " has " + map);
      map.forEach(
          (field, inner) -> assertKnown(path.isEmpty() ? "" + field : path + "." + field, inner));
    } else {
      assertTrue(fields(FIELDS, path).isEmpty(), () -> path + " is an object, not " + value);
      assertTrue(isOfItsType(name, value), () -> path + " is " + value);
    }
  }

  private static boolean isOfItsType(String name, Object value) {
    if (NUMBERS.contains(name)) {
      return value instanceof Integer number && number >= 0;
    }
    if (QUANTITIES.contains(name)) {
      return value instanceof Number || value.toString().matches("[0-9.]+([KMGTPE]i|[numkMGTPE])?");
    }
    return TRUTHS.contains(name) ? value instanceof Boolean : value instanceof String;
  }

  private static long bytes(String quantity) {
    Matcher matcher = Pattern.compile("(\\d+)(Gi|g|Mi|m)").matcher(quantity);
    assertTrue(matcher.matches(), quantity);
    return Long.parseLong(matcher.group(1))
        * (matcher.group(2).toLowerCase(Locale.ROOT).startsWith("g") ? 1024 : 1)
        * MIB;
  }

  private static long flag(String options, String name) {
    Matcher matcher = Pattern.compile(Pattern.quote(name) + "(\\w+)").matcher(options);
    assertTrue(matcher.find(), () -> name + " is not in " + options);
    return bytes(matcher.group(1));
  }

  @Test
  void shouldHaveOnlyFieldsThatKubernetesKnowsAndWhatItWants() throws IOException {
    Map<String, Object> manifest = manifest();
    assertKnown("", manifest);
    assertEquals("apps/v1 Deployment", manifest.get("apiVersion") + " " + manifest.get("kind"));
    assertTrue(
        ((String) at(manifest, "metadata", "name")).matches("[a-z0-9]([-a-z0-9]*[a-z0-9])?"));
    assertEquals(
        at(manifest, "spec", "selector", "matchLabels"),
        at(manifest, "spec", "template", "metadata", "labels"));
    assertEquals(
        container("volumeMounts", "0", "name"),
        at(manifest, "spec", "template", "spec", "volumes", "0", "name"));
    for (String probe : List.of("startupProbe", "readinessProbe", "livenessProbe")) {
      assertEquals(container("ports", "0", "name"), container(probe, "httpGet", "port"));
    }
    assertTrue(((String) container("image")).contains(":"));
  }

  /** What the schemas of Kubernetes's API refuse. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      textBlock =
          """
          containerPort: 8080,           containerPort: eighty
          readOnlyRootFilesystem,        readOnlyRootFileSystem
          periodSeconds: 2,              periodSeconds: two
          sizeLimit: 64Mi,               sizeLimit: [1]
          sizeLimit: 64Mi,               sizeLimit: much
          replicas: 2,                   replicas: two
          runAsNonRoot: true,            runAsNonRoot: 1
          mountPath: /tmp,               mountPath: 7
          drop: [ALL],                   drop: ALL
          - name: server,                - image2: server
          capabilities:,                 capability:
          """)
  void shouldNoticeWhatKubernetesRefuses(String right, String wrong) throws IOException {
    assertTrue(text().contains(right), right);
    Object manifest = new Yaml().load(text().replaceFirst(Pattern.quote(right), wrong));
    assertThrows(AssertionError.class, () -> assertKnown("", manifest));
  }

  @Test
  void shouldBeSizedByTheRule() throws IOException {
    String options = (String) container("env", "0", "value");
    long limit = bytes((String) container("resources", "limits", "memory"));
    long heap = flag(options, "-Xmx");
    long direct = flag(options, "-XX:MaxDirectMemorySize=");
    assertTrue(heap + direct + REST_BYTES <= limit, () -> heap + " " + direct + " " + limit);
    assertEquals(limit, bytes((String) container("resources", "requests", "memory")));
  }

  @Test
  void shouldRunAsThePageSays() throws IOException {
    Object pod = at(manifest(), "spec", "template", "spec", "securityContext");
    assertEquals(true, at(pod, "runAsNonRoot"));
    assertEquals("RuntimeDefault", at(pod, "seccompProfile", "type"));
    assertEquals(true, container("securityContext", "readOnlyRootFilesystem"));
    assertEquals(false, container("securityContext", "allowPrivilegeEscalation"));
    assertEquals(List.of("ALL"), container("securityContext", "capabilities", "drop"));
    String temporary = (String) container("volumeMounts", "0", "mountPath");
    assertTrue(
        ((String) container("env", "0", "value")).contains("-Djna.tmpdir=" + temporary + "/"));
  }
}
