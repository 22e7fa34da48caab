package io.prmalloc.cli;

import io.prmalloc.Allocator;
import io.prmalloc.Isolation;
import io.prmalloc.pool.PoolPolicies;
import io.prmalloc.report.PoolPage;
import io.prmalloc.trace.Trace;
import io.prmalloc.trace.TraceInput;
import io.prmalloc.trace.replay.ColdReplayer;
import io.prmalloc.trace.replay.RecordedReplayer;
import io.prmalloc.trace.replay.RecordedTraffic;
import io.prmalloc.trace.replay.ReplayAllocator;
import io.prmalloc.trace.replay.ReplayOptions;
import io.prmalloc.trace.replay.ReplayProgress;
import io.prmalloc.trace.replay.ReplayReport;
import io.prmalloc.trace.replay.ReplayRun;
import io.prmalloc.trace.replay.Replayer;
import io.prmalloc.trace.replay.ShiftReplayer;
import io.prmalloc.trace.replay.ShiftReport;
import io.prmalloc.trace.replay.ShiftRun;
import io.prmalloc.trace.replay.Touch;
import io.prmalloc.trace.replay.Traffic;
import io.prmalloc.trace.replay.VaryingReplayer;
import io.prmalloc.trace.replay.VaryingReport;
import io.prmalloc.trace.replay.lane.Api;
import io.prmalloc.trace.replay.lane.Memory;
import io.prmalloc.trace.replay.lane.PoolSetup;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.function.BiFunction;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code replay}: runs a trace on real allocators.
 *
 * <p>Threading: one thread.
 */
@Command(
    name = "replay",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Runs a trace's allocations for real, in a loop, and measures what a step costs.",
      "",
      "Each allocator named gets a run of its own, one after the other. A run first lets the pool"
          + " learn, then goes on for a second so that the JIT is done, then measures.",
      "",
      "With --vary, --shapes, --weights or several INPUTs steps vary, as a server's do. A recording"
          + " is replayed once, as it was, with its threads and steps; with --steps or --threads"
          + " the whole of it is one step of a trace. In both cases each allocator has a process of"
          + " its own and is measured from its first step on, by a JIT that knows nothing yet; the"
          + " pool plans in the background, as in a server.",
      "",
      "At Ctrl-C the run that goes on and those after it are skipped, and the runs so far printed."
    },
    footer = {
      "",
      "Allocators:",
      "  pool      ours: learns in the first steps, then serves from pooled stacks",
      "  planned   the same, each step in an arena with an offset plan of its own",
      "  direct    ByteBuffer.allocateDirect, freed at once, without our code",
      "  cpu       ours without learning: memory straight from the system",
      "  malloc    the C library's",
      "  netty, netty-adaptive",
      "            Netty's two pools: direct buffers, caches for all threads",
      "  jemalloc, mimalloc",
      "            loaded by name where they are installed, else the run is skipped;",
      "            each of their calls pays for JNA, some 50 to 100 ns, but where they",
      "            are preloaded (LD_PRELOAD)",
      "",
      "Columns: time of a step in microseconds (half of all steps do not exceed",
      "p50, 99 in 100 not p99); nanoseconds for one pair of allocate and release;",
      "page faults and bytes of Java heap per step; the most memory the allocator",
      "reserved (direct, malloc and the like: what was asked for) and the most the",
      "process had in memory, Java heap and all.",
      "",
      "Where steps vary: time of the first 100 steps of each thread (all of a shorter",
      "run), and of the second half of its steps; page faults per step; what the",
      "process had in memory, JVM and all, before the first step, after the last and",
      "at most in between. jemalloc and mimalloc are preloaded there, so that their",
      "calls cost what malloc's do; if that fails, they are called through JNA.",
      "",
      "With --shift: steps of each thread; after how many of them 99 in 100 requests",
      "of the next 100 steps were hits; requests that missed; how often a plan gave way;",
      "planned steps that did not go as planned; what was reserved, and what a new",
      "pool reserves that learns this trace alone.",
      "",
      "Examples: is the pool faster than direct buffers? Does it keep tensors apart?",
      "  prmalloc replay sample:mobilenet --allocator pool --allocator direct",
      "  prmalloc replay sample:mobilenet --touch all --threads 2 --steps 100",
      "  prmalloc replay sample:mobilenet --shift sample:mobilenet-v2 --planned",
      "  prmalloc replay sample:mobilenet --vary 0.25..1 --allocator pool,malloc",
      "  prmalloc replay sample:mobilenet sample:mobilenet-v2 --weights 3,1",
      "  prmalloc replay server.rec --allocator pool,planned,netty,malloc"
    })
