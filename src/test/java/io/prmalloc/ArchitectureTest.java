package io.prmalloc;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.CompositeArchRule;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Checks which package may depend on which, and what each may use from outside. */
@ArchTag("jdk-independent")
@AnalyzeClasses(packages = "io.prmalloc", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

  private static final String[] ADAPTERS = {
    "io.prmalloc.netty",
    "io.prmalloc.arrow",
    "io.prmalloc.onnxruntime",
    "io.prmalloc.djl",
    "io.prmalloc.redis"
  };

  private static final String INTERNAL = "io.prmalloc.internal.";

  /** The rooms inside; each may use those before it, and what users see. */
  private static final List<String> ROOMS =
      List.of(
          "os",
          "jfr",
          "block",
          "memory",
          "freelist",
          "slab",
          "extent",
          "arena",
          "observe",
          "planner.index",
          "planner",
          "steps",
          "poolplan",
          "lifecycle");

  private static final Set<String> POOL_TERMS =
      new TreeSet<>(Set.of("Leak", "LeakDetection", "PoolPolicies", "Reason", "StepStats"));

  @ArchTest
  static void shouldUseOnlyTheRoomsBeforeWhenInside(JavaClasses classes) {
    for (int room = 1; room < ROOMS.size(); room++) {
      noClasses()
          .that()
          .resideInAPackage(INTERNAL + ROOMS.get(room - 1))
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              ROOMS.stream().skip(room).map(INTERNAL::concat).toArray(String[]::new))
          .check(classes);
    }
  }

  /** What users see of the pool may be told inside: enums and records. What serves them may not. */
  @ArchTest
  static void shouldKnowOnlyTermsOfThePoolWhenInside(JavaClasses classes) {
    Set<String> known = new TreeSet<>();
    for (JavaClass type : classes) {
      if (type.getPackageName().startsWith(INTERNAL)) {
        type.getDirectDependenciesFromSelf().stream()
            .map(Dependency::getTargetClass)
            .filter(used -> used.getPackageName().equals("io.prmalloc.pool"))
            .forEach(used -> known.add(used.getSimpleName()));
      }
    }
    assertEquals(POOL_TERMS, known);
  }

  @ArchTest
  static void shouldHaveARoomInTheListWhenInside(JavaClasses classes) {
    classes.stream()
        .map(JavaClass::getPackageName)
        .filter(name -> name.startsWith(INTERNAL))
        .forEach(name -> assertTrue(ROOMS.contains(name.substring(INTERNAL.length())), name));
  }

  /** A user's module cannot name what is inside, so nothing that it can see may. */
  @ArchTest
  static void shouldNameNothingInsideWhenUsersSeeIt(JavaClasses classes) {
    Set<String> leaks = new TreeSet<>();
    for (JavaClass owner : classes) {
      if (isSeen(owner)) {
        namedBy(owner)
            .filter(named -> named.getPackageName().startsWith(INTERNAL))
            .forEach(named -> leaks.add(owner.getName() + " names " + named.getName()));
      }
    }
    assertEquals(Set.of(), leaks);
  }

  private static boolean isSeen(JavaClass type) {
    return !type.getPackageName().startsWith(INTERNAL)
        && isPublicOrProtected(type.getModifiers())
        && type.getEnclosingClass().map(ArchitectureTest::isSeen).orElse(true);
  }

  private static boolean isPublicOrProtected(Set<JavaModifier> modifiers) {
    return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
  }

  /** The types in the header of a class, and in the declarations of the members that users see. */
  private static Stream<JavaClass> namedBy(JavaClass owner) {
    Stream<JavaType> header =
        Stream.of(
                owner.getSuperclass().stream(),
                owner.getInterfaces().stream(),
                owner.getTypeParameters().stream())
            .flatMap(types -> types);
    Stream<JavaType> fields =
        owner.getFields().stream()
            .filter(field -> isPublicOrProtected(field.getModifiers()))
            .map(JavaField::getType);
    Stream<JavaType> units =
        owner.getCodeUnits().stream()
            .filter(unit -> isPublicOrProtected(unit.getModifiers()))
            .flatMap(ArchitectureTest::namedBy);
    return Stream.of(header, fields, units)
        .flatMap(types -> types)
        .flatMap(type -> type.getAllInvolvedRawTypes().stream())
        .map(JavaClass::getBaseComponentType);
  }

  private static Stream<JavaType> namedBy(JavaCodeUnit unit) {
    return Stream.of(
            Stream.of(unit.getReturnType()),
            unit.getParameterTypes().stream(),
            unit.getTypeParameters().stream(),
            unit.getExceptionTypes().stream())
        .flatMap(types -> types);
  }

  /** Its threads outlive us, and the context that they were made in keeps our class loader. */
  @ArchTest
  static void shouldNotUseTheCommonPool(JavaClasses classes) {
    noClasses()
        .that()
        .resideInAnyPackage("io.prmalloc..")
        .should()
        .callMethodWhere(
            describe(
                "uses the common pool",
                call ->
                    call.getName().startsWith("parallel")
                        || call.getName().equals("commonPool")
                        || (call.getName().endsWith("Async")
                            && call.getTargetOwner().getPackageName().startsWith("java."))))
        .check(classes);
  }

  @ArchTest
  static final ArchRule ARROWS_POINT_ONE_WAY =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
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
          .layer("wire")
          .definedBy("io.prmalloc.tensor.wire..")
          .layer("tensor")
          .definedBy("io.prmalloc.tensor")
          .layer("adapters")
          .definedBy(ADAPTERS)
          .layer("micrometer")
          .definedBy("io.prmalloc.micrometer")
          .layer("root")
          .definedBy("io.prmalloc")
          .layer("element")
          .definedBy("io.prmalloc.element")
          .whereLayer("micrometer")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("pool")
          .mayOnlyBeAccessedByLayers("adapters", "micrometer")
          .whereLayer("recording")
          .mayOnlyBeAccessedByLayers("pool")
          .whereLayer("lifetime")
          .mayOnlyBeAccessedByLayers("kept", "adapters", "micrometer", "pool")
          .whereLayer("kept")
          .mayOnlyBeAccessedByLayers("adapters", "pool")
          .whereLayer("plan")
          .mayOnlyBeAccessedByLayers("kept", "pool")
          .whereLayer("wire")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("tensor")
          .mayOnlyBeAccessedByLayers("wire")
          .whereLayer("adapters")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("element")
          .mayOnlyBeAccessedByLayers("root", "tensor", "wire")
          .whereLayer("root")
          .mayOnlyBeAccessedByLayers(
              "element", "tensor", "wire", "adapters", "micrometer", "lifetime", "plan", "pool");

  @ArchTest
  static final ArchRule NETTY_STAYS_WITH_ITS_ADAPTER =
      onlyTheAdapter(
          "io.prmalloc.netty",
          "io.netty..",
          // The handler that opens steps.
          "io.prmalloc.pool",
          "io.prmalloc.lifetime");

  @ArchTest
  static final ArchRule ARROW_STAYS_WITH_ITS_ADAPTER =
      onlyTheAdapter("io.prmalloc.arrow", "org.apache.arrow..");

  @ArchTest
  static final ArchRule ONNX_RUNTIME_STAYS_WITH_ITS_ADAPTER =
      onlyTheAdapter(
          "io.prmalloc.onnxruntime",
          "ai.onnxruntime..",
          // The pool inside the engine: its steps, and calls in both directions.
          "io.prmalloc.pool",
          "io.prmalloc.lifetime",
          "io.prmalloc.internal.os",
          "io.prmalloc.internal.jfr",
          "com.sun.jna..",
          "org.agrona..");

  @ArchTest
  static final ArchRule DJL_STAYS_WITH_ITS_ADAPTER = onlyTheAdapter("io.prmalloc.djl", "ai.djl..");

  @ArchTest
  static final ArchRule LETTUCE_STAYS_WITH_ITS_ADAPTER =
      onlyTheAdapter("io.prmalloc.redis", "io.lettuce..", "io.prmalloc.kept");

  @ArchTest
  static final ArchRule MICROMETER_STAYS_WITH_ITS_ADAPTER =
      onlyTheAdapter(
          "io.prmalloc.micrometer",
          "io.micrometer..",
          "io.prmalloc.pool",
          "io.prmalloc.lifetime",
          "io.prmalloc.internal.os");

  /**
   * The library is used by its adapter alone, and the adapter uses nothing but it, our face, and
   * what else it is said to need.
   */
  private static ArchRule onlyTheAdapter(String adapter, String library, String... more) {
    return CompositeArchRule.of(
            noClasses()
                .that()
                .resideOutsideOfPackage(adapter)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(library))
        .and(adapterAlone(adapter, library, more));
  }

  private static ArchRule adapterAlone(String adapter, String library, String... more) {
    return classes()
        .that()
        .resideInAPackage(adapter)
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            Stream.concat(Stream.of("java..", "io.prmalloc", adapter, library), Stream.of(more))
                .toArray(String[]::new));
  }

  @ArchTest
  static final ArchRule TENSORS_KNOW_ONLY_THE_PUBLIC_FACE =
      classes()
          .that()
          .resideInAPackage("io.prmalloc.tensor..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java..",
              "io.prmalloc",
              "io.prmalloc.element",
              "io.prmalloc.tensor..",
              "com.google.protobuf..");

  @ArchTest
  static final ArchRule PROTOBUF_STAYS_WITH_THE_WIRE =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.prmalloc.tensor.wire..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.google.protobuf..");

  /** What users see is made of what is inside, and that uses what users see. */
  @ArchTest
  static final ArchRule NO_CYCLES =
      SlicesRuleDefinition.slices()
          .matching("io.(prmalloc..)")
          .should()
          .beFreeOfCycles()
          .ignoreDependency(resideInAPackage("io.prmalloc.internal.."), alwaysTrue())
          // An allocator makes what has elements.
          .ignoreDependency(
              resideInAPackage("io.prmalloc"), resideInAPackage("io.prmalloc.element"));

  @ArchTest
  static final ArchRule THE_CORE_RUNS_ON_AGRONA_AND_JNA_ALONE =
      classes()
          .that()
          .resideInAnyPackage(
              "io.prmalloc",
              "io.prmalloc.element",
              "io.prmalloc.internal..",
              "io.prmalloc.lifetime..",
              "io.prmalloc.plan..",
              "io.prmalloc.pool..",
              "io.prmalloc.recording..",
              "io.prmalloc.tensor")
          .should()
          .onlyDependOnClassesThat()
          // The JDK's management lies in three packages.
          .resideInAnyPackage(
              "java..",
              "javax.management..",
              "com.sun.management..",
              "jdk.jfr..",
              "io.prmalloc..",
              "org.agrona..",
              "com.sun.jna..",
              "org.agrona..");

  @ArchTest
  static final ArchRule THE_RECORDER_STAYS_WITH_ITS_EVENTS =
      CompositeArchRule.of(
              noClasses()
                  .that()
                  .resideOutsideOfPackage("io.prmalloc.internal.jfr")
                  .should()
                  .dependOnClassesThat()
                  .resideInAPackage("jdk.jfr.."))
          .and(
              classes()
                  .that()
                  .resideInAPackage("io.prmalloc.internal.jfr")
                  .should()
                  .onlyDependOnClassesThat()
                  .resideInAnyPackage("java..", "jdk.jfr..", "io.prmalloc.internal.jfr"));

  @ArchTest
  static final ArchRule JNA_STAYS_WITH_THE_OPERATING_SYSTEM =
      noClasses()
          .that()
          .resideOutsideOfPackages("io.prmalloc.internal.os..", "io.prmalloc.onnxruntime")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.sun.jna..");

  /** Jackson's streaming reader and writer are for plans in files. */
  @ArchTest
  static final ArchRule JACKSON_STAYS_WITH_KEPT_PLANS =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.prmalloc.kept")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("com.fasterxml.jackson..");

  @ArchTest
  static final ArchRule WHAT_THE_COMMAND_LINE_USES_STAYS_THERE =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "com.fasterxml.jackson.databind..",
              "com.google.flatbuffers..",
              "me.tongfei..",
              "org.HdrHistogram..",
              "picocli..");
}
