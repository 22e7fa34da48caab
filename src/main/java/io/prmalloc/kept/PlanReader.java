package io.prmalloc.kept;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads plans from JSON.
 *
 * <p>Threading: not safe; for one text.
 */
final class PlanReader {

  // Fields come in any order, but none twice, none that is not known and none missing: a file of a
  // later version must not be half understood.

  private static final JsonFactory JSON =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  /** The most numbers in a list: requests of a step, bins of a pool. */
  private static final int MAX_LIST = 1 << 20;

  /** The most characters of a text from the file in a message. */
  private static final int MAX_SHOWN = 80;

  private final JsonParser json;

  private PlanReader(JsonParser json) {
    this.json = json;
  }

  /**
   * @throws PlanFormatException if it is none
   */
  static KeptPlan read(byte[] text) {
    try (JsonParser parser = JSON.createParser(text)) {
      return new PlanReader(parser).read();
    } catch (IOException e) {
      throw new PlanFormatException(e.getMessage());
    }
  }

  private KeptPlan read() throws IOException {
    try {
      return file();
    } catch (JsonProcessingException e) {
      throw new PlanFormatException(place() + ": " + e.getOriginalMessage());
    }
  }

  /** The line and the field that are being read. */
  private String place() {
    String path = json.getParsingContext().pathAsPointer().toString();
    String line = "line " + json.currentLocation().getLineNr();
    return path.isEmpty() ? line : line + ", " + shown(path);
  }

  /** What is in a file may have any length; a message has not. */
  private static String shown(String text) {
    return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "...";
  }

  private interface Field {
    void read(String name) throws IOException;
  }

