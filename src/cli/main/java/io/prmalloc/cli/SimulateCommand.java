package io.prmalloc.cli;

import io.prmalloc.plan.heuristic.PlacementOrder;
import io.prmalloc.trace.simulate.ModelKind;
import io.prmalloc.trace.simulate.Simulation;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code simulate}: computes what a step needs with the reference allocators, and at least.
 *
 * <p>Threading: one thread.
 */
@Command(
    name = "simulate",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Shows how much memory a step needs, on paper: nothing is allocated.",
      "",
      "With an oracle that takes each tensor from the system and gives it back at once; with the"
          + " buffer pool of MNN; by the placement of the HeuristicAllocator project; and the lower"
          + " bound of placements, which is the load with sizes rounded up to 64."
    },
    footer = {
      "",
      "Examples:",
      "  prmalloc simulate sample:mobilenet",
      "  prmalloc simulate profiles/Squeezenet --batch 2 --json"
    })
final class SimulateCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private InputArguments input;

  @Option(
      names = "--reuse-children",
      description =
          "Let poolPeakBytes be that of MNN itself, whose pool hands out again at once what is"
              + " given back. Default: as the project models it, once its siblings are back too.")
  private boolean reuseChildren;

  @Option(
      names = "--order",
      paramLabel = "ORDER",
      defaultValue = "life",
      description =
          "Which placement goes by heuristicBytes: life, the longest life first, or size, the"
              + " largest first. Default: ${DEFAULT-VALUE}.")
  private PlacementOrder order;

  @Option(names = "--json", description = "Print one JSON document instead of a table.")
  private boolean json;

  SimulateCommand() {}

  @Override
  public Integer call() {
    Simulation simulation;
    try (TerminalProgress bar = TerminalProgress.create()) {
      TerminalProgress.begin(bar, "simulating");
      simulation = Simulation.of(input.trace());
    }
    input.warn();
    spec.commandLine()
        .getOut()
        .print(
            json
                ? simulation.json(
                        reuseChildren ? ModelKind.POOL_REUSING_CHILDREN : ModelKind.POOL, order)
                    + "\n"
                : simulation.text());
    spec.commandLine().getOut().flush();
    return 0;
  }
}
