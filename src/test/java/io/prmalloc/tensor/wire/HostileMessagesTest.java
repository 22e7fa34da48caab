package io.prmalloc.tensor.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.element.ElementType;
import io.prmalloc.element.ElementTypes;
import io.prmalloc.tensor.Tensor;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages that claim more than they contain: refused before memory is taken for the claims. */
class HostileMessagesTest {

  private static final long MIB = 1 << 20;

  private final Allocator allocator = new CpuAllocator(SubAllocator.direct(128 * MIB));
  private final TensorReader reader = new TensorReader(allocator);

  @AfterEach
  void nothingIsLost() {
    assertEquals(0, allocator.stats().bytesInUse());
    allocator.close();
  }

  /** Refused, and nobody asked for memory. */
  private String refused(HandWritten message) {
    return refused(reader, message.toBuffer());
  }

  private String refused(TensorReader by, ByteBuffer message) {
    long before = allocator.stats().numAllocs();
    String answer = assertThrows(TensorFormatException.class, () -> by.read(message)).getMessage();
    assertEquals(before, allocator.stats().numAllocs());
    return answer;
  }

  @Test
  void shouldTakeNothingWhenTheShapeClaimsMoreThanTheContentBrings() {
    assertEquals(
        "tensor_shape [1099511627776] has 1099511627776 elements; of FLOAT at most 536870911 fit"
            + " one tensor",
        refused(HandWritten.tensor(1, 1L << 40).bytes(4, new byte[10])));
    assertEquals(
        "tensor_content has 10 bytes; 536870911 elements of FLOAT have 2147483644",
        refused(HandWritten.tensor(1, (1L << 29) - 1).bytes(4, new byte[10])));
    assertEquals(
        "tensor_content has 10 bytes and not 100000000 lengths",
        refused(HandWritten.tensor(7, 100_000_000).bytes(4, new byte[10])));
    refused(HandWritten.tensor(20, 100_000_000).bytes(4, new byte[10]));
    refused(HandWritten.tensor(1, 1L << 20, 1L << 20).bytes(4, new byte[10]));
  }

  static Iterable<ElementType<?>> types() {
    return ElementTypes.all();
  }

  @ParameterizedTest
  @MethodSource("types")
  void shouldTakeNothingWhenHugeShapesComeWithLittle(ElementType<?> type) {
    int number = type.dataType().orElseThrow();
    for (long size : new long[] {1L << 28, 1L << 31, 1L << 40, 1L << 61, Long.MAX_VALUE}) {
      refused(HandWritten.tensor(number, size));
      refused(HandWritten.tensor(number, size).bytes(4, new byte[10]));
    }
  }

  @Test
  void shouldRefuseWhenTheContentIsTooShortOrTooLong() {
    for (int bytes : new int[] {1, 7, 9, 12, 16}) {
      assertEquals(
          "tensor_content has " + bytes + " bytes; 2 elements of INT32 have 8",
          refused(HandWritten.tensor(3, 2).bytes(4, new byte[bytes])));
    }
    assertEquals(
        "tensor_content has 4 bytes; 0 elements of INT32 have 0",
        refused(HandWritten.tensor(3, 0).bytes(4, new byte[4])));
  }

  @Test
  void shouldRefuseWhenTheLengthsOfStringsDoNotAddUp() {
    assertEquals(
        "tensor_content has 2 bytes after the lengths of its 2 elements, which have 3",
        refused(HandWritten.tensor(7, 2).bytes(4, HexFormat.of().parseHex("0201" + "6162"))));
    refused(HandWritten.tensor(7, 2).bytes(4, HexFormat.of().parseHex("0201" + "61626364")));
    // 2^32 - 1, twice: their sum is -2 in 32 bits.
    refused(
        HandWritten.tensor(7, 2)
            .bytes(4, HexFormat.of().parseHex("ffffffff0f" + "ffffffff0f" + "61")));
    // A length that does not end.
    refused(HandWritten.tensor(7, 1).bytes(4, HexFormat.of().parseHex("ffffff")));
    refused(HandWritten.tensor(7, 0).bytes(4, (byte) 1));
  }

  @Test
  void shouldGiveBackTheMemoryWhenAHandleInTheContentIsBroken() {
    // A name of five bytes, of which there are two.
    ByteBuffer message =
        HandWritten.tensor(20, 1).bytes(4, HexFormat.of().parseHex("04" + "1a056161")).toBuffer();
    String answer =
        assertThrows(TensorFormatException.class, () -> reader.read(message)).getMessage();
    assertTrue(answer.startsWith("element 0 in tensor_content is no message: "), answer);
    assertEquals(1, allocator.stats().numAllocs());
  }

  @Test
  void shouldRefuseWhenValuesAreTooMany() {
    assertEquals(
        "message has 3 values of FLOAT; tensor_shape [2] has 2 elements",
        refused(HandWritten.tensor(1, 2).packedFloats(5, 1, 2, 3)));
    refused(HandWritten.tensor(1, 0).packedFloats(5, 1));
    refused(HandWritten.tensor(7, 1).bytes(8).bytes(8));
    assertEquals(
        "scomplex_val has 3 values, and COMPLEX64 needs 2 for each element",
        refused(HandWritten.tensor(8, 2).packedFloats(9, 1, 2, 3)));
  }

