package io.prmalloc.trace.planning;

import com.fasterxml.jackson.core.JsonGenerator;
import io.prmalloc.model.Counted;
import io.prmalloc.model.GraphModel;
import io.prmalloc.model.GraphModel.Origin;
import io.prmalloc.model.GraphModel.Part;
import io.prmalloc.model.GraphModel.TensorNote;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.arena.ArenaOptions;
import io.prmalloc.plan.arena.ArenaPlanner;
import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import io.prmalloc.plan.arena.TensorKind;
import io.prmalloc.trace.JsonText;
import io.prmalloc.trace.TextTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Shows where {@link ArenaPlanner}s put the tensors of a model's graphs, to people or to programs.
 *
 * <p>Threading: one thread at a time.
 */
public final class ArenaReport {

  private static final int PEAK_TENSORS = 12;

  private final GraphModel model;
  private final ArenaOptions options;
  private final boolean explained;
  private final List<Placed> placed = new ArrayList<>();

  /**
   * Threading: any thread.
   *
   * @param planners one for each part of the model, whose graph it has placed
   * @param options what the planners were made with
   * @param explained whether each tensor is followed by why it lies there, and for how long
   */
  public ArenaReport(
      GraphModel model, List<ArenaPlanner> planners, ArenaOptions options, boolean explained) {
    this.model = model;
    this.options = options;
    this.explained = explained;
    for (int i = 0; i < planners.size(); i++) {
      placed.add(new Placed(model.parts().get(i), planners.get(i), options));
    }
  }

  /**
   * One JSON document on one line, as the command line contract has it. A tensor without a place,
   * or without bytes, has the offset {@code null}.
   *
   * <p>Threading: one thread at a time.
   */
  public String json() {
    return JsonText.of(
        json -> {
          json.writeStartObject();
          json.writeNumberField("arenaBytes", arenaBytes());
          json.writeNumberField("persistentBytes", persistentBytes());
          json.writeNumberField("lowerBoundBytes", loadBytes());
          placed.get(0).writeTensors(json, explained);
          if (placed.size() > 1) {
            json.writeNumberField("totalBytes", arenaBytes() + persistentBytes());
            json.writeNumberField("atOnceBytes", atOnceBytes());
            json.writeArrayFieldStart("subgraphs");
            for (int i = 0; i < placed.size(); i++) {
              Placed part = placed.get(i);
              json.writeStartObject();
              json.writeNumberField("subgraph", i);
              json.writeStringField("name", part.part.name());
              json.writeNumberField("arenaBytes", part.planner.arenaBytes());
              json.writeNumberField("persistentBytes", part.planner.persistentBytes());
              json.writeNumberField("lowerBoundBytes", part.loadBytes());
              part.writeTensors(json, explained);
              json.writeEndObject();
            }
            json.writeEndArray();
          }
          json.writeEndObject();
        });
  }

  /**
   * A line with the sums and a table of the tensors: where each lies, and from which node to which
   * it lives there; or a sentence for each tensor. Of a model of several graphs all of them.
   *
   * <p>Threading: one thread at a time.
   *
   * @param input what people call the model
   */
  public String text(String input) {
    if (placed.size() == 1) {
      return input + ": " + placed.get(0).text(explained);
    }
    StringBuilder text = new StringBuilder();
    text.append(input)
        .append(": ")
        .append(placed.size())
        .append(" subgraphs, arenas of ")
        .append(arenaBytes())
        .append(" bytes, persistent ")
        .append(persistentBytes())
        .append(" bytes, total ")
        .append(arenaBytes() + persistentBytes())
        .append(" bytes; at the same time ")
        .append(atOnceBytes())
        .append(" bytes; load of all in one arena ")
        .append(loadBytes())
        .append(" bytes\n");
    for (int i = 0; i < placed.size(); i++) {
      String name = placed.get(i).part.name();
      text.append("\nsubgraph ").append(i);
      text.append(name.isEmpty() ? ": " : " (" + TextTable.shorten(name) + "): ");
      text.append(placed.get(i).text(explained));
    }
    return text.toString();
  }

  private long arenaBytes() {
    return placed.stream().mapToLong(part -> part.planner.arenaBytes()).sum();
  }

  private long persistentBytes() {
    return placed.stream().mapToLong(part -> part.planner.persistentBytes()).sum();
  }

  /** Persistent memory stays; of the arenas only those of calls under way are in use. */
  private long atOnceBytes() {
    return persistentBytes()
        + model.bytesAtOnce(placed.stream().map(part -> part.planner.arenaBytes()).toList());
  }

