package io.prmalloc.tensor.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.sun.management.ThreadMXBean;
import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.SubAllocator;
import io.prmalloc.element.ElementType;
import io.prmalloc.element.ElementTypes;
import io.prmalloc.element.StringElements;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.tensor.Shape;
import io.prmalloc.tensor.Tensor;
import io.prmalloc.tensor.wire.TensorWriter.Layout;
import io.prmalloc.tensor.wire.proto.ResourceHandleProto;
import io.prmalloc.tensor.wire.proto.TensorProto;
import io.prmalloc.tensor.wire.proto.VariantTensorDataProto;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tensors of every type, to the wire and back. */
class RoundTripTest {

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final Allocator plain = new CpuAllocator(SubAllocator.direct());
  private final TensorPoolAllocator pool = TensorPoolAllocator.builder().build();

  @AfterEach
  void nothingIsLost() {
    for (Allocator allocator : List.of(plain, pool)) {
      assertEquals(0, allocator.stats().bytesInUse());
      allocator.close();
    }
  }

  static List<Arguments> everything() {
    List<Arguments> all = new ArrayList<>();
    for (ElementType<?> type : ElementTypes.all()) {
      for (Layout layout : Layout.values()) {
        for (Shape shape :
            List.of(Shape.scalar(), Shape.of(7), Shape.of(3, 0, 2), Shape.of(5, 1, 300))) {
          all.add(Arguments.of(type, layout, shape));
        }
      }
    }
    return all;
  }

  /** Any bits at all, that is every value of the type, numbers that are none included. */
  private void fill(Tensor<?> tensor) {
    long count = tensor.elements().count();
    if (tensor.type() == ElementTypes.STRING) {
      StringElements strings = StringElements.of(tensor.elements());
      for (long i = 0; i < count; i++) {
        byte[] bytes = new byte[random.nextInt(4) == 0 ? 0 : random.nextInt(300)];
        random.nextBytes(bytes);
        strings.set(i, ByteBuffer.wrap(bytes));
      }
    } else if (tensor.type() == ElementTypes.RESOURCE_HANDLE) {
      for (long i = 0; i < count; i++) {
        tensor
            .as(ElementTypes.RESOURCE_HANDLE)
            .elements()
            .set(i, ResourceHandleProto.newBuilder().setHashCode(random.nextLong()).build());
      }
    } else if (tensor.type() == ElementTypes.VARIANT) {
      for (long i = 0; i < count; i++) {
        tensor
            .as(ElementTypes.VARIANT)
            .elements()
            .set(
                i,
                VariantTensorDataProto.newBuilder()
                    .setMetadata(ByteString.copyFromUtf8("variant " + random.nextInt()))
                    .build());
      }
    } else {
      byte[] bits = new byte[(int) tensor.sizeBytes()];
      random.nextBytes(bits);
      if (tensor.type() == ElementTypes.BOOL) {
        for (int i = 0; i < bits.length; i++) {
          bits[i] &= 1;
        }
      }
      tensor.byteBuffer().put(bits);
    }
  }