  @Test
  void shouldRefuseAndKeepNothingWhenAValueDoesNotFit() {
    long[][] bad = {
      {4, 7, 256},
      {4, 7, -1},
      {6, 7, 128},
      {6, 7, -129},
      {5, 7, 32768},
      {17, 7, 65536},
      {17, 7, -1},
      {19, 13, 65536},
      {14, 13, -32769}
    };
    for (long[] each : bad) {
      ByteBuffer message =
          HandWritten.tensor((int) each[0], 2).packedVarints((int) each[1], 1, each[2]).toBuffer();
      String answer =
          assertThrows(TensorFormatException.class, () -> reader.read(message)).getMessage();
      assertTrue(answer.contains("_val " + each[2] + " at 1 is not from "), answer);
    }
  }

  @Test
  void shouldRefuseWhenTheShapeIsNone() {
    assertEquals(
        "tensor_shape: size -1 of dimension 1 is negative; the least is 0",
        refused(HandWritten.tensor(1, 2, -1)));
    refused(HandWritten.tensor(1, Long.MIN_VALUE));
    // Together they would be two positive elements.
    refused(HandWritten.tensor(1, -1, -2).packedFloats(5, 1, 2));
    assertEquals(
        "tensor_shape: shape [4294967296, 4294967296] has more than 2^63 - 1 elements",
        refused(HandWritten.tensor(1, 1L << 32, 1L << 32)));
    assertEquals(
        "tensor_shape has an unknown rank",
        refused(new HandWritten().varint(1, 1).message(2, shape -> shape.varint(3, 1))));
    long[] many = new long[255];
    Arrays.fill(many, 1);
    assertEquals(
        "tensor_shape has 255 dimensions; the most is 254", refused(HandWritten.tensor(1, many)));
  }

  @Test
  void shouldRefuseWhenTheTypeIsUnknown() {
    for (int dtype : new int[] {0, 11, 12, 13, 15, 16, 24, 31, 101, 1000, -1}) {
      assertEquals(
          "dtype " + dtype + " is no type that tensors are read of here",
          refused(HandWritten.tensor(dtype, 1).bytes(4, new byte[4])));
    }
    refused(new HandWritten());
  }

  @Test
  void shouldRefuseBeforeMemoryIsTakenWhenTheTypeIsNotTheExpectedOne() {
    ByteBuffer message = HandWritten.tensor(1, 1).packedFloats(5, 1).toBuffer();
    assertEquals(
        "dtype 1 is FLOAT, not INT32",
        assertThrows(TensorFormatException.class, () -> reader.read(message, ElementTypes.INT32))
            .getMessage());
    assertEquals(0, allocator.stats().numAllocs());
  }

  @Test
  void shouldRefuseWhenMoreIsRepeatedThanAllowed() {
    long most = TensorReader.DEFAULT_MAX_REPEATED_BYTES;
    assertEquals(64 * MIB, most);
    reader.read(HandWritten.tensor(1, most / 4 + 1).packedFloats(5, 1).toBuffer()).close();
    assertEquals(
        "tensor_shape [16777218] of FLOAT repeats 67108868 bytes that the message does not bring;"
            + " the most is 67108864",
        refused(HandWritten.tensor(1, most / 4 + 2).packedFloats(5, 1)));
    refused(HandWritten.tensor(1, most / 4 + 1));

    TensorReader strict = new TensorReader(allocator, 0);
    strict.read(HandWritten.tensor(1, 2).packedFloats(5, 1, 2).toBuffer()).close();
    refused(strict, HandWritten.tensor(1, 3).packedFloats(5, 1, 2).toBuffer());
    refused(strict, HandWritten.tensor(1, 1).toBuffer());

    // 16 bytes for the slot, 64 for the block and 100 of its own, each time.
    HandWritten strings = HandWritten.tensor(7, 4).bytes(8, new byte[100]);
    new TensorReader(allocator, 540).read(strings.toBuffer()).close();
    refused(new TensorReader(allocator, 539), strings.toBuffer());
    HandWritten handles = HandWritten.tensor(20, 3);
    new TensorReader(allocator, 72).read(handles.toBuffer()).close();
    refused(new TensorReader(allocator, 71), handles.toBuffer());
    assertEquals(
        "maxRepeatedBytes -1 is negative; the least is 0",
        assertThrows(IllegalArgumentException.class, () -> new TensorReader(allocator, -1))
            .getMessage());
  }

  @Test
  void shouldKeepNothingWhenTheAllocatorRefuses() {
    Allocator small = new CpuAllocator(SubAllocator.direct(1000));
    TensorReader poor = new TensorReader(small);
    assertThrows(
        OutOfNativeMemoryException.class, () -> poor.read(HandWritten.tensor(1, 251).toBuffer()));
    // The slots are to be had, and some of the strings.
    ByteBuffer strings = HandWritten.tensor(7, 10).bytes(8, new byte[100]).toBuffer();
    assertThrows(OutOfNativeMemoryException.class, () -> poor.read(strings));
    assertEquals(0, small.stats().bytesInUse());
    small.close();
  }

