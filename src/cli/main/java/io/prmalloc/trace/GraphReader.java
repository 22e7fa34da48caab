package io.prmalloc.trace;

import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import io.prmalloc.plan.arena.InvalidGraphException;
import io.prmalloc.plan.arena.TensorKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads graphs from JSON:
 *
 * <pre>
 * {"inputs": [0, 1], "outputs": [3], "variables": [],
 *  "nodes": [{"inputs": [0, 1], "outputs": [2], "temporaries": [5]}],
 *  "tensors": [{"bytes": 3, "type": "arena", "name": "image", "offset": 64}]}
 * </pre>
 *
 * <p>{@code variables}, {@code temporaries}, {@code name} and {@code offset}, which fixes a
 * tensor's place, may be left out; other keys are passed over. The lists mean what {@link Graph}
 * says, and the types are those of {@link TensorKind}.
 *
 * <p>Threading: any thread.
 */
public final class GraphReader {

  private final Map<String, List<Integer>> lists = new HashMap<>();
  private List<Node> nodes;
  private List<Tensor> tensors;

  private GraphReader() {
    lists.put("variables", List.of());
  }

  /**
   * Reads a file.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if it does not hold a graph; the message has the line
   * @throws java.io.UncheckedIOException if the file is not there or cannot be read
   */
  public static Graph read(Path path) {
    GraphReader reader = new GraphReader();
    try (JsonReader json = JsonReader.open(path)) {
      json.object("the graph, an object", reader::readMember);
      require(json, reader.lists.get("inputs"), "the graph", "inputs");
      require(json, reader.lists.get("outputs"), "the graph", "outputs");
      require(json, reader.nodes, "the graph", "nodes");
      require(json, reader.tensors, "the graph", "tensors");
      json.end();
    }
    return reader.graph(path);
  }

  private Graph graph(Path path) {
    try {
      return new Graph(
          tensors, nodes, lists.get("inputs"), lists.get("outputs"), lists.get("variables"));
    } catch (InvalidGraphException invalid) {
      // Places read like nodes[3].inputs[1].
      String place = invalid.place().replace("fixedOffset", "offset");
      String pointer = "/" + place.replace("[", "/").replace("]", "").replace('.', '/');
      throw TraceFormatException.atLine(
          path.toString(),
          JsonReader.lineOf(path, pointer),
          invalid.getMessage().replace("fixedOffset", "offset"));
    }
  }

  private void readMember(JsonReader json, String key) {
    switch (key) {
      case "inputs", "outputs", "variables" -> lists.put(key, readIndices(json, key));
      case "nodes" -> {
        nodes = new ArrayList<>();
        json.array("\"nodes\", an array", (reader, i) -> nodes.add(readNode(reader, i)));
      }
      case "tensors" -> {
        tensors = new ArrayList<>();
        json.array("\"tensors\", an array", (reader, i) -> tensors.add(readTensor(reader, i)));
      }
      default -> json.skip();
    }
  }

  private static Node readNode(JsonReader json, int index) {
    String node = "nodes[" + index + "]";
    Map<String, List<Integer>> lists = new HashMap<>();
    json.object(
        node + ", an object",
        (reader, key) -> {
          switch (key) {
            case "inputs", "outputs", "temporaries" ->
                lists.put(key, readIndices(reader, node + "." + key));
            default -> reader.skip();
          }
        });
    require(json, lists.get("inputs"), node, "inputs");
    require(json, lists.get("outputs"), node, "outputs");
    return new Node(
        lists.get("inputs"), lists.get("outputs"), lists.getOrDefault("temporaries", List.of()));
  }

  private static List<Integer> readIndices(JsonReader json, String place) {
    List<Integer> indices = new ArrayList<>();
    json.array(
        place + ", an array",
        (reader, i) -> {
          long index = reader.wholeNumber(place + "[" + i + "]");
          if (index != (int) index) {
            throw reader.error(
                place + "[" + i + "]: tensor " + index + " is not from -1 to " + Integer.MAX_VALUE);
          }
          indices.add((int) index);
        });
    return indices;
  }

  private static Tensor readTensor(JsonReader json, int index) {
    String tensor = "tensors[" + index + "]";
    Long[] bytes = {null};
    long[] offset = {Graph.ANYWHERE};
    TensorKind[] kind = {null};
    String[] name = {""};
    json.object(
        tensor + ", an object",
        (reader, key) -> {
          switch (key) {
            case "bytes" -> bytes[0] = reader.wholeNumber(tensor + ".bytes");
            case "type" -> kind[0] = readKind(reader, tensor + ".type");
            case "offset" -> offset[0] = reader.wholeNumber(tensor + ".offset");
            case "name" -> name[0] = reader.string(tensor + ".name");
            default -> reader.skip();
          }
        });
    require(json, bytes[0], tensor, "bytes");
    require(json, kind[0], tensor, "type");
    return new Tensor(bytes[0], kind[0], name[0], offset[0]);
  }

  private static TensorKind readKind(JsonReader json, String place) {
    String label = json.string(place);
    try {
      return TensorKind.ofLabel(TextTable.shorten(label));
    } catch (IllegalArgumentException unknown) {
      throw json.error(place + ": " + unknown.getMessage());
    }
  }

  private static void require(JsonReader json, Object value, String where, String key) {
    if (value == null) {
      throw json.error(where + " has no \"" + key + "\"");
    }
  }
}
