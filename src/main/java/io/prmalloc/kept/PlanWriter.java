package io.prmalloc.kept;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Writes plans as JSON.
 *
 * <p>Threading: stateless.
 */
final class PlanWriter {

  // The checksum is that of the plan alone, written without any white space: a reader writes what
  // was read in the same way and compares. So it holds whatever an editor does to the white space,
  // and fails if a single number changes. From version 2 on it is that of the version and the plan,
  // so that no version is taken for another.

  static final String FORMAT = "prmalloc-plan";

  /**
   * What is written. In version 1 the sizes of a step were those that it asked for, exactly, and
   * its kind was told by its key and the first of them; from 2 on they are the most bytes that it
   * may ask for, and one key may have several steps. From 3 on a pool may have its load. A plan of
   * a version before is one of this as it stands.
   */
  static final int VERSION = KeptPlan.FORMAT_VERSION;

  private static final JsonFactory JSON = new JsonFactory();

  private PlanWriter() {}

  /** The whole file. */
  static byte[] file(KeptPlan plan) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(out)) {
      DefaultPrettyPrinter printer = new DefaultPrettyPrinter();
      printer.indentObjectsWith(new DefaultIndenter("  ", "\n"));
      json.setPrettyPrinter(printer);
      json.writeStartObject();
      json.writeStringField("format", FORMAT);
      json.writeNumberField("version", VERSION);
      json.writeStringField("checksum", checksum(VERSION, plan));
      json.writeFieldName("plan");
      write(plan, json);
      json.writeEndObject();
      json.writeRaw('\n');
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  /** SHA-256 of a plan as of a version, in hexadecimal. */
  static String checksum(int version, KeptPlan plan) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      OutputStream out = new DigestOutputStream(OutputStream.nullOutputStream(), digest);
      try (JsonGenerator json = JSON.createGenerator(out)) {
        if (version > 1) {
          json.writeNumber(version);
        }
        write(plan, json);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException | IOException e) {
      throw new IllegalStateException("every JVM has SHA-256, and a digest takes all bytes", e);
    }
  }

  private static void write(KeptPlan plan, JsonGenerator json) throws IOException {
    json.writeStartObject();
    if (plan.pool().isPresent()) {
      json.writeFieldName("pool");
      write(plan.pool().get(), json);
    }
    json.writeArrayFieldStart("steps");
    for (KeptStep step : plan.steps()) {
      write(step, json);
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void write(KeptPool pool, JsonGenerator json) throws IOException {
    LifetimePlan plan = pool.plan();
    json.writeStartObject();
    json.writeNumberField("intervalBytes", plan.intervalBytes());
    json.writeNumberField("totalBytes", plan.totalBytes());
    json.writeNumberField("concurrentSteps", plan.concurrentSteps());
    if (pool.loadBytes() > 0) {
      json.writeNumberField("loadBytes", pool.loadBytes());
    }
    json.writeArrayFieldStart("bins");
    for (int position = 0; position < plan.bins().size(); position++) {
      BinPlan bin = plan.bins().get(position);
      json.writeStartObject();
      json.writeNumberField("index", bin.index());
      json.writeNumberField("chunkBytes", bin.chunkBytes());
      json.writeNumberField("alignment", bin.alignment());
      json.writeNumberField("blocks", bin.blocks());
      json.writeNumberField("reserved", pool.reservedBlocks().get(position));
      json.writeArrayFieldStart("borrowsFrom");
      for (int target : bin.virtualTargets()) {
        json.writeNumber(target);
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void write(KeptStep step, JsonGenerator json) throws IOException {
    json.writeStartObject();
    if (step.key() instanceof String text) {
      json.writeStringField("key", text);
    } else if (step.key() instanceof Integer number) {
      json.writeNumberField("intKey", number);
    } else if (step.key() instanceof Long number) {
      json.writeNumberField("longKey", number);
    }
    if (step.isImplicit()) {
      json.writeBooleanField("implicit", true);
    }
    writeNumbers("sizesBytes", step.sizesBytes(), json);
    json.writeArrayFieldStart("ends");
    for (int end : step.ends()) {
      json.writeNumber(end);
    }
    json.writeEndArray();
    writeNumbers("offsets", step.offsets(), json);
    json.writeEndObject();
  }

  private static void writeNumbers(String field, long[] numbers, JsonGenerator json)
      throws IOException {
    json.writeArrayFieldStart(field);
    for (long number : numbers) {
      json.writeNumber(number);
    }
    json.writeEndArray();
  }
}