  private void object(Field field) throws IOException {
    expect(JsonToken.START_OBJECT, json.currentToken());
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String name = json.currentName();
      json.nextToken();
      field.read(name);
    }
  }

  private interface Element {
    void read() throws IOException;
  }

  private void array(Element element) throws IOException {
    expect(JsonToken.START_ARRAY, json.currentToken());
    for (int i = 0; json.nextToken() != JsonToken.END_ARRAY; i++) {
      if (i == MAX_LIST) {
        throw wrong("a list of more than " + MAX_LIST + " entries");
      }
      element.read();
    }
  }

  private void expect(JsonToken wanted, JsonToken found) {
    if (found == null) {
      throw wrong("the text ends too early");
    }
    if (found != wanted) {
      throw new PlanFormatException(place() + ": " + wanted + " expected, not " + found);
    }
  }

  private PlanFormatException wrong(String what) {
    return new PlanFormatException("line " + json.currentLocation().getLineNr() + ": " + what);
  }

  private PlanFormatException unknown(String name) {
    return wrong("field '" + shown(name) + "' is not known");
  }

  private <T> T present(String name, T value) {
    if (value == null) {
      throw wrong("field '" + name + "' is missing");
    }
    return value;
  }

  private long number(String name) throws IOException {
    return number(name, Long.MIN_VALUE, Long.MAX_VALUE);
  }

  private int smallNumber(String name) throws IOException {
    return (int) number(name, Integer.MIN_VALUE, Integer.MAX_VALUE);
  }

  /** A number of the plan's own bounds or not: only that it fits the type is asked here. */
  private long number(String name, long least, long most) throws IOException {
    expect(JsonToken.VALUE_NUMBER_INT, json.currentToken());
    boolean fits = json.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
    if (!fits || json.getLongValue() < least || json.getLongValue() > most) {
      throw wrong(name + " is " + shown(json.getText()) + ", not from " + least + " to " + most);
    }
    return json.getLongValue();
  }

  private String text() throws IOException {
    expect(JsonToken.VALUE_STRING, json.currentToken());
    return json.getText();
  }

  private boolean truth() throws IOException {
    if (json.currentToken() != JsonToken.VALUE_TRUE) {
      expect(JsonToken.VALUE_FALSE, json.currentToken());
    }
    return json.getBooleanValue();
  }

  private KeptPlan file() throws IOException {
    var read =
        new Object() {
          String format;
          Integer version;
          String checksum;
          KeptPlan plan;
        };
    json.nextToken();
    object(
        name -> {
          switch (name) {
            case "format" -> read.format = text();
            case "version" -> read.version = version();
            case "checksum" -> read.checksum = text();
            case "plan" -> read.plan = plan();
            default -> throw unknown(name);
          }
        });
    if (json.nextToken() != null) {
      throw wrong("more text behind the plan");
    }
    if (!PlanWriter.FORMAT.equals(present("format", read.format))) {
      throw new PlanFormatException(
          "format is '" + shown(read.format) + "', not '" + PlanWriter.FORMAT + "'");
    }
    int version = present("version", read.version);
    KeptPlan plan = present("plan", read.plan);
    if (!PlanWriter.checksum(version, plan).equals(present("checksum", read.checksum))) {
      throw new PlanFormatException("the checksum is not that of the plan: it was changed");
    }
    return plan;
  }

  private int version() throws IOException {
    int version = smallNumber("version");
    if (version < 1 || version > PlanWriter.VERSION) {
      throw wrong("version is " + version + "; 1 to " + PlanWriter.VERSION + " are understood");
    }
    return version;
  }

  private KeptPlan plan() throws IOException {
    var read =
        new Object() {
          KeptPool pool;
          List<KeptStep> steps;
        };
    object(
        name -> {
          switch (name) {
            case "pool" -> read.pool = pool();
            case "steps" -> {
              List<KeptStep> steps = new ArrayList<>();
              array(() -> steps.add(step()));
              read.steps = steps;
            }
            default -> throw unknown(name);
          }
        });
    return new KeptPlan(Optional.ofNullable(read.pool), present("steps", read.steps));
  }

  private KeptPool pool() throws IOException {
    var read =
        new Object() {
          Integer interval;
          Long total;
          Integer concurrent;
          long load;
          List<BinPlan> bins;
        };
    List<Integer> reserved = new ArrayList<>();
    object(
        name -> {
          switch (name) {
            case "intervalBytes" -> read.interval = smallNumber(name);
            case "totalBytes" -> read.total = number(name);
            case "concurrentSteps" -> read.concurrent = smallNumber(name);
            case "loadBytes" -> read.load = number(name);
            case "bins" -> {
              List<BinPlan> bins = new ArrayList<>();
              array(() -> bins.add(bin(reserved)));
              read.bins = bins;
            }
            default -> throw unknown(name);
          }
        });
    return new KeptPool(
        new LifetimePlan(
            present("intervalBytes", read.interval),
            present("totalBytes", read.total),
            present("bins", read.bins),
            List.of(),
            present("concurrentSteps", read.concurrent)),
        reserved,
        read.load);
  }

  private BinPlan bin(List<Integer> reserved) throws IOException {
    var read =
        new Object() {
          Integer index;
          Long chunk;
          Long alignment;
          Integer blocks;
          Integer reserved;
          List<Integer> targets;
        };
    object(
        name -> {
          switch (name) {
            case "index" -> read.index = smallNumber(name);
            case "chunkBytes" -> read.chunk = number(name);
            case "alignment" -> read.alignment = number(name);
            case "blocks" -> read.blocks = smallNumber(name);
            case "reserved" -> read.reserved = smallNumber(name);
            case "borrowsFrom" -> {
              List<Integer> targets = new ArrayList<>();
              array(() -> targets.add(smallNumber(name + "[" + targets.size() + "]")));
              read.targets = targets;
            }
            default -> throw unknown(name);
          }
        });
    reserved.add(present("reserved", read.reserved));
    return new BinPlan(
        present("index", read.index),
        present("chunkBytes", read.chunk),
        present("alignment", read.alignment),
        present("blocks", read.blocks),
        present("borrowsFrom", read.targets));
  }

  private KeptStep step() throws IOException {
    var read =
        new Object() {
          Object key;
          boolean implicit;
          long[] sizes;
          int[] ends;
          long[] offsets;
        };
    object(
        name -> {
          switch (name) {
            case "key" -> read.key = text();
            case "intKey" -> read.key = smallNumber(name);
            case "longKey" -> read.key = number(name);
            case "implicit" -> read.implicit = truth();
            case "sizesBytes" -> read.sizes = numbers(name);
            case "ends" -> read.ends = smallNumbers(name);
            case "offsets" -> read.offsets = numbers(name);
            default -> throw unknown(name);
          }
        });
    return new KeptStep(
        read.key,
        read.implicit,
        present("sizesBytes", read.sizes),
        present("ends", read.ends),
        present("offsets", read.offsets));
  }

  private long[] numbers(String name) throws IOException {
    List<Long> numbers = new ArrayList<>();
    array(() -> numbers.add(number(name + "[" + numbers.size() + "]")));
    return numbers.stream().mapToLong(Long::longValue).toArray();
  }

  private int[] smallNumbers(String name) throws IOException {
    List<Integer> numbers = new ArrayList<>();
    array(() -> numbers.add(smallNumber(name + "[" + numbers.size() + "]")));
    return numbers.stream().mapToInt(Integer::intValue).toArray();
  }
}
