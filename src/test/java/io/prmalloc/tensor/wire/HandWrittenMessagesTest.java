package io.prmalloc.tensor.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.RegionVisitor;
import io.prmalloc.SubAllocator;
import io.prmalloc.element.Complex;
import io.prmalloc.element.ElementType;
import io.prmalloc.element.ElementTypes;
import io.prmalloc.tensor.Shape;
import io.prmalloc.tensor.Tensor;
import io.prmalloc.tensor.wire.TensorWriter.Layout;
import io.prmalloc.tensor.wire.proto.ResourceHandleProto;
import io.prmalloc.tensor.wire.proto.VariantTensorDataProto;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Reads and writes messages, and compares them with bytes that were written by hand with
 * TensorFlow's field numbers, types and rules.
 */
class HandWrittenMessagesTest {

  private final Allocator allocator = new CpuAllocator(SubAllocator.direct());
  private final TensorReader reader = new TensorReader(allocator);

  @AfterEach
  void nothingIsLost() {
    assertEquals(0, allocator.stats().bytesInUse());
    allocator.close();
  }

  private List<Object> values(HandWritten message) {
    try (Tensor<?> tensor = reader.read(message.toBuffer())) {
      List<Object> values = new ArrayList<>();
      for (long i = 0; i < tensor.elements().count(); i++) {
        values.add(tensor.elements().get(i));
      }
      return values;
    }
  }

