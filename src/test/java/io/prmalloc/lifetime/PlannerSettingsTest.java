package io.prmalloc.lifetime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;

class PlannerSettingsTest {

  private static final Map<String, String> ENVIRONMENT =
      Map.of(
          "ENABLE_MEMORY_OPTIMIZATION", "false",
          "START_STATISTIC_STEP", "1",
          "STABLE_STATISTIC_STEP", "2",
          "MAX_STATISTIC_STEP", "3",
          "STOP_STATISTIC_STEP", "4");

  private static Properties properties(String... keysAndValues) {
    Properties properties = new Properties();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      properties.setProperty(keysAndValues[i], keysAndValues[i + 1]);
    }
    return properties;
  }

  @Test
  void shouldBeTheReferencesWhenNobodySaysAnything() {
    PlannerSettings settings = PlannerSettings.from(new Properties(), Map.of());
    assertEquals(new PlannerSettings(true, 100, 10, 100, Integer.MAX_VALUE, 60, 1), settings);
  }

  @Test
  void shouldComeFromTheEnvironmentWhenNoPropertyIsSet() {
    assertEquals(
        new PlannerSettings(false, 1, 2, 3, 4), PlannerSettings.from(properties(), ENVIRONMENT));
  }

  @Test
  void shouldPreferPropertiesWhenBothAreSet() {
    Properties properties =
        properties(
            "prmalloc.enableMemoryOptimization", "true",
            "prmalloc.startStatisticStep", "11",
            "prmalloc.stableStatisticStep", "12",
            "prmalloc.maxStatisticStep", "13",
            "prmalloc.stopStatisticStep", " 14 ",
            "prmalloc.maxStatisticSeconds", "15",
            "prmalloc.retrySeconds", "16");
    assertEquals(
        new PlannerSettings(true, 11, 12, 13, 14, 15, 16),
        PlannerSettings.from(properties, ENVIRONMENT));
  }

  @Test
  void shouldPreferWhatTheCallerSaysWhenItSaysIt() {
    PlannerSettings settings =
        PlannerSettings.from(properties("prmalloc.startStatisticStep", "11"), ENVIRONMENT)
            .withEnabled(true)
            .withStartStep(21)
            .withStableSteps(22)
            .withMaxSteps(23)
            .withStopStep(24)
            .withMaxSeconds(25)
            .withRetrySeconds(26);
    assertEquals(new PlannerSettings(true, 21, 22, 23, 24, 25, 26), settings);
  }

  private static String refusal(Properties properties, Map<String, String> environment) {
    return assertThrows(
            IllegalArgumentException.class, () -> PlannerSettings.from(properties, environment))
        .getMessage();
  }

  @Test
  void shouldNameWhereItStandsWhenAValueIsBad() {
    assertEquals(
        "environment variable START_STATISTIC_STEP is 'soon', not a number from 0 to 2147483647",
        refusal(properties(), Map.of("START_STATISTIC_STEP", "soon")));
    assertEquals(
        "system property prmalloc.maxStatisticStep is '-1', not a number from 0 to 2147483647",
        refusal(properties("prmalloc.maxStatisticStep", "-1"), Map.of("MAX_STATISTIC_STEP", "5")));
    assertEquals(
        "system property prmalloc.stableStatisticStep is '2147483648', not a number from 0 to"
            + " 2147483647",
        refusal(properties("prmalloc.stableStatisticStep", "2147483648"), Map.of()));
    assertEquals(
        "environment variable STOP_STATISTIC_STEP is '', not a number from 0 to 2147483647",
        refusal(properties(), Map.of("STOP_STATISTIC_STEP", "")));
    assertEquals(
        "environment variable ENABLE_MEMORY_OPTIMIZATION is 'maybe', not true or false",
        refusal(properties(), Map.of("ENABLE_MEMORY_OPTIMIZATION", "maybe")));
  }

  @Test
  void shouldNameTheSettingWhenTheCallersValueIsNegative() {
    assertEquals(
        "startStep -1 is negative; the least is 0",
        assertThrows(
                IllegalArgumentException.class, () -> PlannerSettings.DEFAULTS.withStartStep(-1))
            .getMessage());
    assertThrows(
        IllegalArgumentException.class, () -> PlannerSettings.DEFAULTS.withStableSteps(-1));
    assertThrows(IllegalArgumentException.class, () -> PlannerSettings.DEFAULTS.withMaxSteps(-5));
    assertThrows(IllegalArgumentException.class, () -> PlannerSettings.DEFAULTS.withStopStep(-5));
  }
}
