package io.prmalloc.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Java reads what C writes and the other way round, in every tensor of a step, while the other
 * tensors are alive.
 */
@NeedsProbe
class SharedMemoryTest {

  private static final long SEED = 20261120;

  // Small enough to be quick with 18 settings, large enough to have dozens of size classes.
  private static final Step STEP = Step.of(SEED, 60, 1 << 20);

  private static String at(int tensor) {
    return "tensor " + tensor + " of " + STEP.bytes(tensor) + " bytes, step " + SEED;
  }

  /** Where C finds a tensor; for handles by turns from the handle and from its byte buffer. */
  private static long nativeAddress(Tensors tensors, int tensor) {
    boolean byBuffer =
        tensors instanceof Tensors.Handles && tensor % 3 == 0 && STEP.bytes(tensor) > 0;
    long address = tensors.address(tensor);
    if (byBuffer) {
      assertEquals(address, Probe.addressOf(tensors.view(tensor)), at(tensor));
    }
    return address;
  }

  /** One side writes when a tensor is taken, the other reads before it is given back. */
  private record Exchange(Tensors tensors) implements Step.Visitor {

    private static boolean nativeWrites(int tensor) {
      return tensor % 2 == 0;
    }

    @Override
    public void taken(int tensor) {
      if (nativeWrites(tensor)) {
        Probe.probe_fill(nativeAddress(tensors, tensor), STEP.bytes(tensor), SEED + tensor);
      } else if (viaAgrona(tensor)) {
        Pattern.fill(handle(tensor).buffer(), SEED + tensor);
      } else {
        Pattern.fill(view(tensor), SEED + tensor);
      }
    }

    @Override
    public void leaving(int tensor) {
      long difference;
      if (!nativeWrites(tensor)) {
        difference =
            Probe.probe_first_difference(
                nativeAddress(tensors, tensor), STEP.bytes(tensor), SEED + tensor);
      } else if (viaAgrona(tensor)) {
        difference = Pattern.firstDifference(handle(tensor).buffer(), SEED + tensor);
      } else {
        difference = Pattern.firstDifference(view(tensor), SEED + tensor);
      }
      assertEquals(-1, difference, () -> at(tensor) + ": first wrong byte");
    }

    private boolean viaAgrona(int tensor) {
      return tensors instanceof Tensors.Handles && tensor % 5 < 2;
    }

    private Allocation handle(int tensor) {
      return ((Tensors.Handles) tensors).handle(tensor);
    }

    private ByteBuffer view(int tensor) {
      ByteBuffer view = tensors.view(tensor);
      assertEquals(STEP.bytes(tensor), view.remaining(), at(tensor));
      return view;
    }
  }

  @ParameterizedTest
  @MethodSource("io.prmalloc.probe.Setting#all")
  void shouldReadWhatTheOtherSideWroteWhenTensorsLiveTogether(Setting setting) {
    setting.run(STEP, (tensors, step) -> step.run(tensors, new Exchange(tensors)));
  }

  /** Keeps book of what is live, and has C look over it whenever a tensor joins. */
  private static final class Addresses implements Step.Visitor {
    private final Tensors tensors;
    private final BitSet live = new BitSet();
    private int mostLive;

    Addresses(Tensors tensors) {
      this.tensors = tensors;
    }

    private long[] spans() {
      return live.stream()
          .mapToObj(
              tensor ->
                  new long[] {tensors.address(tensor), STEP.bytes(tensor), STEP.alignment(tensor)})
          .flatMapToLong(Arrays::stream)
          .toArray();
    }

    @Override
    public void taken(int tensor) {
      live.set(tensor);
      mostLive = Math.max(mostLive, live.cardinality());
      long[] spans = spans();
      assertEquals(
          -1,
          Probe.probe_first_misaligned(spans, live.cardinality()),
          () -> "alignment after " + at(tensor) + ": " + Arrays.toString(spans));
      assertEquals(
          -1,
          Probe.probe_first_overlap(spans, live.cardinality()),
          () -> "overlap after " + at(tensor) + ": " + Arrays.toString(spans));
    }

    @Override
    public void leaving(int tensor) {
      live.clear(tensor);
    }
  }

  @ParameterizedTest
  @MethodSource("io.prmalloc.probe.Setting#all")
  void shouldBeAlignedAndApartWhenTensorsLiveTogether(Setting setting) {
    setting.run(
        STEP,
        (tensors, step) -> {
          Addresses addresses = new Addresses(tensors);
          step.run(tensors, addresses);
          assertEquals(new BitSet(), addresses.live);
          assertTrue(addresses.mostLive >= 10, () -> addresses.mostLive + " tensors at a time");
        });
  }
}
