package io.prmalloc.trace;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.collections.LongArrayList;

/**
 * Reads the {@code snapshot} format: what PyTorch's {@code torch.cuda.memory._snapshot()} answers,
 * as JSON.
 *
 * <pre>
 * {"segments": [{"device": 0, "address": 4096, "total_size": 2097152,
 *    "blocks": [{"address": 4096, "size": 512, "requested_size": 20, "state": "active_allocated"}]}],
 *  "device_traces": [[{"action": "alloc", "addr": 4608, "size": 100},
 *                     {"action": "free_requested", "addr": 4608, "size": 100},
 *                     {"action": "free_completed", "addr": 4608, "size": 100}]]}
 * </pre>
 *
 * <p>The step is the history of one device. A tensor lives from its {@code alloc} to its {@code
 * free_completed}, from where on PyTorch hands its memory out again; its address is its id. The
 * history may begin late, for it keeps the last events only: a tensor that is freed without an
 * {@code alloc}, and a block in use that the history does not know, live from the start. What
 * PyTorch does with its segments, and other keys, are passed over.
 *
 * <p>Threading: one thread at a time.
 */
final class SnapshotReader {

  static final String SEGMENTS = "segments";
  static final String HISTORY = "device_traces";

  private static final String NO_HISTORY =
      "; torch.cuda.memory._record_memory_history() before the step makes PyTorch keep one";

  private static final Set<String> PASSED_OVER =
      Set.of(
          "free_requested",
          "segment_alloc",
          "segment_free",
          "segment_map",
          "segment_unmap",
          "snapshot",
          "workspace_snapshot",
          "annotate",
          "oom");

  private record Block(long device, long address, long bytes) {}

  private final String file;
  private final Integer chosenDevice;
  private int device = -1;
  private boolean hasHistory;

  private final List<Block> blocksInUse = new ArrayList<>();

  /** Sizes of what lives from the start, by address. */
  private final Map<Long, Long> fromTheStart = new HashMap<>();

  /** Addresses that the history knows, and whether they are in use now. */
  private final Map<Long, Boolean> inUse = new HashMap<>();

  /** By event: an address, and a size, or {@link #RELEASE}. */
  private final LongArrayList events = new LongArrayList();

  private static final long RELEASE = -2;
  private static final long NONE = -3;

  private SnapshotReader(String file, Integer device) {
    this.file = file;
    this.chosenDevice = device;
  }

  /**
   * Threading: any thread.
   *
   * @param device whose history to read, from 0; null for the only one that has any
   * @throws TraceFormatException if the file does not hold a snapshot with a history of the device,
   *     or one that cannot be; the message has the line
   * @throws java.io.UncheckedIOException if it cannot be read
   */
  static Trace read(Path path, Integer device) {
    SnapshotReader reader = new SnapshotReader(path.toString(), device);
    try (JsonReader json = JsonReader.open(path)) {
      json.object("a snapshot, an object", reader::readMember);
      json.end();
    }
    return reader.finish();
  }

  private void readMember(JsonReader json, String key) {
    switch (key) {
      case SEGMENTS -> json.array("\"segments\", an array", this::readSegment);
      case HISTORY -> {
        hasHistory = true;
        json.array("\"device_traces\", an array", this::readHistory);
      }
      default -> json.skip();
    }
  }

  private void readSegment(JsonReader json, int index) {
    String place = SEGMENTS + "[" + index + "]";
    long[] fields = {0, NONE, NONE};
    List<Block> blocks = new ArrayList<>();
    long[] sum = {0};
    json.object(
        place + ", an object",
        (reader, key) -> {
          switch (key) {
            case "device" -> fields[0] = reader.wholeNumber(place + ".device");
            case "address" -> fields[1] = reader.wholeNumber(place + ".address");
            case "total_size" -> fields[2] = size(reader, place + ".total_size");
            case "blocks" ->
                reader.array(
                    place + ".blocks, an array",
                    (inner, i) ->
                        sum[0] += readBlock(inner, place + ".blocks[" + i + "]", sum[0], blocks));
            default -> reader.skip();
          }
        });
    if (fields[2] != NONE && sum[0] > fields[2]) {
      throw json.error(
          place + " has blocks of " + sum[0] + " bytes, more than its total_size " + fields[2]);
    }
    for (Block block : blocks) {
      // Older snapshots tell the address of a segment alone; its blocks lie one behind the other.
      if (block.device == NONE && fields[1] == NONE) {
        throw json.error(place + " has neither an \"address\" nor blocks with one");
      }
      long address = block.device == NONE ? fields[1] + block.address : block.address;
      blocksInUse.add(new Block(fields[0], address, block.bytes));
    }
  }