  /** Reads a message, and writes the tensor back: the bytes must be those of the message. */
  @SafeVarargs
  private <T> void same(HandWritten message, Layout layout, ElementType<T> type, T... expected) {
    try (Tensor<T> tensor = reader.read(message.toBuffer(), type)) {
      for (int i = 0; i < expected.length; i++) {
        assertEquals(expected[i], tensor.elements().get(i), "element " + i);
      }
      assertEquals(expected.length, tensor.elements().count());
      ByteBuffer written = ByteBuffer.allocate(TensorWriter.sizeBytes(tensor, layout));
      TensorWriter.write(tensor, layout, written);
      assertEquals(hex(message.toByteArray()), hex(written.array()));
    }
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  @Test
  void shouldBeTheBytesOfTheWireFormatWhenAFloatMatrixIsWritten() {
    try (Tensor<Float> tensor = Tensor.allocate(allocator, ElementTypes.FLOAT, Shape.of(2, 1))) {
      tensor.set(1f, 0, 0);
      tensor.set(-2f, 1, 0);
      // dtype 1; shape of 8 bytes with dims of 2 bytes, 2 and 1; content of 8 bytes.
      assertEquals(
          "0801" + "1208" + "12020802" + "12020801" + "2208" + "0000803f" + "000000c0",
          hex(TensorWriter.toProto(tensor, Layout.CONTENT).toByteArray()));
      // The same with float_val: field 5, packed.
      assertEquals(
          "0801" + "1208" + "12020802" + "12020801" + "2a08" + "0000803f" + "000000c0",
          hex(TensorWriter.toProto(tensor, Layout.VALUES).toByteArray()));
    }
  }

  @Test
  void shouldReadAndWriteContentWhenElementsArePrimitive() {
    same(
        HandWritten.tensor(3, 3).bytes(4, HexFormat.of().parseHex("01000000feffffff00000080")),
        Layout.CONTENT,
        ElementTypes.INT32,
        1,
        -2,
        Integer.MIN_VALUE);
    same(
        HandWritten.tensor(17, 2).bytes(4, HexFormat.of().parseHex("ffff0100")),
        Layout.CONTENT,
        ElementTypes.UINT16,
        65535,
        1);
    same(
        HandWritten.tensor(10, 2).bytes(4, (byte) 1, (byte) 0),
        Layout.CONTENT,
        ElementTypes.BOOL,
        true,
        false);
    same(
        HandWritten.tensor(19, 2).bytes(4, HexFormat.of().parseHex("003c00c0")),
        Layout.CONTENT,
        ElementTypes.HALF,
        1f,
        -2f);
    same(
        HandWritten.tensor(8, 1).bytes(4, HexFormat.of().parseHex("0000803f000000c0")),
        Layout.CONTENT,
        ElementTypes.COMPLEX64,
        new Complex(1, -2));
  }

  @Test
  void shouldReadAndWriteTheFieldOfItsTypeWhenWrittenAsValues() {
    Layout values = Layout.VALUES;
    same(
        HandWritten.tensor(1, 2).packedFloats(5, 1.5f, -2f), values, ElementTypes.FLOAT, 1.5f, -2f);
    same(HandWritten.tensor(2, 2).packedDoubles(6, 0.1, -2), values, ElementTypes.DOUBLE, 0.1, -2.);
    same(HandWritten.tensor(3, 2).packedVarints(7, 300, -1), values, ElementTypes.INT32, 300, -1);
    same(HandWritten.tensor(4, 2).packedVarints(7, 255, 0), values, ElementTypes.UINT8, 255, 0);
    same(
        HandWritten.tensor(5, 2).packedVarints(7, -32768, 32767),
        values,
        ElementTypes.INT16,
        Short.MIN_VALUE,
        Short.MAX_VALUE);
    same(
        HandWritten.tensor(6, 2).packedVarints(7, -128, 127),
        values,
        ElementTypes.INT8,
        Byte.MIN_VALUE,
        Byte.MAX_VALUE);
    same(
        HandWritten.tensor(8, 2).packedFloats(9, 1, 2, 3, 4),
        values,
        ElementTypes.COMPLEX64,
        new Complex(1, 2),
        new Complex(3, 4));
    same(
        HandWritten.tensor(9, 2).packedVarints(10, Long.MIN_VALUE, 7),
        values,
        ElementTypes.INT64,
        Long.MIN_VALUE,
        7L);
    same(HandWritten.tensor(10, 2).packedVarints(11, 1, 0), values, ElementTypes.BOOL, true, false);
    same(
        HandWritten.tensor(14, 2).packedVarints(13, 0x3F80, 0xC000),
        values,
        ElementTypes.BFLOAT16,
        1f,
        -2f);
    same(
        HandWritten.tensor(17, 2).packedVarints(7, 65535, 1),
        values,
        ElementTypes.UINT16,
        65535,
        1);
    same(
        HandWritten.tensor(18, 1).packedDoubles(12, 1, 2),
        values,
        ElementTypes.COMPLEX128,
        new Complex(1, 2));
    same(
        HandWritten.tensor(19, 2).packedVarints(13, 0x3C00, 0xC000),
        values,
        ElementTypes.HALF,
        1f,
        -2f);
    same(
        HandWritten.tensor(22, 2).packedVarints(16, 0xFFFF_FFFFL, 1),
        values,
        ElementTypes.UINT32,
        0xFFFF_FFFFL,
        1L);
    same(HandWritten.tensor(23, 2).packedVarints(17, -1L, 1), values, ElementTypes.UINT64, -1L, 1L);
  }

  @Test
  void shouldReadAndWriteStringsWhenTheyAreValues() {
    HandWritten message =
        HandWritten.tensor(7, 3)
            .bytes(8, "abc".getBytes(UTF_8))
            .bytes(8)
            .bytes(8, (byte) 0, (byte) -1);
    for (Layout layout : Layout.values()) {
      try (Tensor<byte[]> tensor = reader.read(message.toBuffer(), ElementTypes.STRING)) {
        assertArrayEquals("abc".getBytes(UTF_8), tensor.get(0));
        assertArrayEquals(new byte[0], tensor.get(1));
        assertArrayEquals(new byte[] {0, -1}, tensor.get(2));
        assertEquals(
            hex(message.toByteArray()), hex(TensorWriter.toProto(tensor, layout).toByteArray()));
      }
    }
  }

  @Test
  void shouldReadStringsWhenTheyAreContent() {
    // Lengths 3, 0 and 130 (two bytes), then the bytes.
    byte[] content = new byte[4 + 133];
    content[0] = 3;
    content[2] = (byte) 0x82;
    content[3] = 1;
    Arrays.fill(content, 4, content.length, (byte) 'x');
    content[4] = 'a';
    try (Tensor<byte[]> tensor =
        reader.read(HandWritten.tensor(7, 3).bytes(4, content).toBuffer(), ElementTypes.STRING)) {
      assertArrayEquals("axx".getBytes(UTF_8), tensor.get(0));
      assertArrayEquals(new byte[0], tensor.get(1));
      assertEquals(130, tensor.get(2).length);
    }
  }

  @Test
  void shouldReadAndWriteHandlesWhenTheyAreValues() {
    HandWritten message =
        HandWritten.tensor(20, 1)
            .message(
                14,
                handle ->
                    handle
                        .bytes(1, "cpu:0".getBytes(UTF_8))
                        .bytes(2, "box".getBytes(UTF_8))
                        .bytes(3, "table".getBytes(UTF_8))
                        .varint(4, -3)
                        .bytes(5, "T".getBytes(UTF_8))
                        .message(
                            6,
                            dtype ->
                                dtype
                                    .varint(1, 1)
                                    .message(2, shape -> HandWritten.dims(shape, 2))));
    byte[] bytes = message.toByteArray();
    ByteBuffer buffer = ByteBuffer.wrap(bytes.clone());
    try (Tensor<Object> tensor = reader.read(buffer, ElementTypes.RESOURCE_HANDLE)) {
      Arrays.fill(buffer.array(), (byte) 0xFF); // The tensor no longer needs it.
      ResourceHandleProto handle = assertInstanceOf(ResourceHandleProto.class, tensor.get(0));
      assertEquals("cpu:0", handle.getDevice());
      assertEquals("box", handle.getContainer());
      assertEquals("table", handle.getName());
      assertEquals(-3, handle.getHashCode());
      assertEquals("T", handle.getMaybeTypeName());
      assertEquals(1, handle.getDtypesAndShapes(0).getDtypeValue());
      assertEquals(2, handle.getDtypesAndShapes(0).getShape().getDim(0).getSize());
      assertEquals(hex(bytes), hex(TensorWriter.toProto(tensor, Layout.CONTENT).toByteArray()));
    }
  }

  @Test
  void shouldReadAndWriteVariantsWhenTheyAreValues() {
    HandWritten message =
        HandWritten.tensor(21, 1)
            .message(
                15,
                variant ->
                    variant
                        .bytes(1, "list".getBytes(UTF_8))
                        .bytes(2, (byte) 5, (byte) 6)
                        .message(3, inner -> inner.varint(1, 1)));
    byte[] bytes = message.toByteArray();
    ByteBuffer buffer = ByteBuffer.wrap(bytes.clone());
    try (Tensor<Object> tensor = reader.read(buffer, ElementTypes.VARIANT)) {
      Arrays.fill(buffer.array(), (byte) 0xFF); // The tensor no longer needs it.
      VariantTensorDataProto variant =
          assertInstanceOf(VariantTensorDataProto.class, tensor.get(0));
      assertEquals("list", variant.getTypeName());
      assertArrayEquals(new byte[] {5, 6}, variant.getMetadata().toByteArray());
      assertEquals(1, variant.getTensors(0).getDtypeValue());
      assertEquals(hex(bytes), hex(TensorWriter.toProto(tensor, Layout.VALUES).toByteArray()));
    }
  }

  @Test
  void shouldReadHandlesWhenTheyAreContent() {
    // Lengths 3 and 0, then a message with name "x", and an empty one.
    HandWritten message =
        HandWritten.tensor(20, 2).bytes(4, HexFormat.of().parseHex("0300" + "1a0178"));
    assertEquals(
        List.of(
            ResourceHandleProto.newBuilder().setName("x").build(),
            ResourceHandleProto.getDefaultInstance()),
        values(message));
  }

  @Test
  void shouldRepeatTheLastValueWhenThereAreFewer() {
    assertEquals(
        List.of(1f, 2f, 2f, 2f, 2f), values(HandWritten.tensor(1, 5).packedFloats(5, 1, 2)));
    assertEquals(
        List.of(new Complex(1, 2), new Complex(3, 4), new Complex(3, 4)),
        values(HandWritten.tensor(8, 3).packedFloats(9, 1, 2, 3, 4)));
    assertEquals(List.of(7, 7, 7), values(HandWritten.tensor(4, 3).packedVarints(7, 7)));
    HandWritten strings = HandWritten.tensor(7, 3).bytes(8, (byte) 'a').bytes(8, (byte) 'b');
    assertEquals(
        List.of("a", "b", "b"),
        values(strings).stream().map(value -> new String((byte[]) value, UTF_8)).toList());
    HandWritten handles =
        HandWritten.tensor(20, 2).message(14, handle -> handle.bytes(3, (byte) 'x'));
    ResourceHandleProto x = ResourceHandleProto.newBuilder().setName("x").build();
    assertEquals(List.of(x, x), values(handles));
  }

  @Test
  void shouldBeZeroWhenThereAreNoValues() {
    for (ElementType<?> type : ElementTypes.all()) {
      int number = type.dataType().orElseThrow();
      List<Object> values = values(HandWritten.tensor(number, 200));
      assertEquals(200, values.size());
      for (Object value : values) {
        switch (number) {
          case 7 -> assertArrayEquals(new byte[0], (byte[]) value);
          case 8, 18 -> assertEquals(new Complex(0, 0), value);
          case 10 -> assertEquals(false, value);
          case 20 -> assertEquals(ResourceHandleProto.getDefaultInstance(), value);
          case 21 -> assertEquals(VariantTensorDataProto.getDefaultInstance(), value);
          default -> assertEquals(0.0, ((Number) value).doubleValue());
        }
      }
    }
  }

  @Test
  void shouldBeZeroWhenThereAreNoValuesAndTheMemoryWasUsedBefore() {
    SubAllocator dirty =
        SubAllocator.direct()
            .withVisitors(
                0,
                RegionVisitor.onAlloc(
                    (region, index, bytes) -> {
                      for (int i = 0; i < bytes; i++) {
                        region.buffer().put(i, (byte) 0x55);
                      }
                    }));
    try (Allocator used = new CpuAllocator(dirty);
        Tensor<Integer> tensor =
            new TensorReader(used)
                .read(HandWritten.tensor(3, 1001).toBuffer(), ElementTypes.INT32)) {
      for (long i = 0; i < 1001; i++) {
        assertEquals(0, tensor.get(i));
      }
    }
  }

  @Test
  void shouldTakeTheContentWhenThereAreValuesToo() {
    assertEquals(
        List.of(1f), values(HandWritten.tensor(1, 1).packedFloats(5, 9).bytes(4, content(1f))));
    // Even if those are too many.
    assertEquals(
        List.of(1f), values(HandWritten.tensor(1, 1).packedFloats(5, 9, 9).bytes(4, content(1f))));
  }

  private static byte[] content(float value) {
    return ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(value).array();
  }

  @Test
  void shouldReadWhatOtherWritersMayWrite() {
    // Values one by one and not packed; fields out of order; fields nobody knows; a named
    // dimension.
    HandWritten message =
        new HandWritten()
            .fixed32(5, Float.floatToRawIntBits(1f))
            .varint(99, 7)
            .message(2, shape -> shape.message(2, dim -> dim.varint(1, 2).bytes(2, (byte) 'n')))
            .varint(1, 1)
            .varint(3, 7)
            .fixed32(5, Float.floatToRawIntBits(2f));
    assertEquals(List.of(1f, 2f), values(message));
    HandWritten doubles =
        new HandWritten().fixed64(6, Double.doubleToRawLongBits(2.5)).varint(1, 2);
    assertEquals(List.of(2.5), values(doubles));
    // Some take the 16 bits of a half for a signed number.
    assertEquals(List.of(-2f), values(HandWritten.tensor(19, 1).packedVarints(13, (short) 0xC000)));
  }

  @Test
  void shouldBeASingleElementWhenThereIsNoShape() {
    try (Tensor<Float> tensor =
        reader.read(
            new HandWritten().varint(1, 1).packedFloats(5, 3).toBuffer(), ElementTypes.FLOAT)) {
      assertEquals(Shape.scalar(), tensor.shape());
      assertEquals(3f, tensor.get());
    }
  }

  @Test
  void shouldTurnNumbersAroundWhenBytesLieTheOtherWay() {
    ByteBuffer from = ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
    ByteBuffer to = ByteBuffer.allocate(8);
    PrimitiveCodec.swap(from, to, 4);
    assertArrayEquals(new byte[] {4, 3, 2, 1, 8, 7, 6, 5}, to.array());
    PrimitiveCodec.swap(from, to, 1);
    assertArrayEquals(from.array(), to.array());
    int complexUnit = ((PrimitiveCodec) Codecs.of(ElementTypes.COMPLEX64)).unitBytes();
    assertEquals(4, complexUnit);
    assertEquals(8, ((PrimitiveCodec) Codecs.of(ElementTypes.COMPLEX128)).unitBytes());
    assertEquals(ByteOrder.BIG_ENDIAN, from.order());
  }
}
