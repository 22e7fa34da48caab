package io.prmalloc.internal.os;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import org.agrona.BufferUtil;
import org.junit.jupiter.api.Test;

class ResidentPeakTest {

  private static final int BYTES = 256 << 20;

  @Test
  void shouldForgetThePeakWhenReset() {
    assumeTrue(ResidentPeak.reset(), "this system does not set the peak back");
    long before = ResidentPeak.bytes();
    // Allocating zeroes, and so touches, every byte.
    ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);
    buffer.put(0, (byte) 1);
    long with = ResidentPeak.bytes();
    BufferUtil.free(buffer);
    long stillThere = ResidentPeak.bytes();
    ResidentPeak.reset();
    long after = ResidentPeak.bytes();

    // Other things come and go meanwhile, but not half as much.
    assertTrue(with - before > BYTES / 2, before + " before, " + with + " with the buffer");
    assertTrue(stillThere - before > BYTES / 2, before + " before, " + stillThere + " freed");
    assertTrue(stillThere - after > BYTES / 2, stillThere + " freed, " + after + " after reset");
  }
}
