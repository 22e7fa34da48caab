package io.prmalloc.tensor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.SubAllocator;
import io.prmalloc.element.ElementTypes;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TensorTest {

  private final Allocator allocator = new CpuAllocator(SubAllocator.direct(1 << 20));

  @AfterEach
  void nothingIsLost() {
    assertEquals(0, allocator.stats().bytesInUse());
    allocator.close();
  }

  @Test
  void shouldLieRowMajorInAlignedMemoryWhenWritten() {
    try (Tensor<Integer> tensor = Tensor.allocate(allocator, ElementTypes.INT32, Shape.of(2, 3))) {
      assertEquals(24, tensor.sizeBytes());
      assertEquals(0, tensor.address() % 64);
      assertEquals(Shape.of(2, 3), tensor.shape());
      assertSame(ElementTypes.INT32, tensor.type());
      for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 3; j++) {
          tensor.set(10 * i + j, i, j);
        }
      }
      assertEquals(12, tensor.get(1, 2));
      assertEquals(10, tensor.elements().get(3));
      assertEquals(ByteOrder.nativeOrder(), tensor.byteBuffer().order());
      assertEquals(11, tensor.byteBuffer().getInt(16));
      assertEquals("Tensor[INT32 [2, 3]]", tensor.toString());
      assertThrows(IndexOutOfBoundsException.class, () -> tensor.get(2, 0));
      assertThrows(IllegalArgumentException.class, () -> tensor.set(1, 0));
    }
  }

  @Test
  void shouldFreeWhatElementsOwnWhenClosed() {
    Tensor<byte[]> tensor = Tensor.allocate(allocator, ElementTypes.STRING, Shape.of(2, 2));
    tensor.set(new byte[1000], 1, 1);
    assertEquals(64 + 1000, allocator.stats().bytesInUse());
    tensor.close();
    assertThrows(IllegalStateException.class, () -> tensor.get(0, 0));
    assertThrows(IllegalStateException.class, tensor::close);
    assertEquals(Shape.of(2, 2), tensor.shape());
  }

  @Test
  void shouldKnowItsTypeWhenAsked() {
    try (Tensor<?> tensor = Tensor.allocate(allocator, ElementTypes.HALF, Shape.scalar())) {
      Tensor<Float> half = tensor.as(ElementTypes.HALF);
      half.set(1.5f);
      assertEquals(1.5f, tensor.get());
      assertEquals(
          "Tensor[HALF []] has no elements of FLOAT",
          assertThrows(IllegalArgumentException.class, () -> tensor.as(ElementTypes.FLOAT))
              .getMessage());
    }
  }

  @Test
  void shouldTakeNothingWhenTheShapeIsTooLarge() {
    for (Shape shape : List.of(Shape.of(1L << 40), Shape.of(1L << 29), Shape.of(1L << 62))) {
      assertThrows(
          IllegalArgumentException.class,
          () -> Tensor.allocate(allocator, ElementTypes.FLOAT, shape));
    }
    assertEquals(0, allocator.stats().numAllocs());
  }
}
