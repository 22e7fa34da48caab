package io.prmalloc.cli;

import io.prmalloc.model.GraphModel;
import io.prmalloc.plan.arena.ArenaOptions;
import io.prmalloc.plan.arena.ArenaPlanner;
import io.prmalloc.trace.planning.ArenaReport;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code arena}: places a graph's tensors by the arena planner.
 *
 * <p>Threading: one thread.
 */
@Command(
    name = "arena",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Places a graph's tensors into one arena, as TensorFlow Lite does.",
      "",
      "Tensors whose lives are apart share bytes. Nothing is allocated: a graph may need more"
          + " memory than there is here."
    },
    footer = {
      "",
      "Columns: the nodes at which the tensor needs its place (of a tensor that is",
      "never freed, up to the last one) and the offset in its arena; persistent",
      "tensors have an arena of their own. No offset: it needs none, or its node was",
      "not executed. load is what no placement can beat. Each graph of a model has an",
      "arena; at the same time only those are in use that call one another.",
      "",
      "Examples:",
      "  prmalloc arena model.tflite --alignment 64 --explain",
      "  prmalloc arena audio.tflite --shape input=1x16000",
      "  prmalloc arena graph.json --execute 0-0 --execute 1-4 --json"
    })
final class ArenaCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private GraphArguments input;

  @Option(
      names = "--preserve-inputs",
      description = "The graph's inputs keep their place to the end.")
  private boolean preserveInputs;

  @Option(
      names = "--preserve-intermediates",
      description = "Every tensor keeps its place to the end.")
  private boolean preserveIntermediates;

  @Option(
      names = "--alignment",
      paramLabel = "A",
      description =
          "What every offset is a multiple of, a power of two. Default: 64 for a .tflite model, as"
              + " TensorFlow Lite has it, else 4.")
  private Long alignment;

  @Option(
      names = "--arena-alignment",
      paramLabel = "A",
      defaultValue = "64",
      description =
          "What the arena's address is a multiple of: a power of two, and the most --alignment can"
              + " be. Default: ${DEFAULT-VALUE}.")
  private long arenaAlignment;

  @Option(
      names = "--execute",
      paramLabel = "F-L",
      converter = NodeRange.Converter.class,
      description =
          "Place the tensors born at nodes F to L; may be given several times, in order. Default:"
              + " those of all nodes at once.")
  private List<NodeRange> ranges = List.of();

  @Option(
      names = "--explain",
      description = "Say of each tensor why it lives where it does, and how long.")
  private boolean explain;

  @Option(names = "--json", description = "Print one JSON document instead of a table.")
  private boolean json;

  ArenaCommand() {}

  @Override
  public Integer call() {
    // What is wrong with them is told before the graph is read.
    options(alignment == null ? 1 : alignment);
    String text;
    try (TerminalProgress bar = TerminalProgress.create()) {
      TerminalProgress.begin(bar, "reading");
      GraphModel model = input.read();
      TerminalProgress.begin(bar, "placing");
      long byModel = Math.min(model.alignment(), arenaAlignment);
      text = plan(model, options(alignment == null ? byModel : alignment));
    }
    PrintWriter out = spec.commandLine().getOut();
    out.print(text);
    out.flush();
    return 0;
  }

  private ArenaOptions options(long tensorAlignment) {
    return new ArenaOptions(preserveInputs, preserveIntermediates, tensorAlignment, arenaAlignment);
  }

  private String plan(GraphModel model, ArenaOptions options) {
    if (!ranges.isEmpty() && model.parts().size() > 1) {
      throw new IllegalArgumentException(
          "--execute is of one graph; the model has "
              + model.parts().size()
              + ": choose one by --subgraph");
    }
    List<ArenaPlanner> planners = new ArrayList<>();
    try {
      for (GraphModel.Part part : model.parts()) {
        planners.add(ArenaPlanner.onPaper(part.graph(), options));
      }
      planners.forEach(this::place);
      ArenaReport report = new ArenaReport(model, planners, options, explain);
      return json ? report.json() + "\n" : report.text(input.input());
    } finally {
      planners.forEach(ArenaPlanner::close);
    }
  }

  private void place(ArenaPlanner planner) {
    if (ranges.isEmpty()) {
      planner.executeAllocations();
    }
    for (NodeRange range : ranges) {
      planner.executeAllocations(range.first(), range.last());
    }
  }
}
