package io.prmalloc.trace.planning;

import io.prmalloc.plan.LowerBounds;
import io.prmalloc.trace.TensorLifetimes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

/**
 * Chooses strategies and runs them, one after the other.
 *
 * <p>Threading: one thread at a time.
 */
public final class Planning {

  /** Stands for every strategy. */
  public static final String ALL = "all";

  private record Choice(PlanMethod method, PlanKind kind, boolean named) {}

  /** Is told before each strategy begins. */
  @FunctionalInterface
  public interface Progress {
    /**
     * Threading: the thread that plans.
     *
     * @param strategy which begins
     * @param done how many runs there were
     * @param total how many there will be
     */
    void update(String strategy, int done, int total);
  }

  private final TensorLifetimes tensors;
  private final PlanOptions options;
  private final List<Choice> choices = new ArrayList<>();

  /**
   * Threading: any thread.
   *
   * @param strategies names, each once however often it comes; none, or {@link #ALL}, for every
   *     strategy that is defined for the tensors' sizes
   * @param kind which plans; empty for all that a strategy makes, objects before offsets
   * @throws IllegalArgumentException if a tensor is fixed where the alignment does not let it be;
   *     if two are fixed at the same bytes; if sizes are too large for plans under constraints; if
   *     there is no strategy of a name, or one that is named is not defined for the tensors' sizes
   */
  public Planning(
      TensorLifetimes tensors,
      PlanOptions options,
      List<String> strategies,
      Optional<PlanKind> kind) {
    this.tensors = tensors;
    this.options = options;
    checkFixed(tensors, options.alignment());
    checkApart(tensors);
    checkSizes(tensors);
    boolean all = strategies.isEmpty() || strategies.contains(ALL);
    List<PlanMethod> named =
        strategies.stream()
            .filter(name -> !name.equals(ALL))
            .distinct()
            .map(PlanMethods::named)
            .toList();
    for (PlanMethod method : all ? PlanMethods.all() : named) {
      int before = choices.size();
      for (PlanKind each : kind.map(List::of).orElse(List.of(PlanKind.values()))) {
        if (method.isDefined(each, tensors.dimensions())) {
          choices.add(new Choice(method, each, named.contains(method)));
        }
      }
      if (choices.size() == before && named.contains(method)) {
        throw undefined(method, kind);
      }
    }
    if (choices.isEmpty()) {
      throw new IllegalArgumentException(
          tensors.name()
              + ": no strategy makes "
              + kind.map(PlanKind::label).orElse("plans")
              + " for sizes of "
              + tensors.dimensions()
              + " dimensions");
    }
  }

  /** Refuses fixed offsets that the alignment does not allow. */
  static void checkFixed(TensorLifetimes tensors, long alignment) {
    for (int i = 0; i < tensors.count(); i++) {
      long offset = tensors.records().get(i).constraints().offset().orElse(0);
      if (offset % alignment != 0) {
        throw new IllegalArgumentException(
            tensors.name()
                + ": tensor "
                + tensors.shownId(i)
                + " is fixed at offset "
                + offset
                + ", no multiple of the alignment "
                + alignment);
      }
    }
  }

  /** Refuses tensors that a file fixes at the same bytes because they lie in two memories. */
  private static void checkApart(TensorLifetimes tensors) {
    List<Integer> all = IntStream.range(0, tensors.count()).boxed().toList();
    FixedOffsets.fault(tensors, all)
        .ifPresent(
            fault -> {
              throw new IllegalArgumentException(
                  tensors.name()
                      + ": fixed offsets cannot be kept in one memory: "
                      + fault
                      + "; --memory plans two");
            });
  }

  private static void checkSizes(TensorLifetimes tensors) {
    if (tensors.constraints().isEmpty()) {
      return;
    }
    try {
      LowerBounds.loadBytes(tensors.records());
    } catch (IllegalArgumentException tooLarge) {
      throw new IllegalArgumentException(tensors.name() + ": " + tooLarge.getMessage(), tooLarge);
    }
  }