final class ReplayCommand implements Callable<Integer> {

  private static final List<String> FOR_POOLS =
      List.of("--planned", "--plan", "--keep-plan", "--isolation");

  private static final List<ReplayAllocator> POOLS =
      List.of(ReplayAllocator.POOL, ReplayAllocator.PLANNED);

  @Spec private CommandSpec spec;

  @Mixin private InputArguments input;

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "INPUT",
      description =
          "More traces: each step is one of all INPUTs, picked at random (see --weights).")
  private List<String> more = List.of();

  @Mixin private VaryingArguments varying;

  @Option(
      names = "--steps",
      paramLabel = "N",
      description =
          "Measured steps of each thread, from 1. Default: "
              + ReplayOptions.MAX_DEFAULT_STEPS
              + ", or as many as have 20 million events, at least "
              + ReplayOptions.MIN_DEFAULT_STEPS
              + ".")
  private Integer steps;

  @Option(
      names = "--warmup-steps",
      paramLabel = "N",
      description =
          "The pool learns for at most N steps of each thread, from 1. Default: until its plan no"
              + " longer changes, at most "
              + ReplayOptions.MAX_LEARNING_STEPS
              + ".")
  private Integer warmupSteps;

  @Option(
      names = "--threads",
      paramLabel = "T",
      description = "How many threads run steps at the same time, from 1 to 1024. Default: 1.")
  private Integer threads;

  @Option(
      names = "--touch",
      paramLabel = "WHAT",
      defaultValue = "first",
      description =
          "How much of each tensor is written: none; first, its first 8 bytes; page, 8 bytes of"
              + " every 4 KiB; all, every byte, checked before the release: a tensor that another"
              + " overwrote fails the run. Default: ${DEFAULT-VALUE}.")
  private Touch touch;

  @Option(
      names = "--allocator",
      paramLabel = "NAME",
      split = ",",
      converter = AllocatorName.class,
      description =
          "One of pool, planned, direct, cpu, netty, netty-adaptive, jemalloc, mimalloc, malloc;"
              + " may be given several times. Default: pool.")
  private List<ReplayAllocator> allocators = List.of(ReplayAllocator.POOL);

  @Option(
      names = "--planned",
      description =
          "The pool's steps ask for their memory themselves, and are planned once they repeat: the"
              + " same as planned for pool in --allocator.")
  private boolean planned;

  @Option(
      names = "--api",
      paramLabel = "FACE",
      defaultValue = "raw",
      description =
          "How pool and cpu are called: raw, by address; handle, by Allocation and byteBuffer()."
              + " The loop keeps handles in an array, so they cost heap here that they do not cost"
              + " in a try-with-resources. Default: ${DEFAULT-VALUE}.")
  private Api api;

  @Option(
      names = "--memory",
      paramLabel = "KIND",
      defaultValue = "direct",
      description =
          "Where pool and cpu take memory from: direct (byte buffers), mmap, or guarded (mmap with"
              + " inaccessible guard pages around it). Default: ${DEFAULT-VALUE}.")
  private Memory memory;

  @Option(
      names = "--policies",
      paramLabel = "WHICH",
      description =
          "Which plans compete for the shared pool: reference, DeepRec's three; all, those, finer"
              + " and geometric size classes, and a packing of whole steps, for all threads"
              + " together or for each. Default: all.")
  private PoolPolicies policies;

  @Option(
      names = "--isolation",
      paramLabel = "WORDS",
      converter = IsolationWords.class,
      description =
          "What the pool does to keep users apart: zero or poison, which fills memory that comes"
              + " back, and canaries, which finds writes behind its end; separated by commas."
              + " Default: none.")
  private Isolation isolation;

  @Option(
      names = "--plan",
      paramLabel = "FILE",
      description = "The pool starts warm, with the plan that this file holds.")
  private Path plan;

  @Option(
      names = "--keep-plan",
      paramLabel = "FILE",
      description = "Write the pool's plan to this file when the run is over.")
  private Path keepPlan;

  @Option(
      names = "--planning-time",
      paramLabel = "SECONDS",
      converter = Seconds.class,
      description =
          "How long the exact planner looks for a smaller plan of a planned step; 0 for not at all."
              + " Default: 1.")
  private Duration planningTime;

  @Option(
      names = "--settle",
      paramLabel = "SECONDS",
      converter = Seconds.class,
      description =
          "How long steps run before they are measured, so that the JIT compiles them: for this time"
              + " without writing, then for this time as measured; from 0. Default: 1.")
  private Duration settle;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description =
          "Also draw what a pool learns from INPUT, an HTML page: lifetimes by size class, the plan"
              + " that is chosen, and what every other plan would cost.")
  private Path page;

  @ArgGroup(exclusive = false, multiplicity = "0..*")
  private List<ShiftArguments> shifts = new ArrayList<>();

  @Option(
      names = "--idle",
      paramLabel = "SECONDS",
      converter = Seconds.class,
      defaultValue = "0.5",
      description =
          "With --shift: the pool gives back what it did not use for so long; each trace is run for"
              + " several times as long at least. Default: ${DEFAULT-VALUE}.")
  private Duration idle;

  @Option(names = ReplayProcess.RUN_HERE, hidden = true, converter = AllocatorName.class)
  private ReplayAllocator runHere;

  @Option(names = "--json", description = "Print one JSON document instead of tables.")
  private boolean json;

  private Optional<String> pageFailure = Optional.empty();

  ReplayCommand() {}

  private Set<ReplayAllocator> chosen() {
    Set<ReplayAllocator> chosen = new LinkedHashSet<>();
    for (ReplayAllocator allocator : allocators) {
      boolean replaced = planned && allocator == ReplayAllocator.POOL;
      chosen.add(replaced ? ReplayAllocator.PLANNED : allocator);
    }
    return chosen;
  }

  @Override
  public Integer call() throws InterruptedException {
    // Held from the first run on until all is printed: Ctrl-C must not end the program before.
    try (CtrlC ctrlC = new CtrlC()) {
      return replay(ctrlC);
    }
  }

  private Integer replay(CtrlC ctrlC) throws InterruptedException {
    ReplayOptions options =
        new ReplayOptions(
            steps == null ? ReplayOptions.DEFAULT.steps() : steps,
            warmupSteps == null ? OptionalInt.empty() : OptionalInt.of(warmupSteps),
            threads == null ? ReplayOptions.DEFAULT.threads() : threads,
            touch,
            api,
            memory,
            new PoolSetup(
                Optional.ofNullable(policies),
                Optional.ofNullable(plan),
                Optional.ofNullable(keepPlan),
                Optional.empty(),
                Optional.ofNullable(planningTime),
                Optional.ofNullable(isolation)));
    if (runHere == null) {
      // What has changed since is told with the figures.
      checkOutputs();
    }
    varying.check(more);
    checkThatOptionsMeanSomething();
    Optional<String> varies = varying.given(more);
    if (varies.isPresent() && !shifts.isEmpty()) {
      throw new IllegalArgumentException(
          "--shift " + shifts.get(0).text() + " cannot be combined with " + varies.get());
    }
    boolean asItWas =
        steps == null && threads == null && shifts.isEmpty() && input.trace().isRecording();
    if (settle != null && (varies.isPresent() || asItWas || !shifts.isEmpty())) {
      throw new IllegalArgumentException(
          "--settle "
              + settle.toNanos() / 1e9
              + " means nothing where cold steps are measured too: with --vary, --shapes, --shift,"
              + " several INPUTs or a recording as it was");
    }
    if (varies.isPresent()) {
      return vary(options, ctrlC);
    }
    if (asItWas) {
      return replayAsItWas(options, ctrlC);
    }
    Trace trace;
    try (TerminalProgress bar = TerminalProgress.create()) {
      TerminalProgress.begin(bar, "reading");
      trace = input.read();
      if (page != null) {
        TerminalProgress.begin(bar, "drawing");
        writePage(trace);
      }
    }
    if (!shifts.isEmpty()) {
      return shift(trace, options, ctrlC);
    }
    ReplayOptions bounded = bounded(options, List.of(trace));
    Replayer replayer = new Replayer(trace, bounded, settle == null ? Replayer.SETTLE : settle);
    Runs<ReplayRun> runs =
        new Runs<>(replayer::run, (a, why) -> ReplayRun.skipped(a, bounded, why));
    ReplayReport report = new ReplayReport(input.input(), trace, bounded, runs.runAll(ctrlC));
    return runs.print(json ? report.json() + "\n" : report.text(), report.failures());
  }

  /** Runs one allocator, and is told how that goes. */
  @FunctionalInterface
  private interface Run<R> {
    R run(ReplayAllocator allocator, ReplayProgress progress) throws InterruptedException;
  }

  /** The runs of all chosen allocators, one after the other until Ctrl-C is pressed. */
  private final class Runs<R> {
    private final Run<R> each;
    private final BiFunction<ReplayAllocator, String, R> skipped;
    private String interrupted;
    private boolean isOneOver;

    /**
     * @param skipped what stands for a run that is not tried to the end, and why it is not
     */
    Runs(Run<R> each, BiFunction<ReplayAllocator, String, R> skipped) {
      this.each = each;
      this.skipped = skipped;
    }

    List<R> runAll(CtrlC ctrlC) throws InterruptedException {
      ctrlC.hold();
      List<R> runs = new ArrayList<>();
      for (ReplayAllocator allocator : chosen()) {
        if (interrupted != null || ctrlC.isPressed()) {
          runs.add(skipped.apply(allocator, allocator.label() + " did not begin"));
          continue;
        }
        try (RunProgress progress = new RunProgress(TerminalProgress.create(), ctrlC)) {
          runs.add(each.run(allocator, progress));
          isOneOver = true;
        } catch (CancellationException pressed) {
          interrupted = allocator.label() + " was interrupted";
          runs.add(skipped.apply(allocator, interrupted));
        }
      }
      return runs;
    }

    /** Prints a report of the runs; nothing if none is over. */
    int print(String text, List<String> failures) {
      if (isOneOver) {
        return ReplayCommand.this.print(text, failures);
      }
      Main.complain(spec.commandLine(), "interrupted before a run was over");
      return Main.FAILED;
    }
  }

  private void checkOutputs() {
    Map<String, Path> files = new LinkedHashMap<>();
    files.put("--keep-plan", keepPlan);
    files.put("--report", page);
    OutputFile.check(files);
    if (keepPlan != null) {
      checkKeptPlan();
    }
    List<String> inputs = new ArrayList<>(List.of(input.input()));
    inputs.addAll(more);
    shifts.forEach(shift -> inputs.add(shift.traceInput().text()));
    if (plan != null) {
      OutputFile.checkKept("--report", page, plan.toString());
    }
    for (String read : inputs) {
      files.forEach((option, file) -> OutputFile.checkKept(option, file, read));
    }
  }

  private void checkKeptPlan() {
    // It is never written into a device or a pipe.
    OutputFile.checkMade(keepPlan);
    if (chosen().containsAll(POOLS)) {
      throw new IllegalArgumentException(
          "--keep-plan "
              + keepPlan
              + " takes one plan, but both pool and planned would write theirs");
    }
  }

  private void checkThatOptionsMeanSomething() {
    if (shifts.isEmpty()) {
      checkAbsent(List.of("--idle"), "--shift");
    }
    boolean pool = POOLS.stream().anyMatch(chosen()::contains);
    // With --shift all others are refused.
    if (!pool && shifts.isEmpty()) {
      checkAbsent(FOR_POOLS, "pool or planned in --allocator");
    }
  }

  private void checkAbsent(List<String> names, String missing) {
    for (String name : names) {
      OptionSpec given = spec.commandLine().getParseResult().matchedOption(name);
      if (given != null) {
        String value = given.arity().max() == 0 ? "" : " " + given.originalStringValues().get(0);
        throw new IllegalArgumentException(name + value + " means nothing without " + missing);
      }
    }
  }

  /** With fewer steps where no number is given and they are long. */
  private ReplayOptions bounded(ReplayOptions options, List<Trace> traces) {
    int events = traces.stream().mapToInt(Trace::eventCount).max().orElse(0);
    return steps == null ? options.withSteps(ReplayOptions.defaultSteps(events)) : options;
  }

  private Integer vary(ReplayOptions given, CtrlC ctrlC) throws InterruptedException {
    List<TraceInput> all = new ArrayList<>(List.of(input.trace()));
    more.forEach(text -> all.add(input.trace(text)));
    List<Trace> traces = new ArrayList<>();
    for (TraceInput each : all) {
      traces.add(each.read());
      warn(each);
    }
    ReplayOptions options = bounded(given, traces);
    Traffic traffic = varying.traffic(traces);
    VaryingReplayer replayer = new VaryingReplayer(traffic, options);
    if (page != null && runHere == null) {
      writePage(traces.get(0));
    }
    List<String> names = all.stream().map(TraceInput::text).toList();
    return replay(replayer, VaryingReport.of(names, traffic, options), options, ctrlC);
  }

  private Integer replayAsItWas(ReplayOptions options, CtrlC ctrlC) throws InterruptedException {
    warn(input.trace());
    RecordedTraffic traffic = RecordedTraffic.read(Path.of(input.input()));
    if (page != null && runHere == null) {
      writePage(input.trace().read());
    }
    return replay(
        new RecordedReplayer(traffic, options),
        VaryingReport.of(input.input(), traffic, options),
        options,
        ctrlC);
  }

  private void warn(TraceInput read) {
    if (runHere == null) {
      Main.warn(spec, read.warning());
    }
  }

  /** Each allocator in a process of its own; in the process of one, that. */
  private Integer replay(
      ColdReplayer replayer, VaryingReport report, ReplayOptions options, CtrlC ctrlC)
      throws InterruptedException {
    if (runHere != null) {
      PrintWriter out = spec.commandLine().getOut();
      ReplayProcess.print(
          out, ReplayReport.json(replayer.run(runHere, ReplayProcess.progress(out))));
      return 0;
    }
    ReplayProcess process =
        new ReplayProcess(spec.root().commandLine().getParseResult().originalArgs());
    Runs<String> runs =
        new Runs<>(
            (allocator, progress) -> runElsewhere(process, allocator, options, progress),
            (a, why) -> ReplayReport.json(ReplayRun.skipped(a, options, why)));
    runs.runAll(ctrlC).forEach(report::add);
    return runs.print(json ? report.json() + "\n" : report.text(), report.failures());
  }

  /** A process that ends without figures must not cost those of the others. */
  private static String runElsewhere(
      ReplayProcess process,
      ReplayAllocator allocator,
      ReplayOptions options,
      ReplayProgress progress)
      throws InterruptedException {
    try {
      return process.run(allocator, progress);
    } catch (CancellationException pressed) {
      // It is an IllegalStateException, too.
      throw pressed;
    } catch (IllegalStateException ended) {
      return ReplayReport.json(ReplayRun.failed(allocator, options, ended.getMessage()));
    } catch (UncheckedIOException noProcess) {
      return ReplayReport.json(
          ReplayRun.failed(allocator, options, Main.describe(noProcess.getCause())));
    }
  }

  /** That it cannot be written is told when the figures are printed. */
  private void writePage(Trace trace) {
    int headerBytes = api == Api.RAW ? (int) Allocator.DEFAULT_ALIGNMENT : 0;
    PoolPolicies chosen = policies == null ? PoolPolicies.ALL : policies;
    String html =
        PoolPage.html(
            trace,
            headerBytes,
            chosen,
            planningTime == null ? Duration.ofSeconds(1) : planningTime);
    pageFailure = OutputFile.failure(() -> OutputFile.write(page, html));
  }

  private Integer print(String text, List<String> runFailures) {
    PrintWriter out = spec.commandLine().getOut();
    out.print(text);
    out.flush();
    List<String> failures = new ArrayList<>(runFailures);
    pageFailure.ifPresent(failures::add);
    if (failures.isEmpty()) {
      return 0;
    }
    Main.complain(spec.commandLine(), String.join("; ", failures));
    return Main.FAILED;
  }

  private Integer shift(Trace first, ReplayOptions given, CtrlC ctrlC) throws InterruptedException {
    List<Trace> traces = new ArrayList<>(List.of(first));
    List<String> inputs = new ArrayList<>(List.of(input.text()));
    for (ShiftArguments shift : shifts) {
      traces.add(shift.traceInput().read());
      inputs.add(shift.text());
    }
    ReplayOptions options = bounded(given, traces);
    ShiftReplayer replayer = new ShiftReplayer(traces, options, idle);
    Runs<ShiftRun> runs = new Runs<>(replayer::run, ShiftRun::skipped);
    ShiftReport report = new ShiftReport(inputs, options, idle, runs.runAll(ctrlC));
    return runs.print(json ? report.json() + "\n" : report.text(), report.failures());
  }
}
