/**
 * The command line: {@code java -jar prmalloc-cli.jar COMMAND}.
 *
 * <p>{@link io.prmalloc.cli.Main} is the entry point. Each command is a class that reads its
 * arguments, calls the package that does the work, and prints the result.
 *
 * <p>May use: every package of the library, picocli, the progress bar.
 *
 * <p>Conventions: exit code 0, 1 if the work failed, 2 for bad usage or bad input. Results go to
 * standard output, errors to standard error, one line each, and progress to standard error only
 * when that is a terminal. With {@code --json} standard output holds one JSON document and nothing
 * else.
 */
package io.prmalloc.cli;
