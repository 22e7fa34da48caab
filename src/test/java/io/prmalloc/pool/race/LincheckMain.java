package io.prmalloc.pool.race;

import java.util.Arrays;
import java.util.List;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.verifier.EpsilonVerifier;

/**
 * Checks {@link LincheckModels}, in a JVM of its own, since Lincheck rewrites the classes that it
 * watches. Exits with 0 if it finds nothing, and otherwise prints a trace on standard error.
 */
public final class LincheckMain {

  /** The models by name. */
  enum Model {
    BUFFER(LincheckModels.BufferModel.class, LincheckModels.BufferMeaning.class),
    STRIPED_BUFFER(LincheckModels.StripedBufferModel.class, LincheckModels.BufferMeaning.class),
    BIN(LincheckModels.BinModel.class, LincheckModels.BinMeaning.class),
    BORROWING(LincheckModels.BorrowingModel.class, null),
    STACK(LincheckModels.StackModel.class, LincheckModels.StackMeaning.class);

    private final Class<?> operations;
    private final Class<?> meaning;

    Model(Class<?> operations, Class<?> meaning) {
      this.operations = operations;
      this.meaning = meaning;
    }
  }

  /** How schedules are found: one after the other under control, or by running threads. */
  enum Strategy {
    MODEL_CHECKING,
    STRESS
  }

  private LincheckMain() {}

  /**
   * Checks.
   *
   * @param arguments the strategy, how many scenarios, how many runs of each, and the models; all
   *     if none is named
   */
  public static void main(String[] arguments) {
    Strategy strategy = Strategy.valueOf(arguments[0]);
    int scenarios = Integer.parseInt(arguments[1]);
    int runs = Integer.parseInt(arguments[2]);
    List<String> names = Arrays.asList(arguments).subList(3, arguments.length);
    for (Model model : Model.values()) {
      if (names.isEmpty() || names.contains(model.name())) {
        switch (strategy) {
          case MODEL_CHECKING -> check(new ModelCheckingOptions(), model, 2, scenarios, runs);
          case STRESS -> check(new StressOptions(), model, 3, scenarios, runs);
        }
        System.out.println(model + " is sound");
      }
    }
  }

  private static <O extends Options<O, ?>> void check(
      O options, Model model, int threads, int scenarios, int runs) {
    options
        .iterations(scenarios)
        .invocationsPerIteration(runs)
        .threads(threads)
        .actorsPerThread(model == Model.STACK ? 4 : 3)
        .actorsBefore(model == Model.STACK ? 0 : 2)
        .actorsAfter(2);
    if (model.meaning == null) {
      options.verifier(EpsilonVerifier.class);
    } else {
      options.sequentialSpecification(model.meaning);
    }
    options.check(model.operations);
  }
}
