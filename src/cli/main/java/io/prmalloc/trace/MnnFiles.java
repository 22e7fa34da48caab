package io.prmalloc.trace;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Where the parts of a profile lie: {@code MODEL.io_info.json} and {@code MODEL.BATCH.PART.json} in
 * one directory.
 *
 * <p>Threading: immutable.
 *
 * @param path the directory
 * @param model the model's name
 * @param batch how many samples one step takes
 */
public record MnnFiles(Path path, String model, int batch) {

  private static final String IO_INFO = ".io_info.json";
  private static final Pattern RESIZE_INFO =
      Pattern.compile("\\.([0-9]{1,9})\\.resize_info\\.json");

  /**
   * Looks into a directory.
   *
   * <p>Threading: any thread.
   *
   * @param batch from 1, or null if the user did not say
   * @throws TraceFormatException if there is no profile or several, or not of this batch
   * @throws UncheckedIOException if the directory cannot be read
   */
  static MnnFiles find(Path directory, Integer batch) {
    if (!Files.isDirectory(directory)) {
      throw TraceFormatException.ofFile(
          directory.toString(), "is not a directory, which the format mnn needs");
    }
    List<String> names = namesIn(directory);
    List<String> models = names.stream().filter(name -> name.endsWith(IO_INFO)).toList();
    if (models.size() != 1) {
      throw TraceFormatException.ofFile(
          directory.toString(), "holds " + models.size() + " files MODEL" + IO_INFO + ", not one");
    }
    String model = models.get(0).substring(0, models.get(0).length() - IO_INFO.length());
    List<Integer> batches = batchesOf(model, names);
    if (batch == null || !batches.contains(batch)) {
      throw TraceFormatException.ofFile(
          directory.toString(),
          (batch == null ? "which batch is not said" : "holds no batch " + batch)
              + "; there are --batch "
              + batches);
    }
    return new MnnFiles(directory, model, batch);
  }

  private static List<Integer> batchesOf(String model, List<String> names) {
    return names.stream()
        .filter(name -> name.startsWith(model))
        .map(name -> RESIZE_INFO.matcher(name.substring(model.length())))
        .filter(Matcher::matches)
        .map(matcher -> Integer.valueOf(matcher.group(1)))
        .sorted()
        .toList();
  }

  private static List<String> namesIn(Path directory) {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The directory as errors call it. Threading: any thread. */
  public String directory() {
    return path.toString();
  }

  /** The list of operators. Threading: any thread. */
  public String ioInfo() {
    return path.resolve(model + IO_INFO).toString();
  }

  /** Scratch memory by operator. Threading: any thread. */
  public String resizeInfo() {
    return part("resize_info");
  }

  /** Sizes by tensor. Threading: any thread. */
  public String tensorSize() {
    return part("tensor_size");
  }

  /** Milliseconds by operator; the only part that may be absent. Threading: any thread. */
  public String costInfo() {
    return part("cost_info");
  }

  /** Scratch memory that repeats other scratch memory. Threading: any thread. */
  public String redundantParent() {
    // The profiler spells it so.
    return part("redundent_parent");
  }

  private String part(String name) {
    return path.resolve(model + "." + batch + "." + name + ".json").toString();
  }
}
