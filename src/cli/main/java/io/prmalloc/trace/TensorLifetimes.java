package io.prmalloc.trace;

import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.ShapedUsageRecord;
import io.prmalloc.plan.TensorConstraints;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.arena.ArenaOptions;
import io.prmalloc.plan.arena.Graph;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The tensors of one step as planners want them: an id, a size and a life each. Ids are distinct.
 *
 * <p>Threading: immutable.
 */
public final class TensorLifetimes {

  /** How many times a tensor is used if it is unknown: it is written and read. */
  static final long LEAST_USES = 2;

  private final String name;
  private final List<String> ids;
  private final List<TensorUsageRecord> records;
  // Empty if sizes are bytes.
  private final List<ShapedUsageRecord> shapedRecords;
  // What people see; the ids if nothing is more telling.
  private final List<String> labels;
  // How many times tasks read or write each; empty if unknown.
  private final List<Long> uses;
  // In which memory each must lie, empty for either; empty if unknown.
  private final List<String> memories;
  // The file's own table, to be written back; null if it was no table.
  private final CsvTable table;

  TensorLifetimes(
      String name,
      List<String> ids,
      List<TensorUsageRecord> records,
      List<ShapedUsageRecord> shapedRecords,
      List<Long> uses,
      List<String> memories,
      CsvTable table) {
    this(name, ids, ids, records, shapedRecords, uses, memories, table);
  }

  private TensorLifetimes(
      String name,
      List<String> ids,
      List<String> labels,
      List<TensorUsageRecord> records,
      List<ShapedUsageRecord> shapedRecords,
      List<Long> uses,
      List<String> memories,
      CsvTable table) {
    this.name = name;
    this.ids = List.copyOf(ids);
    this.labels = List.copyOf(labels);
    this.records = List.copyOf(records);
    this.shapedRecords = List.copyOf(shapedRecords);
    this.uses = List.copyOf(uses);
    this.memories = List.copyOf(memories);
    this.table = table;
  }

  /**
   * Tensors that come from elsewhere than from a file of lives.
   *
   * <p>Threading: any thread.
   *
   * @param name what people call the whole
   * @param ids what people call each tensor; made distinct by a {@code #2} and so on behind those
   *     that come again
   * @param records size and life of each
   * @throws IllegalArgumentException if there are more or fewer ids than records
   */
  public static TensorLifetimes of(String name, List<String> ids, List<TensorUsageRecord> records) {
    if (ids.size() != records.size()) {
      throw new IllegalArgumentException(
          "there are " + ids.size() + " ids for " + records.size() + " tensors");
    }
    return new TensorLifetimes(name, distinct(ids), records, List.of(), List.of(), List.of(), null);
  }

  private static List<String> distinct(List<String> ids) {
    Set<String> taken = new HashSet<>(ids);
    // Which number an id that comes again gets next: to try them all from 2 on would be quadratic.
    Map<String, Integer> next = new HashMap<>();
    List<String> distinct = new ArrayList<>(ids.size());
    for (String id : ids) {
      Integer number = next.putIfAbsent(id, 2);
      String free = id;
      if (number != null) {
        // Not the id of a tensor that is still to come either.
        do {
          free = id + "#" + number++;
        } while (taken.contains(free));
        next.put(id, number);
        taken.add(free);
      }
      distinct.add(free);
    }
    return distinct;
  }

  /**
   * The tensors of a trace; the n-th event is task n. A tensor is alive from its own event to the
   * one before its release.
   *
   * <p>Threading: any thread.
   */
  public static TensorLifetimes of(Trace trace) {
    long[] births = new long[trace.tensorCount()];
    TensorUsageRecord[] records = new TensorUsageRecord[trace.tensorCount()];
    List<String> ids = new ArrayList<>(records.length);
    for (int i = 0; i < trace.eventCount(); i++) {
      int event = trace.event(i);
      if (event >= 0) {
        births[event] = i;
        ids.add(trace.id(event));
      } else {
        records[~event] = new TensorUsageRecord(trace.sizeBytes(~event), births[~event], i - 1L);
      }
    }
    return of(trace.name(), ids, List.of(records));
  }

