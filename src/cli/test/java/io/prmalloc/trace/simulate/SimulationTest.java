package io.prmalloc.trace.simulate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.SharedData;
import io.prmalloc.trace.TraceInput;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("jdk-independent")
class SimulationTest {

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
  void shouldNeedTheReferencesBytesWhenTheProfileIsReal(String model, int batch)
      throws IOException {
    JsonNode expected =
        new ObjectMapper()
            .readTree(SharedData.path("expected/mnn.json").toFile())
            .get(model + "." + batch);

    Simulation simulation =
        Simulation.of(new TraceInput(SharedData.path("mnn/" + model).toString(), null, batch));

    assertEquals(expected.get("ops").asLong(), simulation.ops());
    assertEquals(expected.get("tensors").asInt(), simulation.tensors());
    assertEquals(expected.get("oraclePeakBytes").asLong(), simulation.oraclePeakBytes());
    assertEquals(expected.get("poolPeakBytes").asLong(), simulation.poolPeakBytes());
    assertEquals(
        expected.get("poolReuseChildrenPeakBytes").asLong(),
        simulation.poolReuseChildrenPeakBytes());
    assertEquals(expected.get("lowerBoundBytes").asLong(), simulation.lowerBoundBytes());
    assertEquals(expected.get("heuristicLifeOrderBytes").asLong(), simulation.lifeOrderBytes());
    assertEquals(expected.get("heuristicSizeOrderBytes").asLong(), simulation.sizeOrderBytes());
  }
}