  /** Answers how long the block is; one without an address has its offset, and no device. */
  private static long readBlock(JsonReader json, String place, long offset, List<Block> blocks) {
    long[] fields = {NONE, NONE, NONE};
    String[] state = {null};
    json.object(
        place + ", an object",
        (reader, key) -> {
          switch (key) {
            case "address" -> fields[0] = reader.wholeNumber(place + ".address");
            case "size" -> fields[1] = size(reader, place + ".size");
            case "requested_size" -> fields[2] = size(reader, place + ".requested_size");
            case "state" -> state[0] = reader.string(place + ".state");
            default -> reader.skip();
          }
        });
    if (fields[1] == NONE || state[0] == null) {
      throw json.error(place + " has no \"" + (state[0] == null ? "state" : "size") + "\"");
    }
    if (fields[2] > fields[1]) {
      throw json.error(
          place + " has a requested_size of " + fields[2] + ", more than its size " + fields[1]);
    }
    if (state[0].startsWith("active")) {
      long bytes = fields[2] == NONE ? fields[1] : fields[2];
      blocks.add(
          fields[0] == NONE ? new Block(NONE, offset, bytes) : new Block(0, fields[0], bytes));
    }
    return fields[1];
  }

  private static long size(JsonReader json, String what) {
    long size = json.wholeNumber(what);
    if (size < 0 || size > Trace.MAX_TENSOR_BYTES) {
      throw json.error(what + " " + size + " is not from 0 to " + Trace.MAX_TENSOR_BYTES);
    }
    return size;
  }

  private void readHistory(JsonReader json, int index) {
    if (chosenDevice != null && chosenDevice != index) {
      json.skip();
      return;
    }
    String place = HISTORY + "[" + index + "]";
    json.array(
        place + ", an array",
        (reader, i) -> {
          if (device >= 0 && device != index) {
            throw reader.error(
                "devices "
                    + device
                    + " and "
                    + index
                    + " have a history each, in memories of their own; --device says which to read");
          }
          device = index;
          readEvent(reader, place + "[" + i + "]");
        });
  }

  private void readEvent(JsonReader json, String place) {
    long[] fields = {NONE, NONE};
    String[] action = {null};
    json.object(
        place + ", an object",
        (reader, key) -> {
          switch (key) {
            case "action" -> action[0] = reader.string(place + ".action");
            case "addr" -> fields[0] = reader.wholeNumber(place + ".addr");
            case "size" -> fields[1] = reader.wholeNumber(place + ".size");
            default -> reader.skip();
          }
        });
    if (action[0] == null) {
      throw json.error(place + " has no \"action\"");
    }
    boolean alloc = action[0].equals("alloc");
    if (!alloc && !action[0].equals("free_completed")) {
      if (!PASSED_OVER.contains(action[0])) {
        throw json.error(
            place + ": the action `" + TextTable.shorten(action[0]) + "` is not known");
      }
      return;
    }
    if (fields[0] == NONE || fields[1] == NONE) {
      throw json.error(place + " has no \"" + (fields[0] == NONE ? "addr" : "size") + "\"");
    }
    if (fields[1] < 0 || fields[1] > Trace.MAX_TENSOR_BYTES) {
      throw json.error(
          place + ".size " + fields[1] + " is not from 0 to " + Trace.MAX_TENSOR_BYTES);
    }
    if (alloc) {
      allocate(json, place, fields[0], fields[1]);
    } else {
      release(json, place, fields[0], fields[1]);
    }
  }

  private void allocate(JsonReader json, String place, long address, long bytes) {
    if (Boolean.TRUE.equals(inUse.put(address, true))) {
      throw json.error(place + ": " + id(address) + " is allocated while it is alive");
    }
    events.addLong(address);
    events.addLong(bytes);
  }

  private void release(JsonReader json, String place, long address, long bytes) {
    Boolean used = inUse.put(address, false);
    if (Boolean.FALSE.equals(used)) {
      throw json.error(place + ": " + id(address) + " is freed a second time");
    }
    if (used == null) {
      fromTheStart.put(address, bytes);
    }
    events.addLong(address);
    events.addLong(RELEASE);
  }

  private static String id(long address) {
    return "0x" + Long.toHexString(address);
  }

  private Trace finish() {
    if (!hasHistory) {
      throw TraceFormatException.ofFile(file, "has no \"" + HISTORY + "\"" + NO_HISTORY);
    }
    if (events.isEmpty()) {
      String of = chosenDevice == null ? "" : " of device " + chosenDevice;
      throw TraceFormatException.ofFile(file, "holds no history" + of + NO_HISTORY);
    }
    Trace.Builder trace = Trace.builder(file);
    try {
      fromTheStart.forEach((address, bytes) -> trace.allocate(id(address), bytes));
      Set<Long> unknown = new HashSet<>();
      for (Block block : blocksInUse) {
        if (block.device == device && !inUse.containsKey(block.address)) {
          if (!unknown.add(block.address)) {
            throw new IllegalArgumentException("two blocks lie at " + id(block.address));
          }
          trace.allocate(id(block.address), block.bytes);
        }
      }
      for (int i = 0; i < events.size(); i += 2) {
        String id = id(events.getLong(i));
        long bytes = events.getLong(i + 1);
        if (bytes == RELEASE) {
          trace.release(id);
        } else {
          trace.allocate(id, bytes);
        }
      }
      return trace.build();
    } catch (IllegalArgumentException refused) {
      throw TraceFormatException.ofFile(file, refused.getMessage());
    }
  }
}
