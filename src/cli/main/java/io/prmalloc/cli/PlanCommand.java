package io.prmalloc.cli;

import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.report.PlanPage;
import io.prmalloc.trace.TensorLifetimes;
import io.prmalloc.trace.planning.Memory;
import io.prmalloc.trace.planning.PlanKind;
import io.prmalloc.trace.planning.PlanOptions;
import io.prmalloc.trace.planning.PlanReport;
import io.prmalloc.trace.planning.PlanRun;
import io.prmalloc.trace.planning.Planning;
import io.prmalloc.trace.planning.TwoMemories;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code plan}: places the tensors of a step by static planners.
 *
 * <p>Threading: one thread.
 */
@Command(
    name = "plan",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Places the tensors of a step before it runs, by one or more strategies.",
      "",
      "A plan by objects gives each tensor a whole block, which others have before and after it; a"
          + " plan by offsets gives it a place in one arena. Nothing is allocated: a plan may need"
          + " more memory than there is here.",
      "",
      "exact goes on until it knows that no plan is smaller, or with --capacity until one fits;"
          + " else it stops after 60 s, or --timeout, or at Ctrl-C, with the best plan so far.",
      "",
      "A table may have further columns: alignment, offset (a fixed place), hint, gaps (such as"
          + " 2-8 or 2-8@0:4), uses. exact, greedy-by-size and heuristic observe them; others refuse"
          + " them, and among all are skipped.",
      "",
      "At Ctrl-C the strategies that are not done are skipped, and the plans so far printed."
    },
    footer = {
      "",
      "Strategies:",
      "  naive              one object per tensor",
      "  equality           tensors of exactly equal size share",
      "  greedy-in-order    by birth, into the object that fits best",
      "  greedy-by-breadth  the busiest tasks first",
      "  greedy-by-size     the largest tensors first",
      "  greedy-best        the better of the two before it",
      "  min-cost-flow      objects handed on at least cost, up to 2000 tensors, or",
      "                     any number that are all alive at once",
      "  heuristic          offsets by an order, sizes rounded up to 64; with --search the best",
      "                     order found until --timeout (60 s if none is given) or Ctrl-C",
      "  exact              the least offsets it can find, and whether less is possible",
      "  all                every one of them",
      "",
      "Columns: what the plan needs, and that over the load, which is the most that is",
      "alive at once and what no plan can beat.",
      "",
      "Examples:",
      "  prmalloc plan sample:mobilenet-v1",
      "  prmalloc plan lives.csv --strategy greedy-by-size --kind offsets --out o.csv",
      "  prmalloc plan model.tflite --report plan.html",
      "  prmalloc plan model.onnx --shape batch=4",
      "  prmalloc plan model.tflite --memory fast=64K,slow=4M",
      "  prmalloc plan lives.csv --strategy heuristic --search annealing --timeout 20"
    })
