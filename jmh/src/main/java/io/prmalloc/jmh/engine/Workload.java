package io.prmalloc.jmh.engine;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The work of every arm: the same models, shapes and order.
 *
 * <p>Threading: immutable.
 *
 * @param models that run in turn
 * @param shapes that are drawn for each model
 * @param runs of all models together
 * @param threads that share the runs
 * @param seed of shapes and order
 * @param memory of the pool
 * @param engineThreads with which the engine computes one operator
 */
record Workload(
    List<Model> models,
    int shapes,
    int runs,
    int threads,
    long seed,
    Memory memory,
    int engineThreads) {

  /** Where the pool takes its memory. */
  enum Memory {
    /** What a pool takes by itself. */
    DIRECT,
    /** Mappings of its own, as they come. */
    MMAP,
    /** The same, with huge pages where the kernel has them. */
    HUGE
  }

  /**
   * A model.
   *
   * @param file in ONNX's format
   * @param inputs whose shapes are told; those of other inputs the model must know
   */
  record Model(Path file, List<InputShape> inputs) {}

  /** Reads arguments one by one. Threading: one thread. */
  static final class Arguments {

    private static final int MOST = 10_000_000;

    private final List<Path> files = new ArrayList<>();
    private final List<List<InputShape>> inputs = new ArrayList<>();
    private int shapes = 50;
    private int runs = 200;
    private int threads = 1;
    private long seed = 1;
    private Memory memory = Memory.MMAP;
    private int engineThreads = 1;

    /**
     * Takes an option and its value.
     *
     * @throws IllegalArgumentException if it is no option, or the value is not one of it
     */
    void set(String option, String value) {
      switch (option) {
        case "--model" -> addModel(option, value);
        case "--shape" -> addShape(option, value);
        case "--shapes" -> shapes = (int) Numbers.of(option, value, 1, MOST);
        case "--runs" -> runs = (int) Numbers.of(option, value, 1, MOST);
        case "--threads" -> threads = (int) Numbers.of(option, value, 1, 1000);
        case "--seed" -> seed = Numbers.of(option, value, -(1L << 53), 1L << 53);
        case "--memory" -> memory = memory(option, value);
        case "--engine-threads" -> engineThreads = (int) Numbers.of(option, value, 1, 1000);
        default -> throw new IllegalArgumentException("`" + option + "` is no option");
      }
    }

    private static Memory memory(String option, String value) {
      return switch (value) {
        case "direct" -> Memory.DIRECT;
        case "mmap" -> Memory.MMAP;
        case "huge" -> Memory.HUGE;
        default ->
            throw new IllegalArgumentException(
                option + " is `" + value + "`, not direct, mmap or huge");
      };
    }

    private void addModel(String option, String value) {
      Path file = Path.of(value);
      if (!Files.isRegularFile(file)) {
        throw new IllegalArgumentException(option + " is `" + value + "`, where there is no file");
      }
      files.add(file);
      inputs.add(new ArrayList<>());
    }

    private void addShape(String option, String value) {
      if (inputs.isEmpty()) {
        throw new IllegalArgumentException(
            option + " is `" + value + "`, and no --model stands before it");
      }
      InputShape shape = InputShape.of(option, value);
      List<InputShape> ofModel = inputs.get(inputs.size() - 1);
      for (InputShape other : ofModel) {
        if (other.input().equals(shape.input())) {
          throw new IllegalArgumentException(
              option + " is `" + value + "`, and that input of the model has a shape already");
        }
        requireSameRanges(option, value, shape, other);
      }
      requireSameRanges(option, value, shape, shape);
      ofModel.add(shape);
    }

    /** Dimensions of one name are drawn once, so they cannot have two ranges. */
    private static void requireSameRanges(
        String option, String value, InputShape shape, InputShape other) {
      for (Dimension one : shape.dimensions()) {
        for (Dimension two : other.dimensions()) {
          if (!one.name().isEmpty() && one.name().equals(two.name()) && !one.equals(two)) {
            throw new IllegalArgumentException(
                option + " is `" + value + "`, and " + one.name() + " has another range already");
          }
        }
      }
    }

    /**
     * What was read.
     *
     * @throws IllegalArgumentException if there is no model, or not every shape has a run
     */
    Workload build() {
      if (files.isEmpty()) {
        throw new IllegalArgumentException("there is no --model");
      }
      if (runs < (long) shapes * files.size()) {
        throw new IllegalArgumentException(
            "--runs is `"
                + runs
                + "`, not at least one for each of --shapes "
                + shapes
                + " of "
                + files.size()
                + " models");
      }
      List<Model> models = new ArrayList<>();
      for (int i = 0; i < files.size(); i++) {
        models.add(new Model(files.get(i), List.copyOf(inputs.get(i))));
      }
      return new Workload(List.copyOf(models), shapes, runs, threads, seed, memory, engineThreads);
    }
  }

  /**
   * Draws shapes. One may come several times.
   *
   * @return for each model its shapes, each with the dimensions of every input that was told
   */
  List<List<Map<String, long[]>>> drawShapes() {
    Random random = new Random(seed);
    List<List<Map<String, long[]>>> drawn = new ArrayList<>();
    for (Model model : models) {
      List<Map<String, long[]>> ofModel = new ArrayList<>();
      for (int i = 0; i < shapes; i++) {
        Map<String, Long> named = new HashMap<>();
        Map<String, long[]> shape = new LinkedHashMap<>();
        model.inputs().forEach(input -> shape.put(input.input(), input.draw(random, named)));
        ofModel.add(shape);
      }
      drawn.add(ofModel);
    }
    return drawn;
  }

  /**
   * Draws which shape each run has. All shapes of a model have their turn before one has its
   * second.
   *
   * @return for each run the index of a shape; run {@code i} is one of model {@code i % models}
   */
  int[] drawOrder() {
    Random random = new Random(~seed);
    int[] order = new int[runs];
    for (int model = 0; model < models.size(); model++) {
      List<Integer> turn = new ArrayList<>();
      for (int run = model; run < runs; run += models.size()) {
        if (turn.isEmpty()) {
          for (int shape = 0; shape < shapes; shape++) {
            turn.add(shape);
          }
          Collections.shuffle(turn, random);
        }
        order[run] = turn.remove(turn.size() - 1);
      }
    }
    return order;
  }
}