  /** The record of a tensor, with the offset that an offline plan gave it. */
  private static TensorUsageRecord fixed(
      Map.Entry<Integer, TensorUsageRecord> tensor, Graph graph) {
    long offset = graph.tensors().get(tensor.getKey()).fixedOffset();
    TensorUsageRecord record = tensor.getValue();
    return offset == Graph.ANYWHERE ? record : record.with(record.constraints().withOffset(offset));
  }

  /**
   * Why the fixed offsets of a graph cannot be kept: engines with an offline plan may let tensors
   * that are alive at the same time share bytes, as where an operator works in place.
   *
   * <p>Threading: any thread.
   *
   * @return empty if they can, or there are none
   */
  static Optional<String> overlap(Graph graph) {
    return overlap(graph, graph.usageRecords(ArenaOptions.DEFAULT));
  }

  private static Optional<String> overlap(Graph graph, Map<Integer, TensorUsageRecord> records) {
    List<Integer> fixed =
        records.keySet().stream()
            .filter(index -> graph.tensors().get(index).fixedOffset() != Graph.ANYWHERE)
            .toList();
    List<TensorUsageRecord> some = fixed.stream().map(records::get).toList();
    long[] offsets =
        fixed.stream().mapToLong(index -> graph.tensors().get(index).fixedOffset()).toArray();
    return PlanValidator.fault(
        some, OffsetsAssignment.of(some, offsets, 1), i -> String.valueOf(fixed.get(i)));
  }

  /**
   * The tensors of a graph that live in the arena, as its nodes run in order; an id is the tensor's
   * index, a node is a task. Fixed offsets stay, unless tensors overlap by them: then all tensors
   * may lie anywhere.
   *
   * <p>Threading: any thread.
   *
   * @param name what people call the graph
   */
  public static TensorLifetimes of(String name, Graph graph) {
    Map<Integer, TensorUsageRecord> records = graph.usageRecords(ArenaOptions.DEFAULT);
    boolean fixed = overlap(graph, records).isEmpty();
    List<String> ids = records.keySet().stream().map(String::valueOf).toList();
    List<String> labels =
        records.keySet().stream()
            .map(index -> (index + " " + graph.tensors().get(index).name()).strip())
            .toList();
    Map<Integer, Long> uses = new HashMap<>();
    for (Graph.Node node : graph.nodes()) {
      Stream.of(node.inputs(), node.outputs(), node.temporaries())
          .flatMap(List::stream)
          .forEach(index -> uses.merge(index, 1L, Long::sum));
    }
    return new TensorLifetimes(
        name,
        ids,
        labels,
        records.entrySet().stream()
            .map(tensor -> fixed ? fixed(tensor, graph) : tensor.getValue())
            .toList(),
        List.of(),
        records.keySet().stream().map(index -> uses.getOrDefault(index, 0L)).toList(),
        List.of(),
        null);
  }

  /** What people call the whole, such as the path of its file. Threading: any thread. */
  public String name() {
    return name;
  }

  /**
   * The id of a tensor as messages show it: a long one is cut, and control characters, which a
   * terminal would obey, are replaced.
   *
   * <p>Threading: any thread.
   *
   * @throws IndexOutOfBoundsException if there is no such tensor
   */
  public String shownId(int tensor) {
    return TextTable.shorten(ids.get(tensor));
  }

  /** How many tensors there are, from 0. Threading: any thread. */
  public int count() {
    return records.size();
  }

  /** What people call each tensor. Threading: any thread. */
  public List<String> ids() {
    return ids;
  }

  /**
   * What a picture shows of each tensor: its id, and its name if it has one. Threading: any thread.
   */
  public List<String> labels() {
    return labels;
  }

  /**
   * Size and life of each tensor, in the order of the file; where sizes are shapes, the number of
   * elements. Threading: any thread.
   */
  public List<TensorUsageRecord> records() {
    return records;
  }