  private IllegalArgumentException undefined(PlanMethod method, Optional<PlanKind> kind) {
    String what =
        tensors.name() + ": " + method.label() + kind.map(k -> " by " + k.label()).orElse("");
    return new IllegalArgumentException(
        tensors.dimensions() == 1
            ? what + " is not defined"
            : what + " is not defined for sizes of " + tensors.dimensions() + " dimensions");
  }

  /**
   * Runs all of them. A strategy that was not named and that refuses the tensors, or whose time is
   * over, is skipped; a named one's refusal is the caller's, but that of objects under constraints,
   * if it makes offsets, and it fails when its time is over. Once the watcher of the options says
   * so, the strategy that runs ends, with the best it has if it goes on improving a plan, and all
   * that would come are skipped.
   *
   * <p>Threading: one thread at a time.
   *
   * @throws IllegalArgumentException if a strategy that was named refuses the tensors
   * @throws InterruptedException if the thread was interrupted
   */
  public List<PlanRun> run(Progress progress) throws InterruptedException {
    List<PlanRun> runs = new ArrayList<>();
    for (Choice choice : choices) {
      if (options.watcher().isCancelled()) {
        runs.add(without(choice, System.nanoTime(), PlanRun.CANCELLED, ""));
      } else {
        progress.update(choice.method.label(), runs.size(), choices.size());
        runs.add(run(choice, runs));
      }
    }
    return runs;
  }

  private PlanRun run(Choice choice, List<PlanRun> before) throws InterruptedException {
    long begin = System.nanoTime();
    Optional<String> refusal = refusal(choice);
    if (refusal.isPresent() && choice.named && isLastHope(choice, before)) {
      throw new IllegalArgumentException(refusal.get());
    }
    if (refusal.isPresent()) {
      return without(choice, begin, refusal.get(), "");
    }
    try {
      Plan plan =
          choice.method.plan(
              choice.kind, tensors, choice.named ? options : choice.method.amongOthers(options));
      long nanos = System.nanoTime() - begin;
      return new PlanRun(
          choice.method.label(),
          choice.kind,
          nanos,
          Optional.of(plan),
          plan.fault(tensors),
          Optional.empty(),
          Optional.empty());
    } catch (CancellationException e) {
      return without(choice, begin, PlanRun.CANCELLED, "");
    } catch (TimeoutException e) {
      String reason = "did not end within " + seconds();
      return choice.named
          ? without(choice, begin, "", reason)
          : without(
              choice,
              begin,
              choice.method.label() + " by " + choice.kind.label() + " " + reason,
              "");
    } catch (IllegalArgumentException refused) {
      if (choice.named) {
        throw refused;
      }
      return without(choice, begin, refused.getMessage(), "");
    }
  }

  /** Which tensor has what the method ignores; empty if it ignores nothing of them. */
  private Optional<String> refusal(Choice choice) {
    return choice
        .method
        .ignoringConstraints(choice.kind, options)
        .flatMap(
            part ->
                tensors
                    .constraints()
                    .map(has -> part + " cannot observe the constraints of tensors; " + has));
  }

  /** Whether a method makes no plan at all if it does not make this one. */
  private boolean isLastHope(Choice choice, List<PlanRun> before) {
    String label = choice.method.label();
    return before.stream().noneMatch(r -> r.strategy().equals(label) && r.skipped().isEmpty())
        && choices.stream()
            .skip(before.size() + 1)
            .noneMatch(later -> later.method.label().equals(label));
  }

  private String seconds() {
    double seconds = options.timeout().orElseThrow().toNanos() / 1e9;
    return (seconds == (long) seconds ? Long.toString((long) seconds) : Double.toString(seconds))
        + " s";
  }

  private static PlanRun without(Choice choice, long begin, String skipped, String failed) {
    return new PlanRun(
        choice.method.label(),
        choice.kind,
        System.nanoTime() - begin,
        Optional.empty(),
        Optional.empty(),
        Optional.of(skipped).filter(reason -> !reason.isEmpty()),
        Optional.of(failed).filter(reason -> !reason.isEmpty()));
  }
}