  /** What no placement in one arena can beat. */
  private long loadBytes() {
    if (placed.size() == 1) {
      return placed.get(0).loadBytes();
    }
    Graph whole = model.whole();
    return Peak.of(whole, whole.usageRecords(options)).loadBytes;
  }

  /**
   * Where most is alive.
   *
   * @param node the first node with the most bytes
   * @param bytes that live there; those that fixed tensors share count once
   * @param loadBytes what no placement can beat: {@code bytes}, or where a fixed tensor ends
   * @param tensors whose bytes they are, the largest first
   */
  private record Peak(int node, long bytes, long loadBytes, List<Integer> tensors) {

    static Peak of(Graph graph, Map<Integer, TensorUsageRecord> lives) {
      long[] changes = new long[graph.nodes().size() + 2];
      List<Integer> fixed = new ArrayList<>();
      long[] end = {0};
      lives.forEach(
          (tensor, record) -> {
            long offset = graph.tensors().get(tensor).fixedOffset();
            if (offset != Graph.ANYWHERE) {
              fixed.add(tensor);
              end[0] = Math.max(end[0], offset + record.sizeBytes());
              return;
            }
            changes[(int) record.firstTask()] += record.sizeBytes();
            changes[(int) record.lastTask() + 1] -= record.sizeBytes();
          });
      fixed.sort(Comparator.comparing(tensor -> graph.tensors().get(tensor).fixedOffset()));
      int node = 0;
      long most = 0;
      long alive = 0;
      for (int i = 0; i < changes.length; i++) {
        alive += changes[i];
        long all = alive + covered(graph, lives, fixed, i);
        if (all > most) {
          most = all;
          node = i;
        }
      }
      int at = node;
      List<Integer> tensors =
          lives.entrySet().stream()
              .filter(entry -> entry.getValue().firstTask() <= at)
              .filter(entry -> entry.getValue().lastTask() >= at)
              .sorted(Comparator.comparing(entry -> -entry.getValue().sizeBytes()))
              .map(Map.Entry::getKey)
              .toList();
      return new Peak(node, most, Math.max(most, end[0]), tensors);
    }

    /** Bytes that fixed tensors cover at a node; they are given by offset. */
    private static long covered(
        Graph graph, Map<Integer, TensorUsageRecord> lives, List<Integer> fixed, int node) {
      long covered = 0;
      long reached = 0;
      for (int tensor : fixed) {
        TensorUsageRecord life = lives.get(tensor);
        if (life.firstTask() <= node && node <= life.lastTask()) {
          long begin = Math.max(reached, graph.tensors().get(tensor).fixedOffset());
          long end = graph.tensors().get(tensor).fixedOffset() + life.sizeBytes();
          covered += Math.max(0, end - begin);
          reached = Math.max(reached, end);
        }
      }
      return covered;
    }
  }

  /** One graph and the places of its tensors. Threading: one thread at a time. */
  private static final class Placed {

    private static final int NOBODY = -1;

    private final Part part;
    private final Graph graph;
    private final ArenaPlanner planner;
    private final ArenaOptions options;
    private final Map<Integer, TensorUsageRecord> usage;
    // Of each tensor: the node that writes it or has it as a temporary, and the last that reads it.
    private final int[] writers;
    private final int[] readers;
    private final Set<Integer> temporaries = new HashSet<>();
    private final Set<Integer> inputs;
    private final Set<Integer> outputs;
    private final Set<Integer> variables;

    Placed(Part part, ArenaPlanner planner, ArenaOptions options) {
      this.part = part;
      this.graph = part.graph();
      this.planner = planner;
      this.options = options;
      this.usage = graph.usageRecords(options);
      this.inputs = new HashSet<>(graph.inputs());
      this.outputs = new HashSet<>(graph.outputs());
      this.variables = new HashSet<>(graph.variables());
      this.writers = new int[graph.tensors().size()];
      this.readers = new int[graph.tensors().size()];
      Arrays.fill(writers, NOBODY);
      Arrays.fill(readers, NOBODY);
      for (int i = 0; i < graph.nodes().size(); i++) {
        Node node = graph.nodes().get(i);
        note(node.outputs(), i, writers);
        note(node.temporaries(), i, writers);
        note(node.inputs(), i, readers);
        temporaries.addAll(node.temporaries());
      }
    }

    private static void note(List<Integer> tensors, int node, int[] nodes) {
      for (int tensor : tensors) {
        if (tensor != Graph.ABSENT) {
          nodes[tensor] = node;
        }
      }
    }

    /** The most bytes of placed tensors that live at one node: what no placement can beat. */
    long loadBytes() {
      return peak().loadBytes;
    }

