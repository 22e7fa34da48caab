package io.prmalloc.element;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ElementTypesTest {

  private final ByteBuffer memory = ByteBuffer.allocateDirect(64);

  /** Writes a value at offset 16, reads it back, and tells its bytes as they lie. */
  private <T> String written(ElementType<T> type, T value, T expected) {
    for (int i = 0; i < 64; i++) {
      memory.put(i, (byte) 0xEE);
    }
    type.write(null, memory, 16, value);
    assertEquals(expected, type.read(memory, 16));
    byte[] all = new byte[64];
    memory.get(0, all);
    Arrays.fill(all, 16, 16 + type.slotBytes(), (byte) 0xEE);
    for (byte around : all) {
      assertEquals((byte) 0xEE, around, "a byte beside the element");
    }
    byte[] slot = new byte[type.slotBytes()];
    memory.get(16, slot);
    return HexFormat.of().formatHex(slot);
  }

  private <T> String written(ElementType<T> type, T value) {
    return written(type, value, value);
  }

  // The numbers and sizes here are from TensorFlow's types.proto, and not from the code.
  @ParameterizedTest
  @CsvSource({
    "FLOAT,1,4",
    "DOUBLE,2,8",
    "INT32,3,4",
    "UINT8,4,1",
    "INT16,5,2",
    "INT8,6,1",
    "STRING,7,16",
    "COMPLEX64,8,8",
    "INT64,9,8",
    "BOOL,10,1",
    "BFLOAT16,14,2",
    "UINT16,17,2",
    "COMPLEX128,18,16",
    "HALF,19,2",
    "RESOURCE_HANDLE,20,8",
    "VARIANT,21,8",
    "UINT32,22,4",
    "UINT64,23,8"
  })
  void shouldHaveTensorFlowsNumberWhenAsked(String name, int number, int bytes) throws Exception {
    ElementType<?> type = ElementTypes.ofDataType(number).orElseThrow();
    assertEquals(name, type.name());
    assertSame(ElementTypes.class.getField(name).get(null), type);
    assertEquals(number, type.dataType().orElseThrow());
    assertEquals(bytes, type.slotBytes());
    assertEquals(!List.of(7, 20, 21).contains(number), type.isTrivial());
    assertTrue(ElementTypes.all().contains(type));
  }

  @Test
  void shouldKnowNoTypeWhenTheNumberIsAnother() {
    assertEquals(18, ElementTypes.all().size());
    for (int number : new int[] {-1, 0, 11, 12, 13, 15, 16, 24, 101, Integer.MAX_VALUE}) {
      assertTrue(ElementTypes.ofDataType(number).isEmpty(), "number " + number);
    }
  }

  @Test
  void shouldKeepValuesWhenSigned() {
    memory.order(java.nio.ByteOrder.LITTLE_ENDIAN);
    assertEquals("0000c0bf", written(ElementTypes.FLOAT, -1.5f));
    assertEquals("000000000000f8bf", written(ElementTypes.DOUBLE, -1.5));
    assertEquals("feffffff", written(ElementTypes.INT32, -2));
    assertEquals("0080", written(ElementTypes.INT16, Short.MIN_VALUE));
    assertEquals("80", written(ElementTypes.INT8, Byte.MIN_VALUE));
    assertEquals("0000000000000080", written(ElementTypes.INT64, Long.MIN_VALUE));
    assertEquals("01", written(ElementTypes.BOOL, true));
    assertEquals("00", written(ElementTypes.BOOL, false));
    assertEquals("0000803f000000c0", written(ElementTypes.COMPLEX64, new Complex(1, -2)));
    assertEquals(
        "000000000000f03f00000000000000c0", written(ElementTypes.COMPLEX128, new Complex(1, -2)));
    written(ElementTypes.COMPLEX64, new Complex(0.1, 0), new Complex(0.1f, 0));
  }

  @Test
  void shouldKeepValuesWhenUnsigned() {
    memory.order(java.nio.ByteOrder.LITTLE_ENDIAN);
    assertEquals("ff", written(ElementTypes.UINT8, 255));
    assertEquals("00", written(ElementTypes.UINT8, 0));
    assertEquals("ffff", written(ElementTypes.UINT16, 65535));
    assertEquals("ffffffff", written(ElementTypes.UINT32, 0xFFFF_FFFFL));
    assertEquals("ffffffffffffffff", written(ElementTypes.UINT64, -1L));
  }

  @Test
  void shouldRefuseAndKeepTheOldValueWhenAValueDoesNotFit() {
    for (int value : new int[] {-1, 256, Integer.MAX_VALUE}) {
      assertEquals(
          "value " + value + " of UINT8 is not from 0 to 255",
          assertThrows(
                  IllegalArgumentException.class,
                  () -> ElementTypes.UINT8.write(null, memory, 0, value))
              .getMessage());
    }
    assertThrows(
        IllegalArgumentException.class, () -> ElementTypes.UINT16.write(null, memory, 0, 65536));
    assertThrows(
        IllegalArgumentException.class, () -> ElementTypes.UINT32.write(null, memory, 0, 1L << 32));
    assertThrows(
        IllegalArgumentException.class, () -> ElementTypes.UINT32.write(null, memory, 0, -1L));
    assertEquals(0, memory.getLong(0));
  }

  @Test
  void shouldReadTrueWhenABoolIsAnythingButZero() {
    memory.put(0, (byte) 2);
    assertEquals(true, ElementTypes.BOOL.read(memory, 0));
  }

  @Test
  void shouldRoundWhenWrittenAsHalfOfAFloat() {
    memory.order(java.nio.ByteOrder.LITTLE_ENDIAN);
    assertEquals("003c", written(ElementTypes.HALF, 1f));
    assertEquals("00c0", written(ElementTypes.HALF, -2f));
    assertEquals("007c", written(ElementTypes.HALF, 65520f, Float.POSITIVE_INFINITY));
    assertEquals("ff7b", written(ElementTypes.HALF, 65519f, 65504f));
    assertEquals("803f", written(ElementTypes.BFLOAT16, 1f));
    assertEquals("8040", written(ElementTypes.BFLOAT16, 4.01f, 4f));
  }
}
