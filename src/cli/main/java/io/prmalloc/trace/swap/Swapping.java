package io.prmalloc.trace.swap;

import io.prmalloc.trace.MnnProfile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A simulated training step with swapped feature maps.
 *
 * <p>Threading: immutable.
 */
public final class Swapping {

  private final String name;
  private final SwapOptions options;
  private final int forwardOps;
  private final SwapRun run;
  private final Timeline timeline;
  private final List<String> swapped;
  private final List<String> recomputed;
  private final int mapCount;

  private Swapping(String name, SwapStep step, SwapOptions options, Treatment[] treatments) {
    this.name = name;
    this.options = options;
    this.forwardOps = step.forwardOps;
    timeline = new Timeline();
    run = SwapSimulator.run(step, treatments, options, timeline, null);
    swapped = ids(step, treatments, Treatment.SWAP);
    recomputed = ids(step, treatments, Treatment.RECOMPUTE);
    mapCount = treatments.length;
  }

  private static List<String> ids(SwapStep step, Treatment[] treatments, Treatment wanted) {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < treatments.length; i++) {
      if (treatments[i] == wanted) {
        ids.add(step.ids[step.maps.get(i).tensor()]);
      }
    }
    return List.copyOf(ids);
  }

  /**
   * Simulates a step: all feature maps swapped, or with a budget, those chosen so that the peak
   * stays within it. If no choice that is tried does, it is the one with the least peak.
   *
   * <p>Threading: any thread.
   *
   * @throws io.prmalloc.trace.TraceFormatException if the profile has no times, or a life is
   *     impossible
   * @throws IllegalArgumentException if the forward pass is as long as the step or longer, or its
   *     length is not given and cannot be found
   */
  public static Swapping of(MnnProfile profile, SwapOptions options) {
    return of(profile, options, SwapWatch.NOBODY);
  }

  /**
   * The same, watched: with a budget the choice may be ended, with the best that was found.
   *
   * <p>Threading: any thread.
   *
   * @throws io.prmalloc.trace.TraceFormatException if the profile has no times, or a life is
   *     impossible
   * @throws IllegalArgumentException if the forward pass is as long as the step or longer, or its
   *     length is not given and cannot be found
   */
  public static Swapping of(MnnProfile profile, SwapOptions options, SwapWatch watch) {
    int ops = profile.ops().size();
    int forwardOps =
        options
            .forwardOps()
            .orElseGet(
                () ->
                    ForwardPass.find(profile)
                        .orElseThrow(
                            () ->
                                new IllegalArgumentException(
                                    profile.files().ioInfo()
                                        + ": labels (OneHot) meet no network, so where the backward"
                                        + " pass begins must be said: --forward-ops N")));
    if (forwardOps >= ops) {
      throw new IllegalArgumentException(
          "forward ops " + forwardOps + " are not less than the step's " + ops);
    }
    SwapStep step = SwapStep.of(profile, forwardOps);
    Treatment[] treatments = new Treatment[step.maps.size()];
    Arrays.fill(treatments, Treatment.SWAP);
    if (options.budgetBytes().isPresent()) {
      treatments = new MapChooser(step, options, watch).choose();
    }
    return new Swapping(profile.toTrace().name(), step, options, treatments);
  }

  /** What people call the step. Threading: any thread. */
  public String name() {
    return name;
  }

  /** How it was simulated. Threading: any thread. */
  public SwapOptions options() {
    return options;
  }

  /** How many operators the forward pass has. Threading: any thread. */
  public int forwardOps() {
    return forwardOps;
  }

  /** The sums. Threading: any thread. */
  public SwapRun run() {
    return run;
  }

  /** When what happened. Threading: any thread. */
  public Timeline timeline() {
    return timeline;
  }

  /** How many feature maps there are. Threading: any thread. */
  public int mapCount() {
    return mapCount;
  }

  /** Which feature maps were swapped. Threading: any thread. */
  public List<String> swapped() {
    return swapped;
  }

  /** Which feature maps were computed again. Threading: any thread. */
  public List<String> recomputed() {
    return recomputed;
  }

  /** What went wrong: a budget that is not kept. Threading: any thread. */
  public Optional<String> failure() {
    if (options.budgetBytes().isEmpty() || run.peakBytes() <= options.budgetBytes().getAsLong()) {
      return Optional.empty();
    }
    return Optional.of(
        "budget "
            + options.budgetBytes().getAsLong()
            + " is not kept; the least peak found is "
            + run.peakBytes());
  }
}
