package io.prmalloc;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.regex.Pattern;

/**
 * Checks the dependencies between the packages of the command line, from them into the library, and
 * what each may use from outside. Dependencies within the library are checked by its own test.
 */
@ArchTag("jdk-independent")
@AnalyzeClasses(
    packages = "io.prmalloc",
    importOptions = {DoNotIncludeTests.class, CliArchitectureTest.DoNotIncludeTestJars.class})
class CliArchitectureTest {

  /** Leaves out the library's tests where they come as a jar. Threading: any thread. */
  static final class DoNotIncludeTestJars implements ImportOption {

    private static final Pattern TEST_JAR = Pattern.compile(".*-tests\\.jar[!/].*");

    DoNotIncludeTestJars() {}

    @Override
    public boolean includes(Location location) {
      return !location.matches(TEST_JAR);
    }
  }

  private static final String[] OURS = {
    "io.prmalloc.cli..",
    "io.prmalloc.report..",
    "io.prmalloc.trace..",
    "io.prmalloc.tflite..",
    "io.prmalloc.onnx..",
    "io.prmalloc.model.."
  };

  @ArchTest
  static final ArchRule ARROWS_POINT_ONE_WAY =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("cli")
          .definedBy("io.prmalloc.cli..")
          .layer("report")
          .definedBy("io.prmalloc.report..")
          .layer("trace")
          .definedBy("io.prmalloc.trace..")
          .layer("tflite")
          .definedBy("io.prmalloc.tflite..")
          .layer("onnx")
          .definedBy("io.prmalloc.onnx..")
          .layer("model")
          .definedBy("io.prmalloc.model..")
          .layer("pool")
          .definedBy("io.prmalloc.pool..")
          .layer("recording")
          .definedBy("io.prmalloc.recording..")
          .layer("kept")
          .definedBy("io.prmalloc.kept..")
          .layer("lifetime")
          .definedBy("io.prmalloc.lifetime..")
          .layer("plan")
          .definedBy("io.prmalloc.plan..")
          .layer("root")
          .definedBy("io.prmalloc")
          .layer("os")
          .definedBy("io.prmalloc.internal.os..")
          .layer("for others")
          .definedBy(
              "io.prmalloc.netty",
              "io.prmalloc.arrow",
              "io.prmalloc.onnxruntime",
              "io.prmalloc.djl",
              "io.prmalloc.micrometer",
              "io.prmalloc.tensor..",
              "io.prmalloc.internal.jfr")
          .whereLayer("cli")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("report")
          .mayOnlyBeAccessedByLayers("cli")
          .whereLayer("trace")
          .mayOnlyBeAccessedByLayers("report", "cli")
          .whereLayer("tflite")
          .mayOnlyBeAccessedByLayers("trace", "cli")
          .whereLayer("onnx")
          .mayOnlyBeAccessedByLayers("trace", "cli")
          .whereLayer("model")
          .mayOnlyBeAccessedByLayers("tflite", "onnx", "trace", "cli")
          .whereLayer("model")
          .mayOnlyAccessLayers("plan")
          .whereLayer("cli")
          .mayOnlyAccessLayers(
              "report",
              "trace",
              "tflite",
              "onnx",
              "model",
              "pool",
              "recording",
              "kept",
              "lifetime",
              "plan",
              "root",
              "os")
          .whereLayer("report")
          .mayOnlyAccessLayers("trace", "pool", "kept", "lifetime", "plan", "root", "os")
          .whereLayer("trace")
          .mayOnlyAccessLayers(
              "tflite",
              "onnx",
              "model",
              "pool",
              "recording",
              "kept",
              "lifetime",
              "plan",
              "root",
              "os")
          .whereLayer("tflite")
          .mayOnlyAccessLayers("model", "plan", "os")
          .whereLayer("onnx")
          .mayOnlyAccessLayers("model", "plan");

  @ArchTest
  static final ArchRule NO_CYCLES =
      SlicesRuleDefinition.slices()
          .matching("io.(prmalloc..)")
          .should()
          .beFreeOfCycles()
          .ignoreDependency(not(resideInAnyPackage(OURS)), alwaysTrue())
          // A lane is one of several in which a replay runs, and knows its options.
          .ignoreDependency(
              resideInAPackage("io.prmalloc.trace.replay.lane"),
              resideInAPackage("io.prmalloc.trace.replay"));

  @ArchTest
  static final ArchRule NETTY_STAYS_WITH_THE_REPLAYS =
      noClasses()
          .that()
          .resideInAnyPackage(OURS)
          .and()
          .resideOutsideOfPackage("io.prmalloc.trace.replay.lane")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.netty..");

  /** What the library's adapters are for, and its events. */
  @ArchTest
  static final ArchRule NOTHING_IS_NEEDED_THAT_THE_LIBRARY_KEEPS_APART =
      noClasses()
          .that()
          .resideInAnyPackage(OURS)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "org.apache.arrow..", "ai.onnxruntime..", "ai.djl..", "io.micrometer..", "jdk.jfr..");

  @ArchTest
  static final ArchRule PICOCLI_STAYS_WITH_THE_COMMAND_LINE =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.prmalloc.cli..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("picocli..");

  @ArchTest
  static final ArchRule PROTOBUF_STAYS_WITH_ITS_READER =
      noClasses()
          .that()
          .resideInAnyPackage(OURS)
          .and()
          .resideOutsideOfPackage("io.prmalloc.onnx..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.google.protobuf..");

  @ArchTest
  static final ArchRule FLATBUFFERS_STAYS_WITH_ITS_READER =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.prmalloc.tflite..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.google.flatbuffers..");
}