  /** A message in which most fields occur. */
  private static byte[] sample(int number) {
    return switch (number % 4) {
      case 0 ->
          HandWritten.tensor(3, 2, 3)
              .bytes(4, HexFormat.of().parseHex("010000000200000003000000040000000500000006000000"))
              .toByteArray();
      case 1 ->
          HandWritten.tensor(7, 3)
              .bytes(8, new byte[20])
              .bytes(8, new byte[200])
              .bytes(8, new byte[3])
              .toByteArray();
      case 2 ->
          HandWritten.tensor(20, 2)
              .message(14, handle -> handle.bytes(1, new byte[9]).varint(4, -1))
              .toByteArray();
      default -> HandWritten.tensor(1, 4).packedFloats(5, 1, 2, 3, 4).toByteArray();
    };
  }

  @Test
  void shouldRefuseOrReadAndLoseNothingWhenMessagesAreTruncated() {
    for (int number = 0; number < 4; number++) {
      byte[] whole = sample(number);
      int read = 0;
      for (int length = 0; length < whole.length; length++) {
        read += readOrRefuse(ByteBuffer.wrap(whole, 0, length), "length " + length) ? 1 : 0;
      }
      // Cut where a field ends it is a message still, without content or with fewer values.
      assertTrue(read <= 4, read + " of sample " + number);
      assertTrue(readOrRefuse(ByteBuffer.wrap(whole), "whole"));
    }
    String answer = refused(reader, ByteBuffer.wrap(sample(0), 0, sample(0).length - 1));
    assertTrue(answer.startsWith("no TensorProto: "), answer);
  }

  @Test
  void shouldTakeTheLastContentWhereverTheMessageLies() {
    byte[] twice =
        HandWritten.tensor(3, 1)
            .bytes(4, (byte) 1, (byte) 0, (byte) 0, (byte) 0)
            .varint(3, 5)
            .bytes(4, (byte) 2, (byte) 0, (byte) 0, (byte) 0)
            .fixed32(98, 1)
            .fixed64(99, 1)
            .toByteArray();
    assertTrue(readOrRefuse(ByteBuffer.wrap(twice), "twice"));
    try (Tensor<Integer> tensor =
        reader.read(
            ByteBuffer.allocateDirect(twice.length).put(twice).flip(), ElementTypes.INT32)) {
      assertEquals(2, tensor.get(0));
    }
    byte[] atLastEmpty = HandWritten.tensor(3, 1).bytes(4, new byte[4]).bytes(4).toByteArray();
    assertTrue(readOrRefuse(ByteBuffer.wrap(atLastEmpty), "at last empty"));
  }

  @Test
  void shouldRefuseWhenAGroupEndsThatNeverBegan() {
    byte[] whole = sample(0);
    byte[] bad = Arrays.copyOf(whole, whole.length + 3);
    bad[whole.length] = 1 << 3 | 4;
    refused(reader, ByteBuffer.wrap(bad));
    refused(reader, ByteBuffer.allocateDirect(bad.length).put(bad).flip());
  }

  @Test
  void shouldRefuseOrReadAndLoseNothingWhenMessagesAreChangedAtRandom() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int read = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] message = sample(random.nextInt(4)).clone();
      for (int change = random.nextInt(3); change >= 0; change--) {
        message[random.nextInt(message.length)] = (byte) random.nextInt();
      }
      read += readOrRefuse(ByteBuffer.wrap(message), "seed " + seed + ", turn " + i) ? 1 : 0;
    }
    assertTrue(read > 100 && read < 19_900, read + " read, seed " + seed);
  }

  /** Wherever the message lies, the answer is the same. */
  private boolean readOrRefuse(ByteBuffer message, String what) {
    ByteBuffer direct =
        ByteBuffer.allocateDirect(message.remaining() + 2)
            .position(1)
            .put(message.duplicate())
            .flip()
            .position(1);
    Object answer = answer(message, what);
    assertEquals(answer, answer(direct, what), what);
    assertEquals(answer, answer(message.asReadOnlyBuffer(), what), what);
    return !(answer instanceof String);
  }

  /** The elements' bytes or values, or why there are none. */
  private Object answer(ByteBuffer message, String what) {
    long before = allocator.stats().bytesInUse();
    Object answer;
    try (Tensor<?> tensor = reader.read(message)) {
      assertTrue(
          tensor.sizeBytes()
              <= message.remaining() * 17L + TensorReader.DEFAULT_MAX_REPEATED_BYTES);
      List<Object> values = new ArrayList<>(List.of(tensor.type(), tensor.shape()));
      for (long i = 0; i < Math.min(100, tensor.elements().count()); i++) {
        Object value = tensor.elements().get(i);
        values.add(value instanceof byte[] bytes ? ByteBuffer.wrap(bytes) : value);
      }
      answer = values;
    } catch (TensorFormatException refused) {
      answer = refused.getMessage();
    }
    assertEquals(before, allocator.stats().bytesInUse(), what);
    return answer;
  }
}
