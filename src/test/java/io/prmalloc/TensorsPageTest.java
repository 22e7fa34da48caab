package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.element.ElementType;
import io.prmalloc.element.ElementTypes;
import io.prmalloc.element.StringElements;
import io.prmalloc.element.TypedAllocation;
import io.prmalloc.tensor.Shape;
import io.prmalloc.tensor.Tensor;
import io.prmalloc.tensor.wire.TensorFormatException;
import io.prmalloc.tensor.wire.TensorReader;
import io.prmalloc.tensor.wire.TensorWriter;
import io.prmalloc.tensor.wire.TensorWriter.Layout;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The code on the page {@code docs/tensors.md}. */
class TensorsPageTest {

  private final Allocator allocator = new CpuAllocator(SubAllocator.direct());
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  @Test
  void shouldShowThisCodeWhenThePageIsRead() throws Exception {
    PageCode.check("tensors.md", TensorsPageTest.class);
  }

  @AfterEach
  void nothingIsLost() {
    assertEquals(0, allocator.stats().bytesInUse());
    allocator.close();
  }

  private ByteBuffer message(int rows) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (Tensor<Float> tensor = Tensor.allocate(allocator, ElementTypes.FLOAT, Shape.of(rows, 4))) {
      tensor.byteBuffer().putFloat(0, 2.5f);
      TensorWriter.write(tensor, Layout.CONTENT, bytes);
    }
    return ByteBuffer.wrap(bytes.toByteArray());
  }

  // page
  void answer(ByteBuffer request, ByteArrayOutputStream response) throws IOException {
    TensorReader reader = new TensorReader(allocator);
    try (Tensor<Float> input = reader.read(request, ElementTypes.FLOAT);
        Tensor<Float> output =
            Tensor.allocate(allocator, ElementTypes.FLOAT, Shape.of(input.shape().size(0), 10))) {
      infer(input.byteBuffer(), output.byteBuffer());
      TensorWriter.write(output, Layout.CONTENT, response);
    }
  }

  // end of page

  private static void infer(ByteBuffer input, ByteBuffer output) {
    for (int i = 0; i < output.limit(); i += 4) {
      output.putFloat(i, i == 0 ? input.getFloat(0) + 1 : 0);
    }
  }

  @Test
  void shouldAnswer() throws IOException {
    answer(message(3), out);
    TensorReader reader = new TensorReader(allocator);
    try (Tensor<Float> back = reader.read(ByteBuffer.wrap(out.toByteArray()), ElementTypes.FLOAT)) {
      assertEquals(Shape.of(3, 10), back.shape());
      assertEquals(3.5f, back.get(0, 0));
    }
  }

  @Test
  void shouldRefuse() throws IOException {
    ByteBuffer whole = message(2);
    ByteBuffer bytes = whole.limit(whole.limit() - 4);
    List<String> warnings = new ArrayList<>();
    // page
    TensorReader strict = new TensorReader(allocator, 1 << 20); // repeats at most 1 MiB
    try (Tensor<?> tensor = strict.read(bytes)) {
      serve(tensor);
    } catch (TensorFormatException refused) {
      warnings.add(refused.getMessage());
    }
    // end of page
    assertEquals(1, warnings.size());
    assertTrue(warnings.get(0).startsWith("no TensorProto: "), warnings.get(0));
  }

  private static void serve(Tensor<?> tensor) {
    assertNotNull(tensor);
  }

  @Test
  void shouldHoldElements() {
    // page
    try (TypedAllocation<Float> scores = allocator.allocate(ElementTypes.FLOAT, 1000);
        TypedAllocation<byte[]> labels = allocator.allocate(ElementTypes.STRING, 1000)) {
      scores.set(0, 0.75f);
      scores.byteBuffer().putFloat(4, 0.25f); // the same memory, without boxes
      StringElements.of(labels).set(0, "tabby cat"); // bytes off the heap, freed on close
    }
    // end of page
  }

  // page
  /** A pair of coordinates; a new one lies at the origin. */
  record Point(int x, int y) {}

  static final class PointType implements ElementType<Point> {
    @Override
    public String name() {
      return "POINT";
    }

    @Override
    public Class<Point> valueClass() {
      return Point.class;
    }

    @Override
    public int slotBytes() {
      return 8;
    }

    @Override
    public boolean isTrivial() {
      return false; // construct is to be called
    }

    @Override
    public void construct(Allocator allocator, ByteBuffer memory, int offset) {
      memory.putLong(offset, 0);
    }

    @Override
    public Point read(ByteBuffer memory, int offset) {
      return new Point(memory.getInt(offset), memory.getInt(offset + 4));
    }

    @Override
    public void write(Allocator allocator, ByteBuffer memory, int offset, Point value) {
      memory.putInt(offset, value.x()).putInt(offset + 4, value.y());
    }
  }

  // end of page

  @Test
  void shouldHoldPoints() {
    try (TypedAllocation<Point> points = allocator.allocate(new PointType(), 3)) {
      assertEquals(new Point(0, 0), points.get(2));
      points.set(1, new Point(4, -5));
      assertEquals(new Point(4, -5), points.get(1));
      assertEquals(OptionalInt.empty(), points.type().dataType());
    }
  }

  /** Writes down what is registered. */
  private static final class Card {
    final List<Long> registered = new ArrayList<>();

    void register(MemoryRegion region) {
      registered.add(region.sizeBytes());
    }

    void deregister(MemoryRegion region) {
      registered.remove(region.sizeBytes());
    }
  }

  @Test
  void shouldTellVisitors() {
    Mallocs.assumeCLibrary();
    Card card = new Card();
    // page
    SubAllocator source =
        SubAllocator.posixMemalign(64 << 20) // with a limit
            .withVisitors(
                0,
                RegionVisitor.of(
                    (region, index, bytes) -> card.register(region),
                    (region, index, bytes) -> card.deregister(region)));
    // end of page
    MemoryRegion region = source.alloc(64, 1000);
    assertArrayEquals(new Object[] {1000L}, card.registered.toArray());
    source.free(region);
    assertEquals(List.of(), card.registered);
    assertThrows(OutOfNativeMemoryException.class, () -> source.alloc(64, 65 << 20));
  }
}
