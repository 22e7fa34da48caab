package io.prmalloc.cli;

import io.prmalloc.trace.Trace;
import io.prmalloc.trace.learning.Learning;
import io.prmalloc.trace.learning.LearningReport;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code learn}: shows the plans that the lifetime policies make for equal steps.
 *
 * <p>Threading: one thread.
 */
@Command(
    name = "learn",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Shows how many bytes a learning pool would reserve for a trace.",
      "",
      "Feeds the same step N times to the three lifetime policies (size classes of 4, 8 and 16"
          + " KiB), on paper: nothing is allocated. Each packs the tensors into as few blocks as"
          + " it can, after every step; the smallest wins. Tensors of up to 32 KiB are not planned."
    },
    footer = {"", "Example:", "  prmalloc learn sample:mobilenet --steps 5"})
final class LearnCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private InputArguments input;

  @Option(
      names = "--steps",
      required = true,
      paramLabel = "N",
      description = "How many equal steps to feed, from 1.")
  private int steps;

  @Option(
      names = "--header",
      paramLabel = "BYTES",
      defaultValue = "64",
      description =
          "Added to the size of every planned tensor; what the pool needs for raw addresses."
              + " Default: ${DEFAULT-VALUE}.")
  private int headerBytes;

  @Option(names = "--json", description = "Print one JSON document instead of tables.")
  private boolean json;

  LearnCommand() {}

  @Override
  public Integer call() {
    Learning learning = learn();
    if (json) {
      spec.commandLine().getOut().println(LearningReport.json(learning));
    } else {
      spec.commandLine().getOut().print(LearningReport.text(learning));
    }
    spec.commandLine().getOut().flush();
    return 0;
  }

  private Learning learn() {
    try (TerminalProgress bar = TerminalProgress.create()) {
      TerminalProgress.begin(bar, "reading");
      Trace trace = input.read();
      return Learning.of(
          trace,
          steps,
          headerBytes,
          done -> {
            if (bar != null) {
              bar.update("learning", done, steps);
            }
          });
    }
  }
}
