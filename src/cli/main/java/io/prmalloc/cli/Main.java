package io.prmalloc.cli;

import io.prmalloc.kept.PlanFormatException;
import io.prmalloc.trace.Pipes;
import io.prmalloc.trace.TraceFormatException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * The program {@code prmalloc}.
 *
 * <p>Threading: one thread.
 */
@Command(
    name = "prmalloc",
    description = {
      "Replays, and plans for, what programs allocate.",
      "",
      "A trace is one step of a program: which tensors it allocates and releases, in order.",
      "sample:mobilenet is one that is always there: an inference step of MobileNet v1."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Exit code: 0; 1 if the work failed or its output cannot be written; 2 for bad",
      "usage or bad input.",
      "",
      "Try:",
      "  prmalloc replay sample:mobilenet --allocator pool --allocator direct",
      "  prmalloc COMMAND --help",
    })
public final class Main implements Callable<Integer> {

  /** The work was done but its result is a failure. */
  static final int FAILED = 1;

  /** The arguments or the input were wrong. */
  static final int BAD_INPUT = 2;

  // In the order people see them.
  private static final List<Class<?>> COMMANDS =
      List.of(
          ReplayCommand.class,
          LearnCommand.class,
          PlanCommand.class,
          ArenaCommand.class,
          SimulateCommand.class,
          SwapCommand.class,
          ConvertCommand.class);

  @Spec private CommandSpec spec;

  /** For the command line. Threading: any thread. */
  public Main() {}

  /**
   * Runs a command and ends the JVM with its exit code.
   *
   * <p>Threading: one thread.
   *
   * @param args the command and its arguments
   */
  public static void main(String[] args) {
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    System.exit(execute(new FileOutputStream(FileDescriptor.out), err, args));
  }

  /**
   * Runs a command, and complains if its output cannot be written.
   *
   * <p>Threading: one thread.
   *
   * @return the exit code
   */
  static int execute(OutputStream standardOutput, PrintWriter err, String... args) {
    StandardOutput output = new StandardOutput(standardOutput);
    PrintWriter out = new PrintWriter(output, true, StandardCharsets.UTF_8);
    int exitCode = execute(out, err, args);
    out.flush();
    if (output.failure().isEmpty()) {
      return exitCode;
    }
    complain(err, "standard output cannot be written: " + output.failure().get());
    return FAILED;
  }

  /**
   * Runs a command.
   *
   * <p>Threading: one thread.
   *
   * @return the exit code
   */
  static int execute(PrintWriter out, PrintWriter err, String... args) {
    CommandLine program = new CommandLine(new Main());
    commands(args).forEach(program::addSubcommand);
    Pipes pipes = new Pipes();
    try {
      return program
          .setOut(out)
          .setErr(err)
          .setExpandAtFiles(false)
          .registerConverter(Path.class, Main::path)
          .setCaseInsensitiveEnumValuesAllowed(true)
          .setParameterExceptionHandler(Main::badUsage)
          .setExecutionExceptionHandler(Main::failed)
          .execute(args);
    } finally {
      pipes.close();
    }
  }

  /** An empty word would be the current directory. */
  private static Path path(String word) {
    if (word.isEmpty()) {
      throw new TypeConversionException("the path is empty");
    }
    try {
      return Path.of(word);
    } catch (InvalidPathException e) {
      throw new TypeConversionException(describe(e));
    }
  }

  /**
   * The command that is named first, or all if none is: to get all of them ready takes as long as
   * many a command.
   */
  private static List<Class<?>> commands(String... args) {
    for (Class<?> command : COMMANDS) {
      if (args.length > 0 && command.getAnnotation(Command.class).name().equals(args[0])) {
        return List.of(command);
      }
    }
    return COMMANDS;
  }

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "no command is given");
  }

  private static int badUsage(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    complain(command, e.getMessage() + " (see `" + name + " --help`)");
    return BAD_INPUT;
  }

  private static int failed(Exception e, CommandLine command, CommandLine.ParseResult parsed) {
    if (e instanceof UncheckedIOException unchecked) {
      complain(command, describe(unchecked.getCause()));
      return BAD_INPUT;
    }
    if (e instanceof InvalidPathException path) {
      complain(command, describe(path));
      return BAD_INPUT;
    }
    // What readers and options throw; TraceFormatException tells the file and the line by itself.
    if (e instanceof TraceFormatException
        || e instanceof PlanFormatException
        || e instanceof IllegalArgumentException) {
      complain(command, e.getMessage());
      return BAD_INPUT;
    }
    complain(command, e instanceof IllegalStateException ? e.getMessage() : e.toString());
    return FAILED;
  }

  /** What went wrong with a file, for people. */
  static String describe(IOException e) {
    if (e instanceof NoSuchFileException absent) {
      return absent.getFile() + ": is not there";
    }
    if (e instanceof AccessDeniedException denied) {
      return denied.getFile() + ": may not be read";
    }
    if (e instanceof FileSystemException file && file.getReason() == null) {
      return file.getFile() + ": cannot be read";
    }
    return e.getMessage();
  }

  /**
   * Java takes the encoding of file names from the locale, and in containers there is often none.
   */
  private static String describe(InvalidPathException e) {
    String encoding = System.getProperty("sun.jnu.encoding", "unknown");
    return "`"
        + e.getInput()
        + "` is no name of a file in the locale's encoding "
        + encoding
        + (encoding.equals("UTF-8") ? "" : "; LC_ALL=C.UTF-8 in the environment sets another");
  }

  /** One line of plain characters, whatever the message holds. */
  static void complain(CommandLine command, String message) {
    complain(command.getErr(), message);
  }

  private static void complain(PrintWriter err, String message) {
    String line = message.strip().replaceAll("\\s*\\R\\s*", " ");
    err.println("prmalloc: " + line.replaceAll("\\p{Cntrl}", "?"));
  }

  /** Says on standard error if the input is not all there was. */
  static void warn(CommandSpec command, Optional<String> about) {
    about.ifPresent(warning -> complain(command.commandLine(), "warning: " + warning));
  }

  /** The version Maven wrote into the jar. Threading: any thread. */
  static final class Version implements IVersionProvider {

    private static final String PROPERTIES =
        "/META-INF/maven/io.prmalloc/prmalloc-cli/pom.properties";

    Version() {}

    @Override
    public String[] getVersion() throws IOException {
      try (InputStream in = Main.class.getResourceAsStream(PROPERTIES)) {
        if (in == null) {
          return new String[] {"prmalloc, not from a jar"};
        }
        Properties properties = new Properties();
        properties.load(in);
        return new String[] {"prmalloc " + properties.getProperty("version")};
      }
    }
  }
}
