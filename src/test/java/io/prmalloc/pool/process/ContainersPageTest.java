package io.prmalloc.pool.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
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

  private static Map<String, Object> manifest() throws IOException {
    return new Yaml().load(Files.readString(Path.of("../docs/operations/kubernetes.yaml")));
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

  /** Each object has only fields that Kubernetes knows; labels may have any name. */
  private static void assertKnown(String path, Object value) {
    String name = path.substring(path.lastIndexOf('.') + 1);
    if (value instanceof List<?> list) {
      list.forEach(one -> assertKnown(path, one));
    } else if (value instanceof Map<?, ?> map && !name.matches("labels|matchLabels")) {
      Set<String> known =
          FIELDS.entrySet().stream()
              .filter(entry -> ("." + path).endsWith("." + entry.getKey()))
              .max(Comparator.comparingInt(entry -> entry.getKey().length()))
              .orElseThrow(() -> new AssertionError("an object of no known kind: " + path))
              .getValue();
      map.forEach(
          (field, inner) -> {
            assertTrue(known.contains(field), () -> field + " of " + path + " is unknown");
            assertKnown(path.isEmpty() ? (String) field : path + "." + field, inner);
          });
    }
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