  private void assertSameElements(Tensor<?> expected, Tensor<?> actual) {
    assertSame(expected.type(), actual.type());
    assertEquals(expected.shape(), actual.shape());
    if (expected.type().isTrivial()) {
      // Compared as bits, for NaNs must come back as they were.
      assertEquals(expected.byteBuffer(), actual.byteBuffer(), "seed " + seed);
    } else {
      for (long i = 0; i < expected.elements().count(); i++) {
        Object value = expected.elements().get(i);
        if (value instanceof byte[] bytes) {
          assertArrayEquals(bytes, (byte[]) actual.elements().get(i), "seed " + seed);
        } else {
          assertEquals(value, actual.elements().get(i), "seed " + seed);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("everything")
  void shouldComeBackTheSameWhenWrittenAndRead(ElementType<?> type, Layout layout, Shape shape)
      throws IOException {
    try (Tensor<?> tensor = Tensor.allocate(plain, type, shape)) {
      fill(tensor);
      TensorProto message = TensorWriter.toProto(tensor, layout);
      byte[] bytes = message.toByteArray();
      assertEquals(bytes.length, TensorWriter.sizeBytes(tensor, layout));

      ByteArrayOutputStream stream = new ByteArrayOutputStream();
      TensorWriter.write(tensor, layout, stream);
      assertArrayEquals(bytes, stream.toByteArray());

      ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length + 5).position(3);
      TensorWriter.write(tensor, layout, direct);
      assertEquals(3 + bytes.length, direct.position());
      direct.flip().position(3);

      ByteBuffer heap = ByteBuffer.allocate(bytes.length + 5).position(4).put(bytes);
      heap.flip().position(4);

      for (Allocator allocator : List.of(plain, pool)) {
        TensorReader reader = new TensorReader(allocator, 0);
        try (Tensor<?> back = reader.read(message)) {
          assertSameElements(tensor, back);
        }
        for (ByteBuffer source : List.of(direct, heap, heap.asReadOnlyBuffer())) {
          int position = source.position();
          try (Tensor<?> back = reader.read(source, type)) {
            assertSameElements(tensor, back);
            assertEquals(0, back.byteBuffer().alignmentOffset(0, 64));
          }
          assertEquals(position, source.position());
        }
      }
    }
  }

  private static long heapBytes() {
    return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
  }

  @Test
  void shouldMakeNoCopyOnTheHeapWhenContentGoesFromBufferToBuffer() throws IOException {
    int bytes = 16 << 20;
    try (Tensor<?> tensor = Tensor.allocate(plain, ElementTypes.UINT8, Shape.of(bytes))) {
      ByteBuffer direct = ByteBuffer.allocateDirect(bytes + 100);
      // Once before, so that classes are loaded.
      TensorWriter.write(tensor, Layout.CONTENT, direct.duplicate());
      ByteBuffer heap = ByteBuffer.allocate(bytes + 100);
      long before = heapBytes();
      TensorWriter.write(tensor, Layout.CONTENT, direct);
      TensorWriter.write(tensor, Layout.CONTENT, heap);
      TensorWriter.write(tensor, Layout.CONTENT, OutputStream.nullOutputStream());
      for (ByteBuffer message : List.of(direct.flip(), heap.flip(), heap.asReadOnlyBuffer())) {
        new TensorReader(plain).read(message).close();
      }
      long made = heapBytes() - before;
      assertTrue(made < bytes / 4, made + " bytes on the heap");
    }
  }

  @Test
  void shouldNotDependOnTheTensorWhenAMessageWasMade() {
    TensorProto message;
    try (Tensor<Integer> tensor = Tensor.allocate(plain, ElementTypes.INT32, Shape.of(2))) {
      tensor.set(5, 0);
      tensor.set(6, 1);
      message = TensorWriter.toProto(tensor, Layout.CONTENT);
      tensor.set(7, 0);
    }
    try (Tensor<?> back = new TensorReader(plain).read(message)) {
      assertEquals(5, back.elements().get(0));
    }
  }

  @Test
  void shouldNotDependOnTheMessageWhenATensorWasRead() {
    ByteBuffer message = HandWritten.tensor(7, 1).bytes(8, (byte) 'a', (byte) 'b').toBuffer();
    try (Tensor<byte[]> tensor = new TensorReader(plain).read(message, ElementTypes.STRING)) {
      message.put(0, new byte[message.limit()]);
      assertArrayEquals(new byte[] {'a', 'b'}, tensor.get(0));
    }
  }

  @Test
  void shouldWriteAnEmptyMessageWhenAnElementHasNoObject() {
    try (Tensor<Object> tensor =
        Tensor.allocate(plain, ElementTypes.RESOURCE_HANDLE, Shape.of(2))) {
      TensorProto message = TensorWriter.toProto(tensor, Layout.VALUES);
      assertEquals(2, message.getResourceHandleValCount());
      assertEquals(ResourceHandleProto.getDefaultInstance(), message.getResourceHandleVal(1));
    }
  }

  @Test
  void shouldRefuseWhenAnObjectHasNoPlaceInAMessage() {
    try (Tensor<Object> tensor = Tensor.allocate(plain, ElementTypes.VARIANT, Shape.of(2))) {
      tensor.set("text", 1);
      assertEquals(
          "element 1 of VARIANT is a java.lang.String, and on the wire goes a "
              + VariantTensorDataProto.class.getName(),
          assertThrows(
                  IllegalArgumentException.class,
                  () -> TensorWriter.toProto(tensor, Layout.CONTENT))
              .getMessage());
    }
  }

  /** Floats of somebody else's, with the number of ours. */
  private static final class Foreign implements ElementType<Float> {
    @Override
    public String name() {
      return "FOREIGN";
    }

    @Override
    public Class<Float> valueClass() {
      return Float.class;
    }

    @Override
    public int slotBytes() {
      return 4;
    }

    @Override
    public java.util.OptionalInt dataType() {
      return java.util.OptionalInt.of(1);
    }

    @Override
    public boolean isTrivial() {
      return true;
    }

    @Override
    public Float read(ByteBuffer memory, int offset) {
      return memory.getFloat(offset);
    }

    @Override
    public void write(Allocator allocator, ByteBuffer memory, int offset, Float value) {
      memory.putFloat(offset, value);
    }
  }

  @Test
  void shouldRefuseWhenTheTypeIsOfSomebodyElse() {
    try (Tensor<Float> tensor = Tensor.allocate(plain, new Foreign(), Shape.of(2))) {
      assertEquals(
          "type FOREIGN is none of ElementTypes and has no place in a message",
          assertThrows(
                  IllegalArgumentException.class,
                  () -> TensorWriter.toProto(tensor, Layout.CONTENT))
              .getMessage());
    }
  }

  @Test
  void shouldWriteNothingWhenTheBufferIsTooSmall() {
    try (Tensor<Float> tensor = Tensor.allocate(plain, ElementTypes.FLOAT, Shape.of(100))) {
      int size = TensorWriter.sizeBytes(tensor, Layout.CONTENT);
      ByteBuffer small = ByteBuffer.allocate(size - 1);
      assertEquals(
          "message of " + size + " bytes has no room in " + (size - 1),
          assertThrows(
                  IllegalArgumentException.class,
                  () -> TensorWriter.write(tensor, Layout.CONTENT, small))
              .getMessage());
      assertEquals(0, small.position());
      assertEquals(0, small.get(0));
    }
  }

  @Test
  void shouldRefuseWhenTheMessageWouldBeTooLarge() {
    try (Tensor<Byte> tensor = Tensor.allocate(plain, ElementTypes.INT8, Shape.of(220_000_000))) {
      String message =
          assertThrows(
                  IllegalArgumentException.class, () -> TensorWriter.toProto(tensor, Layout.VALUES))
              .getMessage();
      assertEquals(
          "Tensor[INT8 [220000000]] may take 2200000000 bytes in a message, which holds at most 2"
              + " GiB",
          message);
    }
  }

  @Test
  void shouldThrowWhenTheTensorIsClosed() {
    Tensor<Float> tensor = Tensor.allocate(plain, ElementTypes.FLOAT, Shape.of(2));
    tensor.close();
    assertThrows(IllegalStateException.class, () -> TensorWriter.toProto(tensor, Layout.CONTENT));
    assertThrows(
        IllegalStateException.class,
        () -> TensorWriter.write(tensor, Layout.VALUES, new ByteArrayOutputStream()));
  }
}
