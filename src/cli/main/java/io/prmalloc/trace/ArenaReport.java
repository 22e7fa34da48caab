package io.prmalloc.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.arena.ArenaOptions;
import io.prmalloc.plan.arena.ArenaPlanner;
import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Tensor;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Shows where an {@link ArenaPlanner} put the tensors, to people or to programs.
 *
 * <p>Threading: any thread.
 */
public final class ArenaReport {

  private ArenaReport() {}

  /**
   * One JSON document on one line, as the command line contract has it. A tensor without a place
   * has the offset {@code null}.
   *
   * <p>Threading: one thread at a time.
   *
   * @param options what the planner was made with
   */
  public static String json(ArenaPlanner planner, ArenaOptions options) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
      json.writeStartObject();
      json.writeNumberField("arenaBytes", planner.arenaBytes());
      json.writeNumberField("persistentBytes", planner.persistentBytes());
      json.writeNumberField("lowerBoundBytes", loadBytes(planner, options));
      json.writeObjectFieldStart("offsets");
      for (int tensor = 0; tensor < planner.graph().tensors().size(); tensor++) {
        OptionalLong offset = planner.offset(tensor);
        json.writeFieldName(Integer.toString(tensor));
        if (offset.isPresent()) {
          json.writeNumber(offset.getAsLong());
        } else {
          json.writeNull();
        }
      }
      json.writeEndObject();
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  /**
   * A line with the sums and a table of the tensors: where each lies, and from which node to which
   * it lives there.
   *
   * <p>Threading: one thread at a time.
   *
   * @param input what people call the graph
   * @param options what the planner was made with
   */
  public static String text(String input, ArenaPlanner planner, ArenaOptions options) {
    Graph graph = planner.graph();
    Map<Integer, TensorUsageRecord> usage = graph.usageRecords(options);
    boolean named = graph.tensors().stream().anyMatch(tensor -> !tensor.name().isEmpty());
    TextTable table =
        new TextTable("tensor", "type", "bytes", "nodes", "offset", named ? "name" : "");
    for (int i = 0; i < graph.tensors().size(); i++) {
      Tensor tensor = graph.tensors().get(i);
      TensorUsageRecord record = usage.get(i);
      OptionalLong offset = planner.offset(i);
      table.row(
          Integer.toString(i),
          tensor.kind().label(),
          Long.toString(tensor.bytes()),
          record == null ? "" : record.firstTask() + "-" + record.lastTask(),
          offset.isPresent() ? Long.toString(offset.getAsLong()) : "",
          EventsReader.shorten(tensor.name()));
    }
    return input
        + ": "
        + count(graph.tensors(), "tensor")
        + ", "
        + count(graph.nodes(), "node")
        + ", arena "
        + planner.arenaBytes()
        + " bytes (load "
        + loadBytes(planner, options)
        + "), persistent "
        + planner.persistentBytes()
        + " bytes\n\n"
        + table;
  }

  /** The most bytes of placed tensors that live at one node: what no placement can beat. */
  private static long loadBytes(ArenaPlanner planner, ArenaOptions options) {
    return LowerBounds.loadBytes(
        planner.graph().usageRecords(options).entrySet().stream()
            .filter(entry -> planner.offset(entry.getKey()).isPresent())
            .map(Map.Entry::getValue)
            .toList());
  }

  private static String count(List<?> things, String thing) {
    return things.size() + " " + thing + (things.size() == 1 ? "" : "s");
  }
}
