package io.prmalloc.lifetime;

import java.util.Map;
import java.util.Properties;

/**
 * When a planner collects, and when it is satisfied. Steps are numbered from 0.
 *
 * <p>Each setting comes from {@code with…}, else from a system property, else from an environment
 * variable (DeepRec's names), else it is the default:
 *
 * <table>
 *   <caption>Settings</caption>
 *   <tr><th>system property</th><th>environment variable</th><th>default</th></tr>
 *   <tr><td>prmalloc.enableMemoryOptimization</td><td>ENABLE_MEMORY_OPTIMIZATION</td><td>true</td></tr>
 *   <tr><td>prmalloc.startStatisticStep</td><td>START_STATISTIC_STEP</td><td>100</td></tr>
 *   <tr><td>prmalloc.stableStatisticStep</td><td>STABLE_STATISTIC_STEP</td><td>10</td></tr>
 *   <tr><td>prmalloc.maxStatisticStep</td><td>MAX_STATISTIC_STEP</td><td>100</td></tr>
 *   <tr><td>prmalloc.stopStatisticStep</td><td>STOP_STATISTIC_STEP</td><td>none</td></tr>
 *   <tr><td>prmalloc.maxStatisticSeconds</td><td>MAX_STATISTIC_SECONDS</td><td>60</td></tr>
 *   <tr><td>prmalloc.retrySeconds</td><td>RETRY_SECONDS</td><td>1</td></tr>
 * </table>
 *
 * <p>Threading: immutable.
 *
 * @param enabled whether there is to be a plan at all
 * @param startStep the step with which collecting begins, from 0
 * @param stableSteps more than so many steps in a row that change nothing end the collecting, from
 *     0
 * @param maxSteps more than so many collected steps end it in any case, from 0
 * @param stopStep the step with this number is the last to be collected (if nothing planned is
 *     allocated in it, the first later one with something), from 0; {@link #NO_STOP} for none. Only
 *     the first attempt to learn obeys it
 * @param maxSeconds so long after the first planned allocation was seen, what was collected by then
 *     is taken, from 0
 * @param retrySeconds after an attempt failed the next one waits for so long, and each further one
 *     for twice as long as the one before, up to 256 times; from 0
 */