    private Peak peak() {
      Map<Integer, TensorUsageRecord> lives = new LinkedHashMap<>(usage);
      lives.keySet().removeIf(tensor -> offset(tensor).isEmpty());
      return Peak.of(graph, lives);
    }

    /** The offset of a tensor; empty if it resolves to nothing. */
    private OptionalLong offset(int tensor) {
      return graph.tensors().get(tensor).bytes() == 0
          ? OptionalLong.empty()
          : planner.offset(tensor);
    }

    void writeTensors(JsonGenerator json, boolean explained) throws IOException {
      json.writeObjectFieldStart("offsets");
      for (int tensor = 0; tensor < graph.tensors().size(); tensor++) {
        writeOffset(json, Integer.toString(tensor), offset(tensor));
      }
      json.writeEndObject();
      if (!explained) {
        return;
      }
      json.writeArrayFieldStart("tensors");
      for (int i = 0; i < graph.tensors().size(); i++) {
        Tensor tensor = graph.tensors().get(i);
        TensorUsageRecord record = usage.get(i);
        json.writeStartObject();
        json.writeNumberField("tensor", i);
        json.writeStringField("name", tensor.name());
        json.writeStringField("type", part.tensors().get(i).type());
        json.writeStringField("shape", part.tensors().get(i).shape());
        json.writeStringField("kind", tensor.kind().label());
        json.writeNumberField("bytes", tensor.bytes());
        writeOffset(json, "offset", offset(i));
        if (record != null) {
          json.writeNumberField("firstNode", record.firstTask());
          json.writeNumberField("lastNode", record.lastTask());
        }
        json.writeStringField("why", why(i));
        json.writeEndObject();
      }
      json.writeEndArray();
      Peak peak = peak();
      json.writeObjectFieldStart("peak");
      json.writeNumberField("node", peak.node);
      json.writeStringField("operator", operator(peak.node));
      json.writeNumberField("bytes", peak.bytes);
      json.writeArrayFieldStart("tensors");
      for (int tensor : peak.tensors) {
        json.writeNumber(tensor);
      }
      json.writeEndArray();
      json.writeEndObject();
    }

    private static void writeOffset(JsonGenerator json, String name, OptionalLong offset)
        throws IOException {
      json.writeFieldName(name);
      if (offset.isPresent()) {
        json.writeNumber(offset.getAsLong());
      } else {
        json.writeNull();
      }
    }

    String text(boolean explained) {
      return Counted.of(graph.tensors().size(), "tensor")
          + ", "
          + Counted.of(graph.nodes().size(), "node")
          + ", arena "
          + planner.arenaBytes()
          + " bytes (load "
          + loadBytes()
          + "), persistent "
          + planner.persistentBytes()
          + " bytes\n\n"
          + (explained ? explanation() : table());
    }

    private String table() {
      boolean named = graph.tensors().stream().anyMatch(tensor -> !tensor.name().isEmpty());
      TextTable table =
          new TextTable("tensor", "type", "bytes", "nodes", "offset", named ? "name" : "");
      for (int i = 0; i < graph.tensors().size(); i++) {
        Tensor tensor = graph.tensors().get(i);
        TensorUsageRecord record = usage.get(i);
        OptionalLong offset = offset(i);
        table.row(
            Integer.toString(i),
            tensor.kind().label(),
            Long.toString(tensor.bytes()),
            record == null ? "" : record.firstTask() + "-" + record.lastTask(),
            offset.isPresent() ? Long.toString(offset.getAsLong()) : "",
            TextTable.shorten(tensor.name()));
      }
      return table.toString();
    }

    private String explanation() {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < graph.tensors().size(); i++) {
        Tensor tensor = graph.tensors().get(i);
        TensorNote note = part.tensors().get(i);
        OptionalLong offset = offset(i);
        TensorUsageRecord record = usage.get(i);
        String looks = (note.type() + " " + note.shape()).strip();
        text.append(i)
            .append(tensor.name().isEmpty() ? "" : " " + TextTable.shorten(tensor.name()))
            .append(looks.isEmpty() ? "" : " (" + looks + ")")
            .append(": ")
            .append(Counted.of(tensor.bytes(), "byte"))
            .append(offset.isPresent() ? " at " + offset.getAsLong() : "")
            .append(tensor.kind() == TensorKind.PERSISTENT ? " of the persistent arena" : "")
            .append("; ")
            .append(why(i));
        if (record != null) {
          text.append("; ")
              .append(Counted.of(record.lastTask() - record.firstTask() + 1, "node"))
              .append(", ")
              .append(record.firstTask())
              .append('-')
              .append(record.lastTask());
        }
        text.append('\n');
      }
      return text.append('\n').append(sums()).toString();
    }

