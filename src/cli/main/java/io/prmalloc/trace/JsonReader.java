package io.prmalloc.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.CharConversionException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Set;

/**
 * Walks through one JSON file token by token and turns everything unexpected into a {@link
 * TraceFormatException} with file and line: text that is not JSON, a file cut off, two values, a
 * key given twice, a value of another type.
 *
 * <p>Threading: one thread at a time.
 */
final class JsonReader implements AutoCloseable {

  private static final JsonFactory FACTORY =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  /** Reads the value the reader stands before. */
  @FunctionalInterface
  interface Element {
    void read(JsonReader reader, int index);
  }

  /** Reads the value of a key. */
  @FunctionalInterface
  interface Member {
    void read(JsonReader reader, String key);
  }

  private final String file;
  private final JsonParser parser;

  private JsonReader(String file, JsonParser parser) {
    this.file = file;
    this.parser = parser;
  }

  /**
   * Opens a file and stands before its only value.
   *
   * <p>Threading: any thread.
   *
   * @throws UncheckedIOException if the file cannot be read
   * @throws TraceFormatException if it is empty or starts with no value
   */
  static JsonReader open(Path path) {
    String file = path.toString();
    try {
      // Closed with the parser.
      InputStream in = InputFile.open(path);
      JsonReader reader = new JsonReader(file, FACTORY.createParser(in));
      try {
        if (reader.next() == null) {
          throw TraceFormatException.ofFile(file, "is empty instead of JSON");
        }
        return reader;
      } catch (Throwable e) {
        reader.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The line of the scalar value at a place, for errors that are only found when the whole file is
   * known.
   *
   * <p>Threading: any thread.
   *
   * @param pointer the place as a JSON pointer: {@code /nodes/3/inputs/1}
   * @return from 1; 0 if there is no such value
   */
  static long lineOf(Path path, String pointer) {
    try (JsonReader json = open(path)) {
      do {
        if (json.parser.currentToken().isScalarValue()
            && json.parser.getParsingContext().pathAsPointer().toString().equals(pointer)) {
          return json.parser.currentTokenLocation().getLineNr();
        }
      } while (json.next() != null);
      return 0;
    }
  }

  /**
   * The first key of the object in a file that is one of some keys. What comes before it is passed
   * over.
   *
   * <p>Threading: any thread.
   *
   * @return null if there is no such key, or no object, or no JSON
   */
  static String firstKey(Path path, Set<String> keys) {
    try (JsonReader json = open(path)) {
      if (json.parser.currentToken() == JsonToken.START_OBJECT) {
        while (json.next() == JsonToken.FIELD_NAME) {
          String key = json.parser.currentName();
          if (keys.contains(key)) {
            return key;
          }
          json.next();
          json.skip();
        }
      }
    } catch (TraceFormatException noJson) {
      return null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return null;
  }

  /** What errors call the file. Threading: any thread. */
  String file() {
    return file;
  }

  /** Reads the array the reader stands at, element by element. Threading: one thread. */
  void array(String what, Element element) {
    expect(JsonToken.START_ARRAY, what);
    for (int i = 0; next() != JsonToken.END_ARRAY; i++) {
      element.read(this, i);
    }
  }

  /** Reads the object the reader stands at, member by member. Threading: one thread. */
  void object(String what, Member member) {
    expect(JsonToken.START_OBJECT, what);
    while (next() != JsonToken.END_OBJECT) {
      String key;
      try {
        key = parser.currentName();
      } catch (IOException e) {
        throw notJson(e);
      }
      next();
      member.read(this, key);
    }
  }

  /** The whole number the reader stands at. Threading: one thread. */
  long wholeNumber(String what) {
    expect(JsonToken.VALUE_NUMBER_INT, what + ", a whole number");
    try {
      return parser.getLongValue();
    } catch (IOException tooLarge) {
      throw error(what + " does not fit 64 bits");
    }
  }

  /** The number, whole or not, the reader stands at; always finite. Threading: one thread. */
  double number(String what) {
    if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      expect(JsonToken.VALUE_NUMBER_FLOAT, what + ", a number");
    }
    try {
      double value = parser.getDoubleValue();
      if (Double.isInfinite(value)) {
        throw error(what + " is too large");
      }
      return value;
    } catch (IOException e) {
      throw notJson(e);
    }
  }

  /** The string the reader stands at. Threading: one thread. */
  String string(String what) {
    expect(JsonToken.VALUE_STRING, what + ", a string");
    try {
      return parser.getText();
    } catch (IOException e) {
      throw notJson(e);
    }
  }

  /** Whether the reader stands at nothing, {@code null}. Threading: one thread. */
  boolean isNull() {
    return parser.currentToken() == JsonToken.VALUE_NULL;
  }

  /** Passes over the value the reader stands at, whatever it is. Threading: one thread. */
  void skip() {
    try {
      parser.skipChildren();
      if (parser.currentToken() == null) {
        throw error("ends in the middle");
      }
    } catch (IOException e) {
      throw notJson(e);
    }
  }

  /**
   * To be called behind the only value.
   *
   * @throws TraceFormatException if something follows
   */
  void end() {
    if (next() != null) {
      throw error("something follows the end of the JSON value");
    }
  }

  /** An error at the line where the reader stands. Threading: one thread. */
  TraceFormatException error(String what) {
    return TraceFormatException.atLine(file, parser.currentTokenLocation().getLineNr(), what);
  }

  private void expect(JsonToken token, String what) {
    if (parser.currentToken() != token) {
      throw error("expected " + what + ", found " + describe(parser.currentToken()));
    }
  }

  private static String describe(JsonToken token) {
    if (token == null) {
      return "the end of the file";
    }
    return switch (token) {
      case START_ARRAY -> "an array";
      case START_OBJECT -> "an object";
      case VALUE_STRING -> "a string";
      case VALUE_NUMBER_INT -> "a whole number";
      case VALUE_NUMBER_FLOAT -> "a number that is not whole";
      case VALUE_TRUE, VALUE_FALSE -> "a truth value";
      case VALUE_NULL -> "null";
      default -> token.toString();
    };
  }

  private JsonToken next() {
    try {
      return parser.nextToken();
    } catch (IOException e) {
      throw notJson(e);
    }
  }

  private TraceFormatException notJson(IOException e) {
    if (e instanceof JsonProcessingException json && json.getLocation() != null) {
      return TraceFormatException.atLine(
          file,
          json.getLocation().getLineNr(),
          "is not JSON: " + firstLine(json.getOriginalMessage()));
    }
    if (!(e instanceof JsonProcessingException) && !(e instanceof CharConversionException)) {
      throw new UncheckedIOException(e);
    }
    return TraceFormatException.ofFile(file, "is not JSON: " + firstLine(e.getMessage()));
  }

  /** Without the parser's own word on where something began, which does not name the file. */
  private static String firstLine(String message) {
    String line = message.lines().findFirst().orElse("");
    int own = line.indexOf(" (start marker at ");
    return (own < 0 ? line : line.substring(0, own)).strip();
  }

  @Override
  public void close() {
    try {
      parser.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
