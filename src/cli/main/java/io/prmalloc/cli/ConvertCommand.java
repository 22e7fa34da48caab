package io.prmalloc.cli;

import io.prmalloc.trace.TraceConversion;
import io.prmalloc.trace.TraceConversion.Loss;
import io.prmalloc.trace.TraceFormat;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code convert}: writes a trace in another format.
 *
 * <p>Threading: one thread.
 */
@Command(
    name = "convert",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Writes a trace in another format.",
      "",
      "What the format cannot hold is said on standard error. What would make another step of it,"
          + " other sizes or other tensors alive together, is refused without --force."
    },
    footer = {
      "",
      "Examples:",
      "  prmalloc convert server.rec --to events --out server.ev",
      "  prmalloc convert sample:mobilenet --to lifetimes --out mobilenet.csv"
    })
final class ConvertCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private InputArguments input;

  @Option(
      names = "--to",
      required = true,
      paramLabel = "FORMAT",
      description = "events, lifetimes, records or recording; the others are only read.")
  private TraceFormat target;

  @Option(
      names = "--out",
      required = true,
      paramLabel = "FILE",
      description = "Where to write; a file that is there is replaced.")
  private Path out;

  @Option(names = "--force", description = "Write it even if it is another step then.")
  private boolean force;

  ConvertCommand() {}

  @Override
  public Integer call() {
    OutputFile.checkMade(out);
    OutputFile.checkKept("--out", out, input.input());
    TraceConversion conversion;
    try (TerminalProgress bar = TerminalProgress.create()) {
      TerminalProgress.begin(bar, "reading");
      conversion = TraceConversion.of(input.trace(), target);
    }
    Main.warn(spec, conversion.warning());
    for (Loss loss : conversion.losses()) {
      Main.complain(
          spec.commandLine(), input.input() + ": lost in " + target.label() + ": " + loss.what());
    }
    if (conversion.changesMeaning() && !force) {
      Main.complain(
          spec.commandLine(),
          out + ": not written, for it would be another step; --force writes it");
      return Main.FAILED;
    }
    Optional<String> failure;
    try (TerminalProgress bar = TerminalProgress.create()) {
      TerminalProgress.begin(bar, "writing");
      failure = OutputFile.failure(() -> OutputFile.make(out, conversion::write));
    }
    failure.ifPresent(reason -> Main.complain(spec.commandLine(), reason));
    return failure.isEmpty() ? 0 : Main.FAILED;
  }
}
