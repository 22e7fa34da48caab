package io.prmalloc.pool.race;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.openjdk.jcstress.Options;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.TestInfo;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.runners.ForkedTestConfig;
import org.openjdk.jcstress.infra.runners.Runner;
import org.openjdk.jcstress.infra.runners.TestConfig;
import org.openjdk.jcstress.infra.runners.TestList;
import org.openjdk.jcstress.os.AffinityMode;
import org.openjdk.jcstress.os.NodeType;
import org.openjdk.jcstress.os.SchedulingClass;

/**
 * Runs races in this JVM, one after the other. jcstress's own main class starts a JVM for each race
 * and setting, which takes far longer than a short race does.
 */
public final class JcstressMain {

  private JcstressMain() {}

  /**
   * Runs the races and writes a line for each that passed and several for each that did not. Ends
   * with 0 if all passed.
   *
   * @param arguments jcstress's options; those of the JVMs it would start mean nothing here
   */
  public static void main(String[] arguments) throws Exception {
    Options options = new Options(arguments);
    if (!options.parse()) {
      System.exit(2);
    }
    Pattern selected = Pattern.compile(options.getTestFilter());
    boolean passed = true;
    for (String race : new TreeSet<>(TestList.tests())) {
      if (selected.matcher(race).find()) {
        passed &= passes(race, run(options, TestList.getInfo(race)));
      }
    }
    System.exit(passed ? 0 : 1);
  }

  private static boolean passes(String race, TestResult result) {
    // A race without samples shows nothing.
    if (result.status() == Status.NORMAL
        && result.grading().isPassed
        && result.getTotalCount() > 0) {
      System.out.println(race + " passed, samples: " + result.getTotalCount());
      return true;
    }
    System.out.println(race + " FAILED: " + result.status());
    List<String> lines = new ArrayList<>(result.getMessages());
    for (String outcome : result.getStateKeys()) {
      lines.add(outcome + ", samples: " + result.getCount(outcome));
    }
    lines.addAll(result.grading().failureMessages);
    lines.forEach(line -> System.out.println("  " + line));
    return false;
  }

  private static TestResult run(Options options, TestInfo race) throws Exception {
    SchedulingClass anywhere =
        new SchedulingClass(AffinityMode.NONE, race.threads(), NodeType.PACKAGE);
    TestConfig config = new TestConfig(options, race, 0, List.of(), 0, anywhere);
    Object runner =
        Class.forName(race.generatedRunner())
            .getConstructor(ForkedTestConfig.class)
            .newInstance(new ForkedTestConfig(config));
    TestResult result = ((Runner<?>) runner).run();
    result.setConfig(config);
    return result;
  }
}
