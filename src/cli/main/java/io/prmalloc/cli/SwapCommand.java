package io.prmalloc.cli;

import io.prmalloc.report.SwapPage;
import io.prmalloc.trace.MnnProfile;
import io.prmalloc.trace.simulate.ModelKind;
import io.prmalloc.trace.swap.SwapMode;
import io.prmalloc.trace.swap.SwapOptions;
import io.prmalloc.trace.swap.SwapReport;
import io.prmalloc.trace.swap.SwapWatch;
import io.prmalloc.trace.swap.Swapping;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code swap}: simulates a training step whose feature maps are kept on a disk.
 *
 * <p>Threading: one thread.
 */
@Command(
    name = "swap",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Shows how long a training step takes, and how little memory it needs, when what its forward"
          + " pass leaves for the backward pass waits on a disk; on paper, nothing is allocated.",
      "",
      "INPUT is a directory of MNN profiler files that knows how long each operator takes.",
      "",
      "With --budget every choice of maps that is considered is simulated; a step of thousands of"
          + " operators takes minutes. Ctrl-C ends that with the best choice so far."
    },
    footer = {
      "",
      "Modes:",
      "  sync       computing and transfers one after the other",
      "  semi-sync  an operator computes beside what the one before it put out, or",
      "             the next one needs",
      "  async      the disk works on its own; an operator waits for what it needs",
      "",
      "Examples:",
      "  prmalloc swap profiles/Squeezenet --batch 2 --mode async --report swap.html",
      "  prmalloc swap profiles/Squeezenet --batch 2 --budget 110000000 --recompute"
    })
final class SwapCommand implements Callable<Integer> {

  private enum Allocator {
    OS,
    POOL
  }

  @Spec private CommandSpec spec;

  @Mixin private InputArguments input;

  @Option(
      names = "--mode",
      paramLabel = "MODE",
      defaultValue = "semi-sync",
      description = "sync, semi-sync or async. Default: ${DEFAULT-VALUE}.")
  private SwapMode mode;

  @Option(
      names = "--allocator",
      paramLabel = "NAME",
      defaultValue = "os",
      description =
          "Where memory comes from: os, every tensor from the system, or pool, the buffer pool of"
              + " MNN. Default: ${DEFAULT-VALUE}.")
  private Allocator allocator;

  @Option(
      names = "--reuse-children",
      description = "Let the pool hand out again at once what is given back, as MNN itself does.")
  private boolean reuseChildren;

  @Option(
      names = "--out-rate",
      paramLabel = "R",
      description =
          "Bytes per second to the disk, from 1 to 1e18. Default: 104094472 in 4.452 seconds.")
  private double outRate = SwapOptions.DEFAULT_BYTES_PER_SECOND;

  @Option(
      names = "--in-rate",
      paramLabel = "R",
      description = "Bytes per second from the disk. Default: the same.")
  private double inRate = SwapOptions.DEFAULT_BYTES_PER_SECOND;

  @Option(
      names = "--forward-ops",
      paramLabel = "N",
      description =
          "How many operators the forward pass has. Default: found where the labels meet the"
              + " network.")
  private Integer forwardOps;

  @Option(
      names = "--budget",
      paramLabel = "BYTES",
      description =
          "Swap only as much as keeps the peak within so many bytes, and what costs the least time;"
              + " exit with 1 if nothing does. Default: swap everything.")
  private Long budget;

  @Option(
      names = "--recompute",
      description = "With --budget: let tensors be computed again instead where that is cheaper.")
  private boolean recompute;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description = "Draw the step on a page for the browser.")
  private Path page;

  @Option(names = "--json", description = "Print one JSON document instead of a table.")
  private boolean json;

  SwapCommand() {}

  @Override
  public Integer call() {
    SwapOptions options =
        new SwapOptions(
            mode,
            model(),
            outRate,
            inRate,
            forwardOps == null ? OptionalInt.empty() : OptionalInt.of(forwardOps),
            budget == null ? OptionalLong.empty() : OptionalLong.of(budget),
            recompute);
    OutputFile.check(Collections.singletonMap("--report", page));
    OutputFile.checkKept("--report", page, input.input());
    // Held from the first choice on until all is written: Ctrl-C must not end the program before.
    try (CtrlC ctrlC = new CtrlC()) {
      return show(simulate(options, ctrlC));
    }
  }

  private Swapping simulate(SwapOptions options, CtrlC ctrlC) {
    try (TerminalProgress bar = TerminalProgress.create()) {
      TerminalProgress.begin(bar, "reading");
      MnnProfile profile = input.trace().readProfile();
      TerminalProgress.begin(bar, "simulating");
      if (options.budgetBytes().isPresent()) {
        ctrlC.hold();
      }
      return Swapping.of(profile, options, watch(bar, ctrlC));
    }
  }

  private static SwapWatch watch(TerminalProgress bar, CtrlC ctrlC) {
    return (present, simulations) -> {
      if (bar != null) {
        bar.update("simulating", simulations, -1);
        bar.message(
            String.format(
                Locale.ROOT, "peak %,d, %,.0f ms", present.peakBytes(), present.totalMillis()));
      }
      return !ctrlC.isPressed();
    };
  }

  private int show(Swapping swapping) {
    List<String> failures = new ArrayList<>(swapping.failure().stream().toList());
    if (page != null) {
      OutputFile.failure(() -> OutputFile.write(page, SwapPage.html(swapping)))
          .ifPresent(failures::add);
    }
    PrintWriter console = spec.commandLine().getOut();
    console.print(json ? SwapReport.json(swapping) + "\n" : SwapReport.text(swapping));
    console.flush();
    if (failures.isEmpty()) {
      return 0;
    }
    Main.complain(spec.commandLine(), String.join("; ", failures));
    return Main.FAILED;
  }

  private ModelKind model() {
    if (allocator == Allocator.POOL) {
      return reuseChildren ? ModelKind.POOL_REUSING_CHILDREN : ModelKind.POOL;
    }
    if (reuseChildren) {
      throw new IllegalArgumentException("--reuse-children is for --allocator pool");
    }
    return ModelKind.OS;
  }
}
