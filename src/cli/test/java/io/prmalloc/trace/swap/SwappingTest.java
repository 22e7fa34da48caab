package io.prmalloc.trace.swap;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.SharedData;
import io.prmalloc.trace.MnnProfile;
import io.prmalloc.trace.TraceInput;
import io.prmalloc.trace.simulate.ModelKind;
import java.io.IOException;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("jdk-independent")
class SwappingTest {

  @ParameterizedTest
  @CsvSource({
    "Squeezenet, 2",
    "Squeezenet, 4",
    "Squeezenet, 8",
    "Squeezenet, 16",
    "MobilenetV2, 2",
    "MobilenetV2, 4",
    "MobilenetV2, 8",
    "MobilenetV2, 16"
  })
  void shouldNeedTheReferencesTimeAndBytesWhenTheProfileIsReal(String model, int batch)
      throws IOException {
    JsonNode expected =
        new ObjectMapper()
            .readTree(SharedData.path("expected/mnn.json").toFile())
            .get(model + "." + batch)
            .get("swap");
    MnnProfile profile =
        new TraceInput(SharedData.path("mnn/" + model).toString(), null, batch).readProfile();

    for (SwapMode mode : SwapMode.values()) {
      JsonNode reference = expected.get(mode.toString());
      for (ModelKind kind : new ModelKind[] {ModelKind.OS, ModelKind.POOL}) {
        SwapRun run = Swapping.of(profile, options(mode, kind)).run();
        double millis = reference.get("totalMillis").asDouble();
        assertEquals(millis, run.totalMillis(), millis * 1e-6, mode + " over " + kind);
        assertEquals(
            reference.get(kind.label() + "PeakBytes").asLong(),
            run.peakBytes(),
            mode + " over " + kind);
      }
    }
    assertEquals(OptionalInt.of(expected.get("forwardOps").asInt()), ForwardPass.find(profile));
  }

  private static SwapOptions options(SwapMode mode, ModelKind kind) {
    return new SwapOptions(
        mode,
        kind,
        SwapOptions.DEFAULT_BYTES_PER_SECOND,
        SwapOptions.DEFAULT_BYTES_PER_SECOND,
        OptionalInt.empty(),
        OptionalLong.empty(),
        false);
  }
}
