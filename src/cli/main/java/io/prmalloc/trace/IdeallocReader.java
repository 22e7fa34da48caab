package io.prmalloc.trace;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Reads the {@code idealloc} format: the {@code .trc} files in which the tracer of idealloc (C.
 * Lamprakos) records the calls that a program makes to its C library's malloc.
 *
 * <p>A packet begins with a byte whose upper half is the function and whose lower half is how many
 * words follow, 64 bits each, the most significant byte first:
 *
 * <pre>
 * 05 malloc          size, result, block, thread, mapping
 * 12 free            pointer, thread
 * 26 calloc          count, size, result, block, thread, mapping
 * 36 realloc         pointer, size, result, block, thread, mapping
 * 46 aligned_alloc   alignment, size, result, block, thread, mapping
 * 56 memalign        alignment, size, result, block, thread, mapping
 * 67 posix_memalign  where, alignment, size, result, block, thread, mapping
 * </pre>
 *
 * <p>A tensor has the size that was asked for, and its address is its id. A call whose result is
 * null allocated nothing. What is never freed lives to the end. A reallocation releases the old
 * size and then allocates the new one.
 *
 * <p>Threading: one thread at a time.
 */
final class IdeallocReader {

  // A call is logged after it was made, so one thread's malloc may be logged before the free of
  // another thread that gave back the same address: then an address is handed out that seems to be
  // alive. It was free by then; its free is still to come, and is passed over when it does.

  private static final String KINDS = "\5\22\46\66\106\126\147";
  private static final int FREE = 1;
  private static final int CALLOC = 2;
  private static final int REALLOC = 3;

  /** From the end of a packet: result, block, thread, mapping. */
  private static final int RESULT_FROM_END = 4;

  private final String file;
  private final Trace.Builder trace;

  /** Where an address was handed out before its free was logged. */
  private final Map<String, Long> lateFrees = new HashMap<>();

  private long at;

  private IdeallocReader(String file) {
    this.file = file;
    this.trace = Trace.builder(file);
  }

  /**
   * Whether bytes are the begin of such a file: a packet of a known kind, whose first word is below
   * 2^56, as no text begins.
   *
   * @param start the first bytes of a file, any number
   */
  static boolean isTrace(byte[] start) {
    return start.length > 1 && KINDS.indexOf(start[0]) >= 0 && start[1] == 0;
  }

  /**
   * Threading: any thread.
   *
   * @param file what errors call the file
   * @throws TraceFormatException if it is cut off or holds what cannot be; the message has the byte
   *     where the packet begins
   * @throws UncheckedIOException if it cannot be read
   */
  static Trace read(String file, TextLines.Source source) {
    IdeallocReader reader = new IdeallocReader(file);
    try (DataInputStream in = new DataInputStream(source.open())) {
      while (reader.readPacket(in)) {
        // One after the other.
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return reader.finish();
  }

  private Trace finish() {
    for (Map.Entry<String, Long> late : lateFrees.entrySet()) {
      at = late.getValue();
      throw wrong(late.getKey() + " is allocated while it is alive, and not freed twice later");
    }
    Trace read = trace.build();
    if (read.tensorCount() == 0) {
      throw TraceFormatException.ofFile(file, "holds no allocation");
    }
    return read;
  }

  private boolean readPacket(DataInputStream in) throws IOException {
    int mark = in.read();
    if (mark < 0) {
      return false;
    }
    int kind = KINDS.indexOf(mark);
    if (kind < 0) {
      throw wrong(String.format(Locale.ROOT, "begins with %#04x, which no call does", mark));
    }
    long[] words = new long[mark & 0xf];
    try {
      for (int i = 0; i < words.length; i++) {
        words[i] = in.readLong();
      }
    } catch (EOFException cut) {
      throw wrong("is cut off");
    }
    try {
      call(kind, words);
    } catch (IllegalArgumentException refused) {
      throw wrong(refused.getMessage());
    }
    at += 1 + (long) Long.BYTES * words.length;
    return true;
  }

  private TraceFormatException wrong(String what) {
    return TraceFormatException.atEntry(file, "packet at byte " + at, what);
  }

  private void call(int kind, long[] words) {
    if (kind == FREE) {
      free(words[0]);
      return;
    }
    long result = words[words.length - RESULT_FROM_END];
    long size = words[words.length - RESULT_FROM_END - 1];
    // A realloc that fails leaves what was there.
    if (kind == REALLOC && (result != 0 || size == 0)) {
      free(words[0]);
    }
    if (result != 0) {
      allocate(address(result), kind == CALLOC ? product(words[0], size) : size);
    }
  }

  private static long product(long count, long size) {
    if (count != 0 && Long.compareUnsigned(size, Long.divideUnsigned(-1, count)) > 0) {
      throw new IllegalArgumentException(
          "calloc of "
              + Long.toUnsignedString(count)
              + " times "
              + Long.toUnsignedString(size)
              + " bytes is over 2^64 - 1");
    }
    return count * size;
  }

  private static String address(long address) {
    return "0x" + Long.toHexString(address);
  }

  private void allocate(String address, long size) {
    if (Long.compareUnsigned(size, Trace.MAX_TENSOR_BYTES) > 0) {
      throw new IllegalArgumentException(
          "size "
              + Long.toUnsignedString(size)
              + " of tensor "
              + address
              + " exceeds "
              + Trace.MAX_TENSOR_BYTES);
    }
    if (trace.isLive(address)) {
      if (lateFrees.putIfAbsent(address, at) != null) {
        throw new IllegalArgumentException(address + " is allocated for the third time");
      }
      trace.release(address);
    }
    trace.allocate(address, size);
  }

  private void free(long pointer) {
    if (pointer != 0 && lateFrees.remove(address(pointer)) == null) {
      trace.release(address(pointer));
    }
  }
}
