/**
 * Plans the tensors of a file with several strategies, side by side, and shows the results.
 *
 * <p>A {@link io.prmalloc.trace.planning.PlanMethod} is a strategy as the command line offers it;
 * {@link io.prmalloc.trace.planning.PlanMethods} lists them. {@link
 * io.prmalloc.trace.planning.Planning} runs some of them, and each plan passes the validator;
 * {@link io.prmalloc.trace.planning.PlanReport} shows the runs as a table or JSON. {@link
 * io.prmalloc.trace.planning.ArenaReport} does so for the arena of a model.
 *
 * <p>May use: {@code io.prmalloc.trace}, {@code io.prmalloc.model}, {@code io.prmalloc.plan} and
 * below it, Jackson's streaming generator.
 *
 * <p>Conventions: those of {@code io.prmalloc.trace}. A new strategy is a {@code PlanMethod} in the
 * list of {@code PlanMethods} and nothing else.
 */
package io.prmalloc.trace.planning;