  /**
   * The first tensor that asks for more than a size and a life, and for what; hints, which are no
   * obligation, aside.
   *
   * <p>Threading: any thread.
   *
   * @return such as {@code tensor a has gaps}; empty if there is none
   */
  public Optional<String> constraints() {
    for (int i = 0; i < count(); i++) {
      Optional<String> obligation = records.get(i).constraints().obligation();
      if (obligation.isPresent()) {
        return Optional.of("tensor " + shownId(i) + " has " + obligation.get());
      }
    }
    return Optional.empty();
  }

  /**
   * Which hints no plan can keep, because they are no multiples of the alignment.
   *
   * <p>Threading: any thread.
   *
   * @param alignment what all offsets are multiples of
   * @return one sentence; empty if there are none
   */
  public Optional<String> missedHints(long alignment) {
    List<Integer> missed =
        IntStream.range(0, count())
            .filter(
                i -> {
                  TensorConstraints constraints = records.get(i).constraints();
                  long hint = constraints.hint().orElse(0);
                  return hint % alignment != 0 || hint % constraints.alignment() != 0;
                })
            .boxed()
            .toList();
    return missed.stream()
        .findFirst()
        .map(
            first ->
                name
                    + ": hint "
                    + records.get(first).constraints().hint().orElseThrow()
                    + " of tensor "
                    + shownId(first)
                    + " is no multiple of the alignment and is passed over"
                    + (missed.size() == 1 ? "" : ", and so are " + (missed.size() - 1) + " more"));
  }

  /** Shape and life of each tensor; empty if sizes are bytes. Threading: any thread. */
  public Optional<List<ShapedUsageRecord>> shapedRecords() {
    return shapedRecords.isEmpty() ? Optional.empty() : Optional.of(shapedRecords);
  }

  /** How many dimensions sizes have: 1 for bytes, up to 4 for shapes. Threading: any thread. */
  public int dimensions() {
    return shapedRecords.isEmpty() ? 1 : shapedRecords.get(0).shape().dimensions().size();
  }

  /**
   * As a trace: tensors born in a task come in the order of the file, after all that die before it.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if a tensor is larger than {@link Trace#MAX_TENSOR_BYTES}
   */
  public Trace toTrace() {
    record Event(long time, boolean birth, int tensor) {}

    List<Event> events = new ArrayList<>(2 * records.size());
    for (int i = 0; i < records.size(); i++) {
      events.add(new Event(records.get(i).firstTask(), true, i));
      events.add(new Event(records.get(i).lastTask() + 1, false, i));
    }
    events.sort(Comparator.comparingLong(Event::time).thenComparing(Event::birth));
    Trace.Builder trace = Trace.builder(name);
    try {
      for (Event event : events) {
        if (event.birth) {
          trace.allocate(ids.get(event.tensor), records.get(event.tensor).sizeBytes());
        } else {
          trace.release(ids.get(event.tensor));
        }
      }
    } catch (IllegalArgumentException tooLarge) {
      throw new IllegalArgumentException(name + ": " + tooLarge.getMessage(), tooLarge);
    }
    return trace.build();
  }

  /**
   * How many times a task reads or writes a tensor; 2 if unknown. Threading: any thread.
   *
   * @throws IndexOutOfBoundsException if there is no such tensor
   */
  public long uses(int tensor) {
    return uses.isEmpty() ? LEAST_USES : uses.get(tensor);
  }

  /** Whether the file says how many times tensors are used. */
  boolean knowsUses() {
    return !uses.isEmpty();
  }

  /**
   * The name of the memory in which a tensor must lie, where there are two; empty if it may lie in
   * either. Threading: any thread.
   *
   * @throws IndexOutOfBoundsException if there is no such tensor
   */
  public Optional<String> memory(int tensor) {
    return memories.isEmpty()
        ? Optional.empty()
        : Optional.of(memories.get(tensor)).filter(memory -> !memory.isEmpty());
  }

