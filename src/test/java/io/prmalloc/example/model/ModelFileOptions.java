package io.prmalloc.example.model;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Options that say which model is served. Threading: one thread. */
public final class ModelFileOptions {

  @Option(
      names = "--model",
      paramLabel = "FILE",
      description = "serves this model, whose inputs are tensors of floats, as `model`")
  private Path file;

  @Option(
      names = "--shape",
      paramLabel = "INPUT=SIZES",
      converter = ShapeRange.Converter.class,
      description =
          "with --model, for each input: the sizes of its dimensions, such as"
              + " x=1x3x128..640/32x128..640/32; a range is SIZE..LARGEST, /32 its step")
  private List<ShapeRange> shapes = new ArrayList<>();

  /**
   * What the options say.
   *
   * @return null if there is no model
   * @throws IllegalArgumentException if they are wrong
   */
  public ModelFile toModelFile() {
    if (file == null) {
      if (!shapes.isEmpty()) {
        throw new IllegalArgumentException(
            "--shape " + shapes.get(0) + " is given without --model");
      }
      return null;
    }
    if (shapes.isEmpty()) {
      throw new IllegalArgumentException("--model " + file + " is given without --shape");
    }
    return new ModelFile(file, shapes);
  }

  /** The options once more, for another process. */
  public static List<String> arguments(ModelFile model) {
    List<String> arguments = new ArrayList<>();
    arguments.add("--model=" + model.file());
    model.shapes().forEach(range -> arguments.add("--shape=" + range));
    return arguments;
  }
}