public record PlannerSettings(
    boolean enabled,
    int startStep,
    int stableSteps,
    int maxSteps,
    int stopStep,
    int maxSeconds,
    int retrySeconds) {

  /** The {@link #stopStep} that never comes. */
  public static final int NO_STOP = Integer.MAX_VALUE;

  /**
   * The settings of a process without properties or environment variables: those of the reference.
   */
  public static final PlannerSettings DEFAULTS = new PlannerSettings(true, 100, 10, 100, NO_STOP);

  private static final String PROPERTY_PREFIX = "prmalloc.";
  private static final int MAX_SECONDS = 60;
  private static final int RETRY_SECONDS = 1;

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException if a number is negative
   */
  public PlannerSettings {
    checkNotNegative("startStep", startStep);
    checkNotNegative("stableSteps", stableSteps);
    checkNotNegative("maxSteps", maxSteps);
    checkNotNegative("stopStep", stopStep);
    checkNotNegative("maxSeconds", maxSeconds);
    checkNotNegative("retrySeconds", retrySeconds);
  }

  /**
   * These steps, with the seconds of {@link #DEFAULTS}.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if a number is negative
   */
  public PlannerSettings(
      boolean enabled, int startStep, int stableSteps, int maxSteps, int stopStep) {
    this(enabled, startStep, stableSteps, maxSteps, stopStep, MAX_SECONDS, RETRY_SECONDS);
  }

  private static void checkNotNegative(String name, int value) {
    if (value < 0) {
      throw new IllegalArgumentException(name + " " + value + " is negative; the least is 0");
    }
  }

  /**
   * The settings of system properties and environment, defaults for the rest.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if a value is not a number from 0 to 2^31 − 1, or not {@code
   *     true} or {@code false}; the message names where it stands
   */
  public static PlannerSettings fromEnvironment() {
    return from(System.getProperties(), System.getenv());
  }

  static PlannerSettings from(Properties properties, Map<String, String> environment) {
    Source source = new Source(properties, environment);
    return new PlannerSettings(
        source.flag("enableMemoryOptimization", "ENABLE_MEMORY_OPTIMIZATION", DEFAULTS.enabled),
        source.number("startStatisticStep", "START_STATISTIC_STEP", DEFAULTS.startStep),
        source.number("stableStatisticStep", "STABLE_STATISTIC_STEP", DEFAULTS.stableSteps),
        source.number("maxStatisticStep", "MAX_STATISTIC_STEP", DEFAULTS.maxSteps),
        source.number("stopStatisticStep", "STOP_STATISTIC_STEP", DEFAULTS.stopStep),
        source.number("maxStatisticSeconds", "MAX_STATISTIC_SECONDS", DEFAULTS.maxSeconds),
        source.number("retrySeconds", "RETRY_SECONDS", DEFAULTS.retrySeconds));
  }

  /** These settings with another {@link #enabled}. Threading: any thread. */
  public PlannerSettings withEnabled(boolean value) {
    return new PlannerSettings(
        value, startStep, stableSteps, maxSteps, stopStep, maxSeconds, retrySeconds);
  }

  /** These settings with another {@link #startStep}. Threading: any thread. */
  public PlannerSettings withStartStep(int value) {
    return new PlannerSettings(
        enabled, value, stableSteps, maxSteps, stopStep, maxSeconds, retrySeconds);
  }

  /** These settings with another {@link #stableSteps}. Threading: any thread. */
  public PlannerSettings withStableSteps(int value) {
    return new PlannerSettings(
        enabled, startStep, value, maxSteps, stopStep, maxSeconds, retrySeconds);
  }

  /** These settings with another {@link #maxSteps}. Threading: any thread. */
  public PlannerSettings withMaxSteps(int value) {
    return new PlannerSettings(
        enabled, startStep, stableSteps, value, stopStep, maxSeconds, retrySeconds);
  }

  /** These settings with another {@link #stopStep}. Threading: any thread. */
  public PlannerSettings withStopStep(int value) {
    return new PlannerSettings(
        enabled, startStep, stableSteps, maxSteps, value, maxSeconds, retrySeconds);
  }

  /** These settings with another {@link #maxSeconds}. Threading: any thread. */
  public PlannerSettings withMaxSeconds(int value) {
    return new PlannerSettings(
        enabled, startStep, stableSteps, maxSteps, stopStep, value, retrySeconds);
  }

  /** These settings with another {@link #retrySeconds}. Threading: any thread. */
  public PlannerSettings withRetrySeconds(int value) {
    return new PlannerSettings(
        enabled, startStep, stableSteps, maxSteps, stopStep, maxSeconds, value);
  }

  private record Source(Properties properties, Map<String, String> environment) {

    int number(String property, String variable, int fallback) {
      String value = value(property, variable);
      if (value == null) {
        return fallback;
      }
      try {
        int number = Integer.parseInt(value.trim());
        if (number >= 0) {
          return number;
        }
      } catch (NumberFormatException e) {
        throw bad(property, variable, value, "a number from 0 to " + Integer.MAX_VALUE, e);
      }
      throw bad(property, variable, value, "a number from 0 to " + Integer.MAX_VALUE, null);
    }

    boolean flag(String property, String variable, boolean fallback) {
      String value = value(property, variable);
      if (value == null) {
        return fallback;
      }
      return switch (value.trim()) {
        case "true", "1" -> true;
        case "false", "0" -> false;
        default -> throw bad(property, variable, value, "true or false", null);
      };
    }

    private String value(String property, String variable) {
      String value = properties.getProperty(PROPERTY_PREFIX + property);
      return value != null ? value : environment.get(variable);
    }

    private IllegalArgumentException bad(
        String property, String variable, String value, String wanted, Throwable cause) {
      String name =
          properties.getProperty(PROPERTY_PREFIX + property) != null
              ? "system property " + PROPERTY_PREFIX + property
              : "environment variable " + variable;
      return new IllegalArgumentException(name + " is '" + value + "', not " + wanted, cause);
    }
  }
}
