package io.prmalloc.jmh.rival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.Version;
import io.prmalloc.netty.PrmallocByteBufAllocator;
import io.prmalloc.pool.TensorPoolAllocator;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The adapter for Netty is compiled against 4.1, and runs here on the 4.2 that this module has for
 * the benchmarks' sake: every operation does the same as on a buffer of Netty's own.
 */
class NettyAdapterTest {

  private static final int CAPACITY = 512;

  private final TensorPoolAllocator pool = TensorPoolAllocator.builder().build();
  private final PrmallocByteBufAllocator buffers = new PrmallocByteBufAllocator(pool);

  @TempDir private Path directory;

  @AfterEach
  void nothingIsLost() {
    assertEquals(0, buffers.metric().usedDirectMemory());
    pool.close();
  }

  @Test
  void shouldRunOnNetty42HereWhenTheClassPathIsAsMeant() {
    String version = Version.identify().get("netty-buffer").artifactVersion();
    assertTrue(version.startsWith("4.2."), version);
    assertTrue(ByteBufAllocator.DEFAULT != buffers);
  }

  /** One operation, the same for the same choices. */
  private static void operate(ByteBuf buffer, Random choices) {
    int index = choices.nextInt(CAPACITY - 8);
    long value = choices.nextLong();
    switch (choices.nextInt(12)) {
      case 0 -> buffer.setByte(index, (int) value);
      case 1 -> buffer.setShort(index, (int) value);
      case 2 -> buffer.setShortLE(index, (int) value);
      case 3 -> buffer.setMedium(index, (int) value);
      case 4 -> buffer.setMediumLE(index, (int) value);
      case 5 -> buffer.setInt(index, (int) value);
      case 6 -> buffer.setIntLE(index, (int) value);
      case 7 -> buffer.setLong(index, value);
      case 8 -> buffer.setLongLE(index, value);
      case 9 -> buffer.setBytes(index, ByteBuffer.allocate(8).putLong(0, value));
      case 10 -> buffer.slice(index, 8).setLong(0, value);
      default -> buffer.duplicate().setBytes(index, Unpooled.copyLong(value));
    }
  }

  private static long look(ByteBuf buffer, Random choices) {
    int index = choices.nextInt(CAPACITY - 8);
    return switch (choices.nextInt(10)) {
      case 0 -> buffer.getByte(index);
      case 1 -> buffer.getShort(index);
      case 2 -> buffer.getShortLE(index);
      case 3 -> buffer.getMedium(index);
      case 4 -> buffer.getUnsignedMediumLE(index);
      case 5 -> buffer.getInt(index);
      case 6 -> buffer.getIntLE(index);
      case 7 -> buffer.getLong(index);
      case 8 -> buffer.getLongLE(index);
      default -> buffer.nioBuffer(index, 8).getLong();
    };
  }

  @Test
  void shouldDoAsNettysOwnBufferWhenOperatedOnAtRandom() {
    long seed = 42;
    ByteBuf ours = buffers.directBuffer(CAPACITY).writeZero(CAPACITY);
    ByteBuf theirs = Unpooled.directBuffer(CAPACITY).writeZero(CAPACITY);
    Random forOurs = new Random(seed);
    Random forTheirs = new Random(seed);
    for (int i = 0; i < 10_000; i++) {
      operate(ours, forOurs);
      operate(theirs, forTheirs);
      assertEquals(look(theirs, forTheirs), look(ours, forOurs), "step " + i + " of seed " + seed);
    }
    assertEquals(theirs, ours);
    ours.release();
    theirs.release();
  }

  @Test
  void shouldMoveBytesThroughStreamsAndChannels() throws IOException {
    byte[] bytes = new byte[CAPACITY];
    new Random(1).nextBytes(bytes);
    ByteBuf buffer = buffers.directBuffer(16);
    assertEquals(CAPACITY, buffer.writeBytes(new ByteArrayInputStream(bytes), CAPACITY));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    buffer.getBytes(0, out, CAPACITY);
    assertEquals(Unpooled.wrappedBuffer(bytes), Unpooled.wrappedBuffer(out.toByteArray()));
    try (FileChannel file =
        FileChannel.open(
            directory.resolve("bytes"),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      assertEquals(CAPACITY, buffer.readBytes(file, CAPACITY));
      ByteBuf back = buffers.directBuffer(CAPACITY);
      assertEquals(CAPACITY, back.writeBytes(file, 0, CAPACITY));
      assertEquals(Unpooled.wrappedBuffer(bytes), back);
      back.release();
    }
    buffer.release();
  }

  @Test
  void shouldGiveBuffersAsNettyExpectsThem() {
    ByteBuf buffer = buffers.buffer(10, 100);
    assertTrue(buffer.isDirect());
    assertSame(buffers, buffer.alloc());
    CompositeByteBuf composite = buffers.compositeBuffer();
    composite.writeBytes(new byte[1000]);
    assertTrue(composite.isDirect());
    ByteBuf copy = composite.copy(0, 100);
    ByteBuf kept = buffer.writeLong(42).retainedDuplicate();
    buffer.release();
    assertEquals(42, kept.readLong());
    kept.release();
    copy.release();
    composite.release();
    assertThrows(IllegalReferenceCountException.class, () -> kept.getLong(0));
  }
}
