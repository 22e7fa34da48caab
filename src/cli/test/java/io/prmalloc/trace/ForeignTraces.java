package io.prmalloc.trace;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;

/**
 * The same step in the formats of other tools: 100 and 50 bytes, the second grown to 80, then 60.
 */
public final class ForeignTraces {

  /** The most bytes alive at once. */
  public static final long LOAD_BYTES = 180;

  /** As the malloc lab has it. */
  public static final String MALLOC = "20000\n3\n6\n1\na 0 100\na 1 50\nr 1 80\nf 0\na 2 60\nf 1\n";

  /** As PyTorch has it, its device the second one; the first tensor is older than the history. */
  public static final String SNAPSHOT =
      """
      {"segments": [
        {"device": 1, "address": 4096, "total_size": 2048, "stream": 0, "segment_type": "small",
         "blocks": [
          {"address": 4096, "size": 512, "requested_size": 100, "state": "inactive"},
          {"address": 4608, "size": 512, "requested_size": 80, "state": "inactive", "frames": []},
          {"address": 5120, "size": 512, "requested_size": 60, "state": "active_allocated"},
          {"address": 5632, "size": 512, "state": "inactive"}]}],
       "device_traces": [[], [
        {"action": "segment_alloc", "addr": 4096, "size": 2048, "stream": 0},
        {"action": "alloc", "addr": 5632, "size": 50, "stream": 0, "time_us": 1,
         "frames": [{"filename": "a.py", "line": 1, "name": "f"}]},
        {"action": "free_requested", "addr": 5632, "size": 50, "stream": 0},
        {"action": "free_completed", "addr": 5632, "size": 50, "stream": 0},
        {"action": "alloc", "addr": 4608, "size": 80, "stream": 0},
        {"action": "oom", "size": 99999999999, "device_free": 5, "stream": 0},
        {"action": "free_requested", "addr": 4096, "size": 100, "stream": 0},
        {"action": "free_completed", "addr": 4096, "size": 100, "stream": 0},
        {"action": "alloc", "addr": 5120, "size": 60, "stream": 0},
        {"action": "free_requested", "addr": 4608, "size": 80, "stream": 0},
        {"action": "free_completed", "addr": 4608, "size": 80, "stream": 0},
        {"action": "snapshot", "addr": 0, "size": 0, "stream": 0}]],
       "allocator_settings": {"max_split_size": -1}}
      """;

  private ForeignTraces() {}

  /** As idealloc's tracer has it. */
  public static byte[] idealloc() {
    return new Packets()
        .packet(0x05, 100, 0x1000, 112, 1, 0)
        .packet(0x26, 5, 10, 0x2000, 64, 2, 0)
        .packet(0x36, 0x2000, 80, 0x3000, 96, 1, 0)
        .packet(0x12, 0x1000, 1)
        .packet(0x12, 0, 1)
        .packet(0x67, 0x7fff0000, 64, 60, 0x1000, 80, 1, 0)
        .packet(0x12, 0x3000, 2)
        .bytes();
  }

  /** Packets of a file of idealloc. */
  static final class Packets {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    Packets packet(int mark, long... words) {
      DataOutputStream out = new DataOutputStream(bytes);
      try {
        out.write(mark);
        for (long word : words) {
          out.writeLong(word);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return this;
    }

    byte[] bytes() {
      return bytes.toByteArray();
    }
  }

  /** The bytes of a text. */
  public static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Compressed. */
  public static byte[] gzip(byte[] bytes) {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
      out.write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return packed.toByteArray();
  }
}
