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

  private final JsonParser json;

  private PlanReader(JsonParser json) {
    this.json = json;
  }

  /**
   * @throws PlanFormatException if it is none
   */
  static KeptPlan read(byte[] text) {
    try (JsonParser parser = JSON.createParser(text)) {
      return new PlanReader(parser).file();
    } catch (JsonProcessingException e) {
      throw new PlanFormatException(
          "line " + e.getLocation().getLineNr() + ": " + e.getOriginalMessage());
    } catch (IOException e) {
      throw new PlanFormatException(e.getMessage());
    }
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
    if (found != wanted) {
      throw wrong(found == null ? "the text ends too early" : wanted + " expected, not " + found);
    }
  }

  private PlanFormatException wrong(String what) {
    return new PlanFormatException("line " + json.currentLocation().getLineNr() + ": " + what);
  }

  private PlanFormatException unknown(String name) {
    return wrong("field '" + name + "' is not known");
  }

  private <T> T present(String name, T value) {
    if (value == null) {
      throw wrong("field '" + name + "' is missing");
    }
    return value;
  }

  private long number() throws IOException {
    expect(JsonToken.VALUE_NUMBER_INT, json.currentToken());
    return json.getLongValue();
  }

  private int smallNumber() throws IOException {
    expect(JsonToken.VALUE_NUMBER_INT, json.currentToken());
    return json.getIntValue();
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
          "format is '" + read.format + "', not '" + PlanWriter.FORMAT + "'");
    }
    int version = present("version", read.version);
    KeptPlan plan = present("plan", read.plan);
    if (!PlanWriter.checksum(version, plan).equals(present("checksum", read.checksum))) {
      throw new PlanFormatException("the checksum is not that of the plan: it was changed");
    }
    return plan;
  }

  private int version() throws IOException {
    int version = smallNumber();
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
          List<BinPlan> bins;
        };
    List<Integer> reserved = new ArrayList<>();
    object(
        name -> {
          switch (name) {
            case "intervalBytes" -> read.interval = smallNumber();
            case "totalBytes" -> read.total = number();
            case "concurrentSteps" -> read.concurrent = smallNumber();
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
        reserved);
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
            case "index" -> read.index = smallNumber();
            case "chunkBytes" -> read.chunk = number();
            case "alignment" -> read.alignment = number();
            case "blocks" -> read.blocks = smallNumber();
            case "reserved" -> read.reserved = smallNumber();
            case "borrowsFrom" -> {
              List<Integer> targets = new ArrayList<>();
              array(() -> targets.add(smallNumber()));
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
          long[] ends;
          long[] offsets;
        };
    object(
        name -> {
          switch (name) {
            case "key" -> read.key = text();
            case "intKey" -> read.key = smallNumber();
            case "longKey" -> read.key = number();
            case "implicit" -> read.implicit = truth();
            case "sizesBytes" -> read.sizes = numbers();
            case "ends" -> read.ends = numbers();
            case "offsets" -> read.offsets = numbers();
            default -> throw unknown(name);
          }
        });
    long[] ends = present("ends", read.ends);
    int[] smallEnds = new int[ends.length];
    for (int i = 0; i < ends.length; i++) {
      smallEnds[i] = (int) Math.max(0, Math.min(ends[i], Integer.MAX_VALUE));
    }
    return new KeptStep(
        read.key,
        read.implicit,
        present("sizesBytes", read.sizes),
        smallEnds,
        present("offsets", read.offsets));
  }

  private long[] numbers() throws IOException {
    List<Long> numbers = new ArrayList<>();
    array(() -> numbers.add(number()));
    return numbers.stream().mapToLong(Long::longValue).toArray();
  }
}
