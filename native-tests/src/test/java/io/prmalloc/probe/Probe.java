package io.prmalloc.probe;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * The C library, function by function; {@code probe.h} says what each does. Addresses are passed as
 * numbers and nothing is converted, so that a call makes no garbage.
 *
 * <p>Threading: any thread.
 */
final class Probe {

  static {
    Path library = NeedsProbe.DIRECTORY.resolve(NeedsProbe.LIBRARY).toAbsolutePath();
    Native.register(Probe.class, NativeLibrary.getInstance(library.toString()));
  }

  private Probe() {}

  static native void probe_fill(long address, long bytes, long seed);

  static native long probe_first_difference(long address, long bytes, long seed);

  static native long probe_touch(long address, long bytes);

  static native long probe_first_misaligned(long[] spans, long count);

  static native long probe_first_overlap(long[] spans, long count);

  static native void probe_read_full_header(long address, long[] header);

  static native void probe_read_light_header(long address, int[] header);

  static native long probe_minor_faults();

  static native long probe_major_faults();

  static native long probe_resident_bytes();

  static native long probe_peak_resident_bytes();

  static native long probe_mapping_bytes(long address, long bytes, String field);

  /** Where a native library that is handed a direct buffer finds its first byte. */
  static long addressOf(ByteBuffer buffer) {
    return Pointer.nativeValue(Native.getDirectBufferPointer(buffer));
  }
}
