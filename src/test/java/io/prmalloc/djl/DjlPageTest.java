package io.prmalloc.djl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.PageCode;
import io.prmalloc.RegionVisitor;
import io.prmalloc.SubAllocator;
import io.prmalloc.pool.TensorPoolAllocator;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The code on the page {@code docs/djl.md}, on DJL's engine for ONNX Runtime. */
class DjlPageTest {

  private final Allocator memory = new CpuAllocator(SubAllocator.direct(1 << 20));

  private static NDManager newManager() {
    return OrtEngine.load().newBaseManager();
  }

  @AfterEach
  void nothingIsLost() {
    assertEquals(0, memory.stats().bytesInUse());
    memory.close();
  }

  @Test
  void shouldShowThisCodeWhenThePageIsRead() throws Exception {
    PageCode.check("djl.md", DjlPageTest.class);
  }

  @Test
  void shouldShowTheElementsToDjl() {
    TensorPoolAllocator pool = TensorPoolAllocator.builder().build();
    float[] pixels = {1, 2, 3, 4, 5, 6};
    float[] seen;
    // page
    try (NDManager manager = newManager()) {
      PooledNDArray image = PooledNDArray.create(manager, pool, new Shape(2, 3), DataType.FLOAT32);
      image.bytes().asFloatBuffer().put(pixels);
      seen = image.array().toFloatArray();
    } // the manager closes the array and then gives the memory back
    // end of page
    assertArrayEquals(pixels, seen);
    assertTrue(pool.stats().numAllocs() > 0);
    pool.close();
  }

  @Test
  void shouldShareTheMemoryWhenTheEngineTakesItAsItIs() {
    try (NDManager manager = newManager();
        PooledNDArray array = PooledNDArray.create(manager, memory, new Shape(4), DataType.INT64)) {
      array.bytes().asLongBuffer().put(3, 42);
      assertArrayEquals(new long[] {42}, new long[] {array.array().toLongArray()[3]});
      array.bytes().asLongBuffer().put(3, 43);
      assertEquals(43, array.array().toLongArray()[3]);
    }
  }

  @Test
  void shouldGiveTheMemoryBackOnceWhicheverClosesFirst() {
    NDManager manager = newManager();
    PooledNDArray first = PooledNDArray.create(manager, memory, new Shape(4), DataType.INT8);
    PooledNDArray second = PooledNDArray.create(manager, memory, new Shape(4), DataType.INT8);
    PooledNDArray third = PooledNDArray.create(manager, memory, new Shape(4), DataType.INT8);
    assertEquals(12, memory.stats().bytesInUse());
    first.close();
    first.close();
    assertEquals(8, memory.stats().bytesInUse());
    second.array().close();
    assertEquals(8, memory.stats().bytesInUse());
    manager.close();
    assertEquals(0, memory.stats().bytesInUse());
    third.close();
    assertThrows(IllegalStateException.class, third::bytes);
  }

  @Test
  void shouldCloseTheArrayBeforeTheMemoryWhoeverClosesThem() {
    PooledNDArray[] made = new PooledNDArray[1];
    List<Boolean> arrayClosed = new ArrayList<>();
    RegionVisitor watch =
        RegionVisitor.of(
            (region, index, bytes) -> {},
            (region, index, bytes) -> {
              try {
                made[0].array().toByteArray();
                arrayClosed.add(false);
              } catch (IllegalStateException refused) {
                arrayClosed.add(true);
              }
            });
    try (Allocator watched = new CpuAllocator(SubAllocator.direct().withVisitors(0, watch))) {
      for (boolean byManager : new boolean[] {false, true}) {
        NDManager manager = newManager();
        made[0] = PooledNDArray.create(manager, watched, new Shape(4), DataType.INT8);
        if (!byManager) {
          made[0].close();
        }
        manager.close();
      }
    }
    assertEquals(List.of(true, true), arrayClosed);
  }

  @Test
  void shouldKeepNothingWhenTheRequestIsRefused() {
    try (NDManager manager = newManager()) {
      for (Shape shape :
          new Shape[] {new Shape(-1, 3), new Shape(Long.MAX_VALUE, 2), new Shape(1L << 31)}) {
        assertThrows(
            IllegalArgumentException.class,
            () -> PooledNDArray.create(manager, memory, shape, DataType.FLOAT32),
            shape.toString());
      }
      assertThrows(
          IllegalArgumentException.class,
          () -> PooledNDArray.create(manager, memory, new Shape(1), DataType.STRING));
      assertThrows(
          OutOfNativeMemoryException.class,
          () -> PooledNDArray.create(manager, memory, new Shape(1 << 20), DataType.FLOAT32));
    }
  }

  /** DJL's PyTorch would end this process, so an engine of that name stands in for it. */
  @Test
  void shouldRefuseBfloat16OfPyTorchBeforeTheEngineSeesIt() {
    Engine pyTorch = new NamedEngine("PyTorch");
    NDManager manager =
        (NDManager)
            Proxy.newProxyInstance(
                NDManager.class.getClassLoader(),
                new Class<?>[] {NDManager.class},
                (proxy, method, arguments) -> {
                  assertEquals("getEngine", method.getName());
                  return pyTorch;
                });
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> PooledNDArray.create(manager, memory, new Shape(1), DataType.BFLOAT16));
    assertTrue(refused.getMessage().startsWith("type BFLOAT16 ends"), refused.getMessage());
    assertEquals(0, memory.stats().numAllocs());
  }

  @Test
  void shouldKeepNothingWhenTheEngineRefuses() {
    try (NDManager manager = newManager()) {
      // This engine has no complex numbers.
      assertThrows(
          RuntimeException.class,
          () -> PooledNDArray.create(manager, memory, new Shape(2), DataType.COMPLEX64));
      assertEquals(1, memory.stats().numAllocs());
    }
  }

  /** An engine that has a name and nothing else. */
  private static final class NamedEngine extends Engine {
    private final String name;

    NamedEngine(String name) {
      this.name = name;
    }

    @Override
    public String getEngineName() {
      return name;
    }

    @Override
    public Engine getAlternativeEngine() {
      throw new AssertionError("not to be asked");
    }

    @Override
    public int getRank() {
      throw new AssertionError("not to be asked");
    }

    @Override
    public String getVersion() {
      throw new AssertionError("not to be asked");
    }

    @Override
    public boolean hasCapability(String capability) {
      throw new AssertionError("not to be asked");
    }

    @Override
    public Model newModel(String model, Device device) {
      throw new AssertionError("not to be asked");
    }

    @Override
    public NDManager newBaseManager() {
      throw new AssertionError("not to be asked");
    }

    @Override
    public NDManager newBaseManager(Device device) {
      throw new AssertionError("not to be asked");
    }
  }
}
