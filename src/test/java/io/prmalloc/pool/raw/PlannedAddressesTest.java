package io.prmalloc.pool.raw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.Allocation;
import io.prmalloc.Isolation;
import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.PlannedStepsPool;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Steps that ask for memory by its address. */
class PlannedAddressesTest extends PlannedStepsPool {

  @AfterEach
  void allIsBack() {
    assertEquals(0, pool.stats().bytesInUse());
  }

  /** A tensor that is out: its bytes all hold its number. */
  private record Tensor(long address, int bytes, int number) {
    static Tensor of(ScopedMemoryCollector step, int bytes, int number) {
      long address = step.allocateRaw(bytes);
      UnsafeApi.setMemory(address, bytes, (byte) number);
      return new Tensor(address, bytes, number);
    }

    void check() {
      assertEquals((byte) number, UnsafeApi.getByte(address), () -> "first byte of " + this);
      assertEquals((byte) number, UnsafeApi.getByte(address + bytes - 1), () -> "last of " + this);
    }
  }

  @Test
  void shouldServeByAddressWhenAsked() {
    int[] sizes = {64 * KIB, 100, 64 * KIB};
    for (int i = 0; i < KeyedSteps.REPEATS + 2; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        long[] addresses = new long[sizes.length];
        for (int j = 0; j < sizes.length; j++) {
          addresses[j] = step.allocateRaw(sizes[j]);
          assertEquals(0, addresses[j] % 64);
        }
        step.deallocateRaw(addresses[0]);
        assertThrows(IllegalArgumentException.class, () -> step.deallocateRaw(addresses[0]));
        pool.deallocateRaw(addresses[1]);
        assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(addresses[1]));
        step.deallocateRaw(addresses[2]);
        step.deallocateRaw(0);
      }
    }
    assertEquals(2, pool.stepStats().plannedSteps());
    assertEquals(0, pool.stepStats().departedSteps());
    assertEquals(0, pool.stats().bytesInUse());
  }

  @Test
  void shouldTakeAddressesBackInWhateverOrder() {
    Random random = new Random(4);
    for (int i = 0; i < 200; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        List<Tensor> out = new ArrayList<>();
        long bytesOut = 0;
        for (int j = 0; j < 12; j++) {
          out.add(Tensor.of(step, (1 + j % 5) * 16 * KIB, j));
          bytesOut += out.get(j).bytes();
        }
        // As the step before, all but two as the step before, or any.
        if (i % 3 == 1) {
          Collections.swap(out, random.nextInt(12), random.nextInt(12));
        } else if (i % 3 == 2) {
          Collections.shuffle(out, random);
        }
        for (Tensor tensor : out) {
          tensor.check();
          step.deallocateRaw(tensor.address());
          bytesOut -= tensor.bytes();
          assertEquals(bytesOut, pool.stats().bytesInUse());
          assertThrows(IllegalArgumentException.class, () -> step.deallocateRaw(tensor.address()));
          assertEquals(bytesOut, pool.stats().bytesInUse());
        }
      }
    }
    assertEquals(200 - KeyedSteps.REPEATS, pool.stepStats().plannedSteps());
    assertEquals(0, pool.stepStats().departedSteps());
  }

  @Test
  void shouldTakeAddressesBackWhenAnotherThreadOrALaterMomentDoes() throws InterruptedException {
    for (int i = 0; i < KeyedSteps.REPEATS + 40; i++) {
      List<Tensor> later = new ArrayList<>();
      ScopedMemoryCollector step = pool.collect();
      try (step) {
        List<Tensor> elsewhere = new ArrayList<>();
        for (int j = 0; j < 9; j++) {
          Tensor tensor = Tensor.of(step, 64 * KIB, j);
          switch ((j + i / 8) % 3) {
            case 0 -> step.deallocateRaw(tensor.address());
            case 1 -> elsewhere.add(tensor);
            default -> later.add(tensor);
          }
        }
        elsewhere.forEach(Tensor::check);
        Thread other =
            new Thread(() -> elsewhere.forEach(tensor -> step.deallocateRaw(tensor.address())));
        other.start();
        other.join();
        assertEquals(later.size() * 64L * KIB, pool.stats().bytesInUse());
      }
      later.forEach(Tensor::check);
      later.forEach(tensor -> step.deallocateRaw(tensor.address()));
      later.forEach(
          tensor ->
              assertThrows(
                  IllegalArgumentException.class, () -> step.deallocateRaw(tensor.address())));
      assertEquals(0, pool.stats().bytesInUse());
    }
  }

  @Test
  void shouldLeaveAHandleOpenWhenItsTensorWasGivenBackByAddressBefore() {
    for (int i = 0; i < KeyedSteps.REPEATS + 3; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        Tensor first = Tensor.of(step, 64 * KIB, 1);
        Tensor second = Tensor.of(step, 32 * KIB, 2);
        step.deallocateRaw(first.address());
        step.deallocateRaw(second.address());
      }
    }
    try (ScopedMemoryCollector step = pool.collect();
        Allocation handle = step.allocate(64 * KIB)) {
      Tensor second = Tensor.of(step, 32 * KIB, 2);
      step.deallocateRaw(second.address());
      handle.byteBuffer().putLong(0, 7);
      assertEquals(64 * KIB, handle.byteBuffer().limit());
      assertEquals(64 * KIB, pool.stats().bytesInUse());
    }
    assertEquals(4, pool.stepStats().plannedSteps());
    assertEquals(0, pool.stepStats().departedSteps());
  }

  @Test
  void shouldCheckWhatIsGivenBackWhenIsolated() {
    pool.close();
    pool = builder().isolation(Isolation.NONE.withCanaries(true)).build();
    for (int i = 0; i < KeyedSteps.REPEATS + 3; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        Tensor tensor = Tensor.of(step, 64 * KIB, 1);
        boolean beyond = i == KeyedSteps.REPEATS + 1;
        if (beyond) {
          UnsafeApi.putByte(tensor.address() + tensor.bytes(), (byte) 1);
          assertThrows(IllegalStateException.class, () -> step.deallocateRaw(tensor.address()));
        } else {
          step.deallocateRaw(tensor.address());
        }
        assertEquals(0, pool.stats().bytesInUse());
      }
    }
    assertEquals(3, pool.stepStats().plannedSteps());
  }
}
