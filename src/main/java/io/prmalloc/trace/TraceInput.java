package io.prmalloc.trace;

import java.nio.file.Path;

/**
 * What a user types for a trace: a path, or {@code sample:NAME} for a trace that comes with the
 * library.
 *
 * <p>Threading: immutable.
 *
 * @param text the path or {@code sample:NAME}
 * @param format how to read it, or null to tell it from the content
 * @param batch which batch of a profile, from 1, or null
 */
public record TraceInput(String text, TraceFormat format, Integer batch) {

  private static final String SAMPLE = "sample:";

  /**
   * Reads the step.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if the file does not hold a trace
   * @throws IllegalArgumentException if there is no such sample, or the options do not fit the
   *     input
   * @throws java.io.UncheckedIOException if the file is not there or cannot be read
   */
  public Trace read() {
    if (text.startsWith(SAMPLE)) {
      return Samples.read(sampleName());
    }
    Path path = Path.of(text);
    return (format == null ? TraceFormat.detect(path) : format).read(path, batch);
  }

  /**
   * Reads the step as the lives of its tensors.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if the file does not hold a trace
   * @throws IllegalArgumentException if there is no such sample, or the options do not fit the
   *     input
   * @throws java.io.UncheckedIOException if the file is not there or cannot be read
   */
  public TensorLifetimes readLifetimes() {
    if (text.startsWith(SAMPLE)) {
      return Samples.lifetimes(sampleName());
    }
    Path path = Path.of(text);
    return (format == null ? TraceFormat.detect(path) : format).readLifetimes(path, batch);
  }

  private String sampleName() {
    if (format != null || batch != null) {
      throw new IllegalArgumentException(text + " takes neither --format nor --batch");
    }
    return text.substring(SAMPLE.length());
  }
}
