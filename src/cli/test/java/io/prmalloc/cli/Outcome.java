package io.prmalloc.cli;

import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * The exit code and the output of a command.
 *
 * <p>Threading: immutable.
 */
record Outcome(int exitCode, String out, String err) {

  /** Runs a command in this JVM. */
  static Outcome of(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode = Main.execute(new PrintWriter(out, true), new PrintWriter(err, true), args);
    return new Outcome(exitCode, out.toString(), err.toString());
  }
}
