package io.prmalloc.example;

import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;

/** Ends a program of the example with one line that says why, and an exit code. */
public final class RunFailedException extends RuntimeException {

  private static final long serialVersionUID = 1;

  /** As that of {@code prmalloc}: the work failed. */
  public static final int FAILED = CommandLine.ExitCode.SOFTWARE;

  /** As that of {@code prmalloc}: what was given is wrong. */
  public static final int BAD_INPUT = CommandLine.ExitCode.USAGE;

  private final int exitCode;

  /**
   * Threading: any thread.
   *
   * @param message made one line
   */
  public RunFailedException(int exitCode, String message, Throwable cause) {
    super(String.valueOf(message).strip().replaceAll("\\s*\\R\\s*", " "), cause);
    this.exitCode = exitCode;
  }

  /**
   * A command line that prints these as one line. Any other exception has its stack trace.
   *
   * <p>Threading: any thread.
   */
  public static CommandLine commandLine(Object command) {
    IExecutionExceptionHandler handler =
        (e, line, result) -> {
          if (e instanceof RunFailedException failed) {
            line.getErr().println(line.getCommandName() + ": " + failed.getMessage());
            return failed.exitCode;
          }
          throw e;
        };
    return new CommandLine(command)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(handler);
  }
}
