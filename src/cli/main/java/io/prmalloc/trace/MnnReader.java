package io.prmalloc.trace;

import io.prmalloc.model.Counted;
import io.prmalloc.trace.MnnOp.ScratchEvent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the {@code mnn} format: a directory of profiler files.
 *
 * <p>Each file is checked here, and that lengths and scratch ids of the files agree. {@link
 * MnnProfile#toTrace} checks that lives and sizes agree.
 *
 * <p>Threading: any thread.
 */
final class MnnReader {

  /** Some thirty years; so no sum of times is infinite. */
  private static final double MAX_MILLIS = 1e12;

  private MnnReader() {}

  /** An operator as the list of operators has it, before its scratch memory is known. */
  private record GraphOp(
      String name, List<String> inputs, List<String> outputs, List<String> released) {}

  /**
   * Threading: any thread.
   *
   * @param directory holds the profile of one model
   * @param batch which batch, from 1; null is answered with an error that lists those there are
   * @throws TraceFormatException if a file is absent, is not JSON, or does not hold what it should
   * @throws java.io.UncheckedIOException if a file cannot be read
   */
  static MnnProfile read(Path directory, Integer batch) {
    MnnFiles files = MnnFiles.find(directory, batch);
    List<GraphOp> graph = readGraph(files.ioInfo());
    List<List<ScratchEvent>> scratch = readScratch(files.resizeInfo());
    if (graph.size() != scratch.size()) {
      throw TraceFormatException.atEntry(
          files.resizeInfo(),
          "its list",
          "has "
              + Counted.of(scratch.size(), "operator")
              + ", but "
              + files.ioInfo()
              + " has "
              + graph.size());
    }
    Map<String, String> redundantParents = readRedundantParents(files.redundantParent());
    checkScratch(files, scratch, redundantParents);
    List<MnnOp> ops = new ArrayList<>(graph.size());
    for (int i = 0; i < graph.size(); i++) {
      GraphOp op = graph.get(i);
      ops.add(new MnnOp(op.name, op.inputs, op.outputs, op.released, scratch.get(i)));
    }
    return new MnnProfile(
        files.model(),
        files.batch(),
        files,
        List.copyOf(ops),
        readSizes(files.tensorSize()),
        redundantParents,
        readCosts(files.costInfo(), ops.size()));
  }

  private static List<GraphOp> readGraph(String file) {
    List<GraphOp> ops = new ArrayList<>();
    try (JsonReader json = open(file)) {
      json.array("the list of operators", (reader, index) -> ops.add(readOp(reader, index)));
      json.end();
    }
    return ops;
  }

  private static GraphOp readOp(JsonReader json, int index) {
    Map<String, List<String>> lists = new HashMap<>();
    String[] name = {"op " + index};
    json.object(
        "operator " + index,
        (reader, key) -> {
          switch (key) {
            case "op" -> name[0] = reader.string("\"op\" of operator " + index);
            case "inputs", "outputs", "release" -> lists.put(key, readIds(reader, key, index));
            case "id" -> {
              long id = reader.wholeNumber("\"id\" of operator " + index);
              if (id != index) {
                throw reader.error("operator " + index + " has the id " + id);
              }
            }
            default -> reader.skip();
          }
        });
    for (String key : List.of("inputs", "outputs", "release")) {
      if (!lists.containsKey(key)) {
        throw json.error("operator " + index + " has no \"" + key + "\"");
      }
    }
    return new GraphOp(name[0], lists.get("inputs"), lists.get("outputs"), lists.get("release"));
  }

  private static List<String> readIds(JsonReader json, String key, int op) {
    List<String> ids = new ArrayList<>();
    json.array(
        "\"" + key + "\" of operator " + op + ", an array",
        (reader, index) ->
            ids.add(
                Long.toString(
                    reader.wholeNumber("\"" + key + "\"[" + index + "] of operator " + op))));
    return List.copyOf(ids);
  }

  private static List<List<ScratchEvent>> readScratch(String file) {
    List<List<ScratchEvent>> ops = new ArrayList<>();
    try (JsonReader json = open(file)) {
      json.array(
          "the list of operators",
          (reader, op) -> {
            List<ScratchEvent> events = new ArrayList<>();
            reader.array(
                "operator " + op + ", an array",
                (inner, index) -> events.add(readScratchEvent(inner, op, index)));
            ops.add(List.copyOf(events));
          });
      json.end();
    }
    return ops;
  }

  private static ScratchEvent readScratchEvent(JsonReader json, int op, int index) {
    String entry = "operator " + op + "[" + index + "]";
    List<String> pair = new ArrayList<>(2);
    json.array(entry + ", an array", (reader, i) -> pair.add(reader.string(entry + "[" + i + "]")));
    if (pair.size() != 2) {
      throw json.error(entry + " has " + Counted.of(pair.size(), "element") + " instead of 2");
    }
    return switch (pair.get(0)) {
      case "alloc" -> new ScratchEvent(true, pair.get(1));
      case "free" -> new ScratchEvent(false, pair.get(1));
      default ->
          throw json.error(
              entry + " is `" + TextTable.shorten(pair.get(0)) + "` instead of `alloc` or `free`");
    };
  }

  /**
   * Scratch memory in the order it was seen: nothing is freed before it comes. The step's own order
   * takes all that comes before all that goes and would not notice.
   */
  private static void checkScratch(
      MnnFiles files, List<List<ScratchEvent>> ops, Map<String, String> redundantParents) {
    Set<String> live = new HashSet<>();
    for (int op = 0; op < ops.size(); op++) {
      for (int i = 0; i < ops.get(op).size(); i++) {
        ScratchEvent event = ops.get(op).get(i);
        String wrong = null;
        if (redundantParents.containsKey(event.id())) {
          wrong = "is used, although " + files.redundantParent() + " calls it redundant";
        } else if (event.allocate() && !live.add(event.id())) {
          wrong = "is allocated while it is alive";
        } else if (!event.allocate() && !live.remove(event.id())) {
          wrong = "is freed without having been allocated";
        }
        if (wrong != null) {
          throw TraceFormatException.atEntry(
              files.resizeInfo(),
              "operator " + op + "[" + i + "]",
              "scratch tensor " + event.id() + " " + wrong);
        }
      }
    }
  }

  private static Map<String, Long> readSizes(String file) {
    Map<String, Long> sizes = new HashMap<>();
    try (JsonReader json = open(file)) {
      json.object(
          "sizes by tensor, an object",
          (reader, id) -> {
            long bytes = reader.wholeNumber("size of tensor \"" + id + "\"");
            if (bytes < 0 || bytes > Trace.MAX_TENSOR_BYTES) {
              throw reader.error(
                  "size "
                      + bytes
                      + " of tensor \""
                      + id
                      + "\" is not from 0 to "
                      + Trace.MAX_TENSOR_BYTES);
            }
            sizes.put(id, bytes);
          });
      json.end();
    }
    return Map.copyOf(sizes);
  }

  private static Map<String, String> readRedundantParents(String file) {
    Map<String, String> parents = new LinkedHashMap<>();
    try (JsonReader json = open(file)) {
      json.object(
          "parents by scratch tensor, an object",
          (reader, id) -> parents.put(id, reader.string("parent of \"" + id + "\"")));
      json.end();
    }
    // Following the parents must come to an end; the root itself need not be allocated.
    Set<String> rooted = new HashSet<>();
    for (String start : parents.keySet()) {
      Set<String> way = new HashSet<>();
      for (String id = start; parents.containsKey(id) && !rooted.contains(id); ) {
        if (!way.add(id)) {
          throw TraceFormatException.atEntry(
              file, "\"" + start + "\"", "its parents lead in a circle through \"" + id + "\"");
        }
        id = parents.get(id);
      }
      rooted.addAll(way);
    }
    return Map.copyOf(parents);
  }

  private static Map<Integer, Double> readCosts(String file, int ops) {
    if (!Files.exists(Path.of(file))) {
      return Map.of();
    }
    Map<Integer, Double> costs = new HashMap<>();
    try (JsonReader json = open(file)) {
      json.object(
          "milliseconds by operator, an object",
          (reader, key) -> {
            double millis = reader.number("milliseconds of operator \"" + key + "\"");
            if (!key.matches("[0-9]{1,9}") || Integer.parseInt(key) >= ops) {
              throw reader.error(
                  "there is no operator \"" + TextTable.shorten(key) + "\" of " + ops);
            }
            if (millis < 0) {
              throw reader.error(
                  "milliseconds " + millis + " of operator \"" + key + "\" are negative");
            }
            if (millis > MAX_MILLIS) {
              throw reader.error(
                  "milliseconds " + millis + " of operator \"" + key + "\" exceed 1e12");
            }
            costs.put(Integer.valueOf(key), millis);
          });
      json.end();
    }
    return Map.copyOf(costs);
  }

  private static JsonReader open(String file) {
    if (!Files.isRegularFile(Path.of(file))) {
      throw TraceFormatException.ofFile(file, "is not there");
    }
    return JsonReader.open(Path.of(file));
  }
}
