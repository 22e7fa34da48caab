package io.prmalloc.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prmalloc.fault.InjectionPoints.Fault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Throws an error at points of the pool's code, and checks that nothing is lost and that the pool
 * goes on. {@code proof.fault.every=1} throws at all points, 3 at every third, and 0, the default,
 * at about three of each scenario. With {@code proof.fault.paths=true} only the first of the points
 * counts that the same calls lead to. {@code proof.fault.only} names the scenario, the fault, or a
 * part of both; without it the faults are an exhausted heap and exceptions of users' code. A
 * scenario whose name ends in the name of a thread of the pool's counts that thread's points alone;
 * the others count those of the thread of the user. See {@code docs/concurrency.md}.
 */
class FaultInjectionTest {

  /** At most so many points of a scenario and a fault in short form. */
  private static final int SHORT_POINTS = 3;

  private static final int EVERY = Integer.getInteger("proof.fault.every", 0);
  private static final boolean PATHS = Boolean.getBoolean("proof.fault.paths");
  private static final String ONLY = System.getProperty("proof.fault.only", "");

  /** What must do no harm at any point. */
  private static final Set<Fault> HARMLESS = Set.of(Fault.OUT_OF_MEMORY, Fault.CHECKED_EXCEPTION);

  /** Kept, so that its level stays. */
  private static final Logger LOGGER = Logger.getLogger("io.prmalloc");

  private static Level before;

  private static final int FRAMES_SHOWN = 8;

  @BeforeAll
  static void logNothing() {
    before = LOGGER.getLevel();
    LOGGER.setLevel(Level.OFF);
  }

  @AfterAll
  static void logAgain() {
    LOGGER.setLevel(before);
  }

  @TestFactory
  Stream<DynamicTest> shouldGoOn() throws Exception {
    Path directory = Files.createTempDirectory("fault");
    Map<String, Supplier<FaultScenario>> scenarios = scenarios(directory);
    return scenarios.entrySet().stream()
        .flatMap(
            scenario ->
                Arrays.stream(Fault.values())
                    .filter(fault -> isWanted(scenario.getKey(), fault))
                    .map(
                        fault ->
                            DynamicTest.dynamicTest(
                                scenario.getKey() + " " + fault,
                                () -> check(scenario.getKey(), scenario.getValue(), fault))))
        .onClose(() -> delete(directory));
  }

  private static boolean isWanted(String scenario, Fault fault) {
    if (ONLY.isEmpty()) {
      return HARMLESS.contains(fault);
    }
    // Nobody stops a thread of the pool's, and its stack is empty when it begins.
    boolean possible = HARMLESS.contains(fault) || !scenario.contains(PoolScenarios.ON);
    return possible && (scenario + " " + fault).contains(ONLY);
  }

  private static void delete(Path directory) {
    try {
      Files.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @SuppressWarnings("unchecked") // what the method of that name returns
  private static Map<String, Supplier<FaultScenario>> scenarios(Path directory) throws Exception {
    ClassLoader loader = new InjectingLoader(FaultInjectionTest.class.getClassLoader());
    Method all =
        loader.loadClass(PoolScenarios.class.getName()).getDeclaredMethod("all", Path.class);
    all.setAccessible(true);
    return (Map<String, Supplier<FaultScenario>>) all.invoke(null, directory);
  }

  private static void check(String name, Supplier<FaultScenario> scenarios, Fault fault)
      throws Exception {
    // Loads and initialises what is needed.
    run(scenarios.get(), fault, -1, only(name));
    FaultScenario counted = scenarios.get();
    counted.prepare();
    InjectionPoints.count(fault, only(name), PATHS);
    try {
      counted.work();
    } finally {
      InjectionPoints.disarm();
    }
    List<Integer> points = InjectionPoints.points();
    counted.check();
    Map<String, List<Integer>> failures = new TreeMap<>();
    int every = EVERY > 0 ? EVERY : Math.max(1, points.size() / SHORT_POINTS);
    int runs = 0;
    for (int i = 0; i < points.size(); i += every) {
      int point = points.get(i);
      String failure = run(scenarios.get(), fault, point, only(name));
      if (failure != null) {
        failures.computeIfAbsent(failure, none -> new ArrayList<>()).add(point);
      }
      runs++;
    }
    assertEquals("", report(failures), name + ", " + fault + ": " + runs + " runs");
  }

  /** Whose points count: of the thread that a scenario names, or of the one that runs it. */
  private static Predicate<Thread> only(String name) {
    if (name.contains("another thread")) {
      return any -> true;
    }
    int named = name.indexOf(PoolScenarios.ON);
    if (named < 0) {
      Thread caller = Thread.currentThread();
      return thread -> thread == caller;
    }
    String wanted = name.substring(named + PoolScenarios.ON.length());
    return thread -> thread.getName().equals(wanted);
  }

  /** What does not hold, and where it was injected; null if all holds. */
  private static String run(FaultScenario scenario, Fault fault, int point, Predicate<Thread> only)
      throws Exception {
    scenario.prepare();
    InjectionPoints.arm(fault, point, only);
    Throwable seen = null;
    try {
      scenario.work();
    } catch (Throwable e) {
      seen = e;
    } finally {
      InjectionPoints.disarm();
    }
    Throwable thrown = InjectionPoints.thrown();
    try {
      scenario.check();
      if (seen != null && !comesOf(seen, thrown)) {
        return frames(seen) + "\n  instead of\n" + frames(thrown);
      }
      return null;
    } catch (Throwable e) {
      String what = e instanceof AssertionError ? e.getMessage() : e + "\n" + frames(e);
      return what.replaceAll("[0-9]{3,}", "N") + "\n  after" + frames(thrown);
    }
  }

  private static boolean comesOf(Throwable seen, Throwable thrown) {
    for (Throwable cause = seen; cause != null; cause = cause.getCause()) {
      if (cause == thrown) {
        return true;
      }
    }
    return false;
  }

  private static String frames(Throwable thrown) {
    if (thrown == null) {
      return " nothing";
    }
    return " "
        + thrown
        + Arrays.stream(thrown.getStackTrace())
            .filter(frame -> InjectingLoader.isInstrumented(frame.getClassName()))
            .limit(FRAMES_SHOWN)
            .map(
                frame ->
                    "\n    "
                        + frame.getClassName().replace("io.prmalloc.", "")
                        + "."
                        + frame.getMethodName()
                        + ":"
                        + frame.getLineNumber())
            .collect(Collectors.joining());
  }

  private static String report(Map<String, List<Integer>> failures) {
    return failures.entrySet().stream()
        .map(
            entry ->
                "\n"
                    + entry.getValue().size()
                    + " at "
                    + entry.getValue().get(0)
                    + ": "
                    + entry.getKey())
        .collect(Collectors.joining());
  }
}