    private String sums() {
      Peak peak = peak();
      String text = "";
      if (peak.bytes > 0) {
        text =
            "Most is alive at "
                + node(peak.node)
                + ", "
                + peak.bytes
                + " bytes: tensors "
                + peak.tensors.stream()
                    .limit(PEAK_TENSORS)
                    .map(String::valueOf)
                    .collect(Collectors.joining(", "))
                + (peak.tensors.size() > PEAK_TENSORS
                    ? " and " + (peak.tensors.size() - PEAK_TENSORS) + " more"
                    : "")
                + ". The arena has "
                + (planner.arenaBytes() - peak.bytes)
                + " bytes more, for alignment and gaps.\n";
      }
      List<Integer> persistent = new ArrayList<>();
      for (int i = 0; i < graph.tensors().size(); i++) {
        if (graph.tensors().get(i).kind() == TensorKind.PERSISTENT && offset(i).isPresent()) {
          persistent.add(i);
        }
      }
      if (persistent.isEmpty()) {
        return text;
      }
      long bytes = bytesOf(persistent);
      List<Integer> prepared =
          persistent.stream()
              .filter(i -> part.tensors().get(i).origin() == Origin.PREPARED)
              .toList();
      return text
          + "Persistent are "
          + Counted.of(persistent.size(), "tensor")
          + " of "
          + bytes
          + " bytes, of which "
          + bytesOf(prepared)
          + " are made of constants when the model is prepared; "
          + (planner.persistentBytes() - bytes)
          + " bytes more are alignment.\n";
    }

    private long bytesOf(List<Integer> tensors) {
      return tensors.stream().mapToLong(i -> graph.tensors().get(i).bytes()).sum();
    }

    private String operator(int node) {
      return node < part.nodes().size() ? part.nodes().get(node).operator() : "";
    }

    private String node(int node) {
      String operator = operator(node);
      return "node " + node + (operator.isEmpty() ? "" : " (" + TextTable.shorten(operator) + ")");
    }

    /** Why a tensor lies where it lies, and what ends its life. */
    private String why(int tensor) {
      Tensor it = graph.tensors().get(tensor);
      return switch (it.kind()) {
        case CONSTANT ->
            it.bytes() == 0 ? "constant without data" : "constant, its data stays in the file";
        case DYNAMIC -> "dynamic, the engine takes memory when it knows the size";
        case PERSISTENT -> {
          if (part.tensors().get(tensor).origin() == Origin.PREPARED) {
            yield "written once by "
                + node(writers[tensor])
                + " from constants when the model is prepared, kept for all runs";
          }
          yield variables.contains(tensor)
              ? "variable, keeps its content from run to run"
              : "persistent, kept for all runs";
        }
        case ARENA ->
            !usage.containsKey(tensor)
                ? "nothing writes it, so it has no place"
                : begin(tensor)
                    + ", "
                    + end(tensor)
                    + (it.fixedOffset() == Graph.ANYWHERE ? "" : "; the file fixes the offset")
                    + (offset(tensor).isEmpty() && it.bytes() > 0
                        ? "; its node was not executed"
                        : "");
      };
    }

    private String begin(int tensor) {
      if (part.tensors().get(tensor).origin() == Origin.SCRATCH) {
        return "scratch memory that no node writes, from " + node(writers[tensor]);
      }
      if (variables.contains(tensor)) {
        return "variable";
      }
      if (inputs.contains(tensor)) {
        return "input, filled before the first node";
      }
      boolean working = temporaries.contains(tensor) && !isUnread(tensor);
      return (working ? "working memory of " : "written by ") + node(writers[tensor]);
    }

    private boolean isUnread(int tensor) {
      return part.tensors().get(tensor).origin() == Origin.UNREAD;
    }

    private String end(int tensor) {
      if (options.preserveIntermediates()) {
        return "preserved to the end";
      }
      if (outputs.contains(tensor)) {
        return "output, kept to the end";
      }
      if (variables.contains(tensor)) {
        return "kept to the end";
      }
      if (options.preserveInputs() && inputs.contains(tensor)) {
        return "preserved to the end";
      }
      if (isUnread(tensor)) {
        return "read by no node";
      }
      if (temporaries.contains(tensor)) {
        return "needed there only";
      }
      return readers[tensor] == NOBODY
          ? "read by no node and so never freed"
          : "read last by " + node(readers[tensor]);
    }
  }
}
