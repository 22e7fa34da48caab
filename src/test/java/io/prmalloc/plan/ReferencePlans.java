package io.prmalloc.plan;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.SharedData;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.StreamSupport;

/** Reads the plans of the reference data. */
final class ReferencePlans {

  private ReferencePlans() {}

  /** All cases; the test is skipped if the data is not there. */
  static List<JsonNode> all() throws IOException {
    JsonNode cases =
        new ObjectMapper().readTree(SharedData.path("expected/planners.json").toFile());
    return StreamSupport.stream(cases.spliterator(), false).toList();
  }

  /** The strategy of this label. */
  static MemoryStrategy strategy(String label) {
    return Arrays.stream(MemoryStrategy.values())
        .filter(strategy -> strategy.label().equals(label))
        .findFirst()
        .orElseThrow();
  }

  /** Whether the sizes of a case are shapes. */
  static boolean isShaped(JsonNode reference) {
    return reference.get("csv").asText().lines().skip(1).anyMatch(line -> line.contains("x"));
  }

  /** The records of a case with sizes in bytes. */
  static List<TensorUsageRecord> records(JsonNode reference) {
    List<TensorUsageRecord> records = new ArrayList<>();
    for (String[] cells : cells(reference)) {
      records.add(
          new TensorUsageRecord(
              Long.parseLong(cells[1]), Long.parseLong(cells[2]), Long.parseLong(cells[3])));
    }
    return records;
  }

  /** The records of a case with shapes. */
  static List<ShapedUsageRecord> shapedRecords(JsonNode reference) {
    List<ShapedUsageRecord> records = new ArrayList<>();
    for (String[] cells : cells(reference)) {
      Long[] dimensions =
          Arrays.stream(cells[1].split("x", -1)).map(Long::valueOf).toArray(Long[]::new);
      records.add(
          new ShapedUsageRecord(
              TensorShape.of(dimensions), Long.parseLong(cells[2]), Long.parseLong(cells[3])));
    }
    return records;
  }

  private static List<String[]> cells(JsonNode reference) {
    return reference.get("csv").asText().lines().skip(1).map(line -> line.split(",", -1)).toList();
  }

  static int[] ints(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).mapToInt(JsonNode::asInt).toArray();
  }

  static long[] longs(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).mapToLong(JsonNode::asLong).toArray();
  }

  static List<TensorShape> shapes(JsonNode arrays) {
    return StreamSupport.stream(arrays.spliterator(), false)
        .map(
            array ->
                new TensorShape(
                    StreamSupport.stream(array.spliterator(), false)
                        .map(JsonNode::asLong)
                        .toList()))
        .toList();
  }
}