final class PlanCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private InputArguments input;

  @Option(
      names = "--subgraph",
      paramLabel = "N",
      description =
          "Which graph of a .tflite model, from 0. Default: the main one, with those it calls in"
              + " it.")
  private Integer subgraph;

  @Option(
      names = "--strategy",
      paramLabel = "NAME",
      split = ",",
      description = "One of those below; may be given several times. Default: all.")
  private List<String> strategies = List.of();

  @Option(names = "--kind", paramLabel = "KIND", description = "objects or offsets. Default: both.")
  private PlanKind kind;

  @Option(
      names = "--alignment",
      paramLabel = "A",
      defaultValue = "1",
      description =
          "What every offset is a multiple of, a power of two. Default: ${DEFAULT-VALUE}.")
  private long alignment;

  @Option(
      names = "--capacity",
      paramLabel = "C",
      description = "How many bytes there are: exit with 1 if no plan is that small.")
  private Long capacity;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      converter = Seconds.class,
      description = "How long each strategy may take. Default: as long as it wants.")
  private Duration timeout;

  @Option(
      names = "--memory",
      paramLabel = "FAST=BYTES,SLOW=BYTES",
      description =
          "Two memories instead of one: in the first the tensors with the most uses per byte, in the"
              + " second the rest. Sizes may have a unit: fast=1M,slow=64M. A column memory binds a"
              + " tensor to one of them.")
  private String memories;

  @Mixin private OrderArguments orders;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description =
          "Write the tensors as CSV with the offsets of the smallest plan, if it is within"
              + " --capacity; with --memory also with the memory of each, if both plans fit.")
  private Path out;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description = "Draw the plans on a page for the browser.")
  private Path page;

  @Option(names = "--json", description = "Print one JSON document instead of a table.")
  private boolean json;

  PlanCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    checkOutputs();
    // Held from the first plan on until all is written: Ctrl-C must not end the program before.
    try (CtrlC ctrlC = new CtrlC()) {
      return memories != null ? planMemories(ctrlC) : show(plan(ctrlC));
    }
  }

  private void checkOutputs() {
    Map<String, Path> files = new LinkedHashMap<>();
    files.put("--out", out);
    files.put("--report", page);
    OutputFile.check(files);
    OutputFile.checkKept("--report", page, input.input());
    // A table keeps its data when it is written over itself.
    if (!OutputFile.replaces(out, input.input()) || !isPlainTable()) {
      OutputFile.checkKept("--out", out, input.input());
    }
  }

  /** Whether INPUT is a table that is not compressed, which can be written with a column more. */
  private boolean isPlainTable() {
    return subgraph == null && input.trace().isPlainTable();
  }

  private PlanReport plan(CtrlC ctrlC) throws InterruptedException {
    try (TerminalProgress bar = TerminalProgress.create();
        PlanWatch watch = new PlanWatch(bar, ctrlC)) {
      PlanProgress progress = new PlanProgress(bar, ctrlC);
      PlanOptions options =
          new PlanOptions(
              alignment,
              timeout(),
              capacity == null ? OptionalLong.empty() : OptionalLong.of(capacity),
              watch,
              orders.read(strategies, progress));
      TerminalProgress.begin(bar, "reading");
      TensorLifetimes tensors = read();
      if ((out != null || page != null) && tensors.dimensions() > 1) {
        throw new IllegalArgumentException(
            (out != null ? "--out writes" : "--report draws")
                + " offsets, which sizes of "
                + tensors.dimensions()
                + " dimensions have not");
      }
      Planning planning = new Planning(tensors, options, strategies, Optional.ofNullable(kind));
      ctrlC.hold();
      try {
        return new PlanReport(tensors, options, planning.run(progress));
      } catch (IllegalArgumentException refused) {
        throw new IllegalArgumentException(tensors.name() + ": " + refused.getMessage(), refused);
      }
    }
  }

  private TensorLifetimes read() {
    TensorLifetimes tensors = subgraph == null ? input.readLifetimes() : input.readGraph(subgraph);
    Main.warn(spec, tensors.missedHints(alignment));
    if (memories == null) {
      Main.warn(spec, tensors.unusedMemories());
    }
    return tensors;
  }

  private int planMemories(CtrlC ctrlC) throws InterruptedException {
    List<String> others =
        Stream.of(
                "--strategy",
                "--kind",
                "--capacity",
                "--report",
                "--order",
                "--search",
                "--seed",
                "--tries")
            .filter(spec.commandLine().getParseResult()::hasMatchedOption)
            .toList();
    if (!others.isEmpty()) {
      throw new IllegalArgumentException(others.get(0) + " does not go with --memory");
    }
    List<Memory> both = Memory.twoOf(memories);
    try (TerminalProgress bar = TerminalProgress.create();
        PlanWatch watch = new PlanWatch(bar, ctrlC)) {
      PlanOptions options = new PlanOptions(alignment, timeout(), OptionalLong.empty(), watch);
      TensorLifetimes tensors = read();
      ctrlC.hold();
      TwoMemories plan;
      try {
        plan = TwoMemories.plan(tensors, both, options);
      } catch (CancellationException pressed) {
        return saidNoPlan();
      }
      List<String> failures = new ArrayList<>(plan.failures());
      if (out != null) {
        writeMemories(plan, failures);
      }
      return print(plan.json(), plan.text(), failures);
    }
  }

  /** Writes both plans if they fit; where something fails, that is told. */
  private void writeMemories(TwoMemories plan, List<String> failures) {
    if (failures.isEmpty()) {
      OutputFile.failure(() -> OutputFile.write(out, plan::writeCsv)).ifPresent(failures::add);
    } else {
      failures.add(out + " is not written");
    }
  }

  private int show(PlanReport report) {
    List<String> failures = new ArrayList<>(report.failures());
    if (report.runs().stream().anyMatch(PlanRun::isCancelled)
        && report.runs().stream().noneMatch(run -> run.plan().isPresent())) {
      return saidNoPlan();
    }
    if (out != null) {
      writeBest(report, failures);
    }
    if (page != null) {
      OutputFile.failure(() -> OutputFile.write(page, PlanPage.html(report)))
          .ifPresent(failures::add);
    }
    return print(json ? report.json() : "", json ? "" : report.text(), failures);
  }

  private int saidNoPlan() {
    Main.complain(spec.commandLine(), "interrupted before there was a plan");
    return Main.FAILED;
  }

  /** Writes the best plan; where something fails, that is told. */
  private void writeBest(PlanReport report, List<String> failures) {
    Optional<OffsetsAssignment> best = report.bestOffsets();
    if (best.isEmpty()) {
      failures.add(out + " is not written");
      return;
    }
    Optional<String> failure =
        OutputFile.failure(
            () -> OutputFile.write(out, text -> report.tensors().writeCsv(best.get(), text)));
    if (failure.isPresent()) {
      failures.add(failure.get());
    } else if (!failures.isEmpty()) {
      failures.add(out + " is written with the best plan there is");
    }
  }

  private int print(String document, String text, List<String> failures) {
    PrintWriter console = spec.commandLine().getOut();
    console.print(json ? document + "\n" : text);
    console.flush();
    if (failures.isEmpty()) {
      return 0;
    }
    Main.complain(spec.commandLine(), String.join("; ", failures));
    return Main.FAILED;
  }

  private Optional<Duration> timeout() {
    if (timeout != null && timeout.isZero()) {
      throw new IllegalArgumentException("timeout 0.0 is not more than 0 and at most 1e9 seconds");
    }
    return Optional.ofNullable(timeout);
  }
}