  /** What is to be said where the memories are not used. Threading: any thread. */
  public Optional<String> unusedMemories() {
    return memories.stream().allMatch(String::isEmpty)
        ? Optional.empty()
        : Optional.of(name + ": the column memory is passed over without --memory");
  }

  /** Whether the file says in which memory tensors must lie. */
  boolean knowsMemories() {
    return !memories.isEmpty();
  }

  /**
   * The columns that the file has beside lives and sizes; none if it was no table.
   *
   * @param withoutKnown whether those that have a meaning here are left out
   */
  List<String> furtherColumns(boolean withoutKnown) {
    List<String> columns = table == null ? new ArrayList<>() : LivesReader.furtherColumns(table);
    if (withoutKnown) {
      columns.removeAll(LivesReader.FURTHER_COLUMNS);
    }
    return columns;
  }

  /**
   * As CSV with a column {@code offset}: the file as it was, or {@code id,lower,upper,size,offset}
   * if it was no table.
   *
   * <p>Threading: any thread.
   *
   * @param plan an offset for each tensor
   * @throws IllegalArgumentException if it is for more or fewer tensors
   */
  public String toCsv(OffsetsAssignment plan) {
    StringBuilder text = new StringBuilder();
    try {
      writeCsv(plan, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  /**
   * The same, to somewhere else. A file that was a table is read again.
   *
   * <p>Threading: any thread.
   *
   * @param plan an offset for each tensor
   * @throws IllegalArgumentException if it is for more or fewer tensors
   * @throws IllegalStateException if the file has changed since it was read
   * @throws IOException if it cannot be written
   */
  public void writeCsv(OffsetsAssignment plan, Appendable out) throws IOException {
    if (plan.tensorCount() != count()) {
      throw new IllegalArgumentException(
          "the plan is for " + plan.tensorCount() + " tensors, but there are " + count());
    }
    write(Map.of("offset", texts(plan::offset)), out);
  }

  /**
   * The same of a plan for two memories: with a column {@code memory}, too, and {@code uses} if
   * they are known.
   *
   * <p>Threading: any thread.
   *
   * @param planMemories the name of the memory of each tensor
   * @param offsets the place of each tensor in its memory
   * @throws IllegalArgumentException if they are for more or fewer tensors
   * @throws IllegalStateException if the file has changed since it was read
   * @throws IOException if it cannot be written
   */
  public void writeCsv(List<String> planMemories, long[] offsets, Appendable out)
      throws IOException {
    if (planMemories.size() != count() || offsets.length != count()) {
      throw new IllegalArgumentException(
          "the plan is for "
              + planMemories.size()
              + " tensors with "
              + offsets.length
              + " offsets, but there are "
              + count());
    }
    Map<String, List<String>> columns = new LinkedHashMap<>();
    if (table == null && knowsUses()) {
      columns.put("uses", texts(this::uses));
    }
    columns.put("memory", planMemories);
    columns.put("offset", texts(i -> offsets[i]));
    write(columns, out);
  }

  private List<String> texts(IntToLongFunction numbers) {
    return IntStream.range(0, count())
        .mapToObj(i -> Long.toString(numbers.applyAsLong(i)))
        .toList();
  }

  private void write(Map<String, List<String>> columns, Appendable out) throws IOException {
    if (table != null) {
      table.writeWithColumns(columns, out);
      return;
    }
    List<String> header = new ArrayList<>(List.of("id", "lower", "upper", "size"));
    header.addAll(columns.keySet());
    CsvTable.append(out, header);
    for (int i = 0; i < count(); i++) {
      TensorUsageRecord record = records.get(i);
      List<String> row = new ArrayList<>();
      row.add(ids.get(i));
      row.add(Long.toString(record.firstTask()));
      row.add(Long.toString(record.lastTask() + 1));
      row.add(Long.toString(record.sizeBytes()));
      for (List<String> column : columns.values()) {
        row.add(column.get(i));
      }
      CsvTable.append(out, row);
    }
  }
}
