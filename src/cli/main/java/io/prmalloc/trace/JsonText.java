package io.prmalloc.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;

/**
 * JSON documents in memory, each on one line.
 *
 * <p>Threading: any thread.
 */
public final class JsonText {

  /** Writes the content of a document. Threading: the thread that asked for the document. */
  @FunctionalInterface
  public interface Content {

    /** Writes it whole. */
    void write(JsonGenerator json) throws IOException;
  }

  private static final JsonFactory FACTORY = new JsonFactory();

  private JsonText() {}

  /** The document with a content. Threading: any thread. */
  public static String of(Content content) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = FACTORY.createGenerator(text)) {
      content.write(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }
}
