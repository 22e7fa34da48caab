package io.prmalloc.probe;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips tests, with the reason, where the Maven build had no compiler to build the C library. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsProbe.Condition.class)
@interface NeedsProbe {

  // Not in Probe, which cannot be as much as named where its library is missing.

  /** Where the Maven build puts the library, or the reason why there is none. */
  Path DIRECTORY = Path.of(System.getProperty("probe.directory", "target/probe"));

  /** The library's name there. */
  String LIBRARY = "libprobe.so";

  /**
   * Looks at what the build left behind.
   *
   * <p>Threading: stateless.
   */
  final class Condition implements ExecutionCondition {

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return evaluate(System.getProperty("os.name", ""), DIRECTORY);
    }

    /**
     * Whether to run.
     *
     * @throws IllegalStateException if there is neither library nor reason: the build went wrong,
     *     and to skip would hide it
     */
    static ConditionEvaluationResult evaluate(String system, Path directory) {
      if (!system.equals("Linux")) {
        return ConditionEvaluationResult.disabled(
            "the C library is of Linux, and this is " + system);
      }
      Path reason = directory.resolve("no-library.txt");
      if (Files.exists(directory.resolve(LIBRARY))) {
        return ConditionEvaluationResult.enabled("the C library is there");
      }
      if (!Files.exists(reason)) {
        throw new IllegalStateException(
            "no C library in " + directory + ", nor a reason: build this module with Maven first");
      }
      try {
        return ConditionEvaluationResult.disabled(Files.readString(reason).strip());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
