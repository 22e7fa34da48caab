package io.prmalloc.tflite;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.prmalloc.model.GraphModel;
import io.prmalloc.model.ModelFormatException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Broken models of every kind: each is read, or refused with the documented exception, and costs
 * memory in proportion to its length.
 *
 * <p>A long run, which also asks for both subgraphs of every model with a nasty number: {@code mvn
 * test -pl src/cli -am -Dtest=TfliteFuzzTest -Dsurefire.failIfNoSpecifiedTests=false
 * -Dprmalloc.fuzz.inputs=50000000}.
 */
@Tag("jdk-independent")
class TfliteFuzzTest {

  private static final int FEW_INPUTS = 15_000;

  private static final int INPUTS = Integer.getInteger("prmalloc.fuzz.inputs", FEW_INPUTS);

  /** What loading classes may cost whoever needs them first. */
  private static final long LOADING_BYTES = 4 << 20;

  /** Numbers that offsets, lengths and indices are likely to mishandle. */
  private static final int[] NASTY = {
    0,
    1,
    -1,
    -2,
    2,
    4,
    8,
    0x7fff,
    0x8000,
    0xffff,
    0x7fffffff,
    0x80000000,
    0x7ffffffc,
    0xfffffffc,
    0x40000000,
    0x10000,
    0x01000000
  };

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final byte[] MODEL = model();

  private int read;
  private int refused;

  private static byte[] model() {
    TfliteWriter writer = new TfliteWriter();
    int starts = writer.ints(0, 1);
    int zeros = writer.ints(0, 0);
    int weights = writer.buffer(new byte[24]);
    int outside = writer.outsideBuffer(8, 16);
    return writer
        .tensor("image", ElementType.FLOAT32, 0, 1, 4, 4, 3)
        .tensor("weights", ElementType.INT8, weights, 24)
        .variable("state", ElementType.INT16, 5)
        .tensor("text", ElementType.STRING, 0, 7)
        .tensor("out", ElementType.INT4, 0, 2, 5)
        .tensor("elsewhere", ElementType.INT8, outside, 16)
        .operator(new int[] {0, 1, 2, -1, 5}, new int[] {3})
        .operator(new int[] {3}, new int[] {4})
        .endSubgraph(new int[] {0}, new int[] {4})
        .open("a", ElementType.BOOL, -1, 9)
        .open("b", ElementType.BOOL, -1, 9)
        .open("c", ElementType.INT32, 2)
        .tensor("at", ElementType.INT32, zeros, 2)
        .open("d", ElementType.BOOL, -1, -1)
        .open("e", ElementType.BOOL, -1, -1)
        .open("f", ElementType.BOOL, -1, -1, -1, -1)
        .tensor("none", ElementType.UINT8, 0, 12)
        .operator(BuiltinOperator.RELU, new int[] {0}, new int[] {1})
        .operator(BuiltinOperator.SHAPE, new int[] {1}, new int[] {2})
        .operator(BuiltinOperator.SLICE, new int[] {1, 3, 2}, new int[] {4})
        .operator(BuiltinOperator.CALL, new int[] {1}, new int[] {5}, 2)
        .operator(BuiltinOperator.STRIDED_SLICE, new int[] {5, 3, 2, 2}, new int[] {6}, 1, 1, 1, 1)
        .operator(new int[] {6, 7}, new int[] {})
        .endSubgraph(new int[] {0}, new int[] {4})
        .open("in", ElementType.BOOL, -1, -1)
        .open("out", ElementType.BOOL, -1, -1, -1, -1)
        .tensor("order", ElementType.INT32, starts, 2)
        .operator(BuiltinOperator.TRANSPOSE, new int[] {0, 2}, new int[] {1})
        .endSubgraph(new int[] {0}, new int[] {1})
        .metadata(
            "OfflineMemoryAllocation",
            0,
            1,
            17,
            -1,
            8,
            0,
            -1,
            4,
            -1,
            8,
            0,
            -1,
            4,
            -1,
            8,
            0,
            0,
            -1,
            -1,
            -1)
        .finish();
  }

  private void tryToRead(String what, byte[] model, int subgraph) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    try {
      GraphModel read =
          TfliteReader.readModel(
              "fuzz.tflite",
              ByteBuffer.wrap(model),
              model.length,
              subgraph,
              subgraph == 0 ? Map.of() : Map.of("0", List.of(3, 9)));
      read.whole();
      this.read++;
    } catch (IllegalArgumentException noInput) {
      refused++;
      if (!noInput.getMessage().startsWith("--shape 0")) {
        throw new AssertionError(what, noInput);
      }
    } catch (ModelFormatException documented) {
      refused++;
      String message = documented.getMessage();
      if (!message.startsWith("fuzz.tflite: ") || message.length() > 500) {
        throw new AssertionError(what + ": message " + message, documented);
      }
    } catch (RuntimeException | Error undocumented) {
      throw new AssertionError(what + ": " + undocumented, undocumented);
    }
    long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
    if (allocated > LOADING_BYTES + 200L * model.length) {
      throw new AssertionError(what + ": took " + allocated + " bytes of heap");
    }
  }

  @Test
  void shouldReadOrRefuseWhenTheFileIsCutShort() {
    for (int length = 0; length < MODEL.length; length++) {
      for (int subgraph = 0; subgraph < 2; subgraph++) {
        tryToRead("first " + length + " bytes", Arrays.copyOf(MODEL, length), subgraph);
      }
    }
    assertTrue(refused > MODEL.length, "refused " + refused);
  }

  /** The end of the file is what the reader does not need: the kinds of the operators. */
  @Test
  void shouldRefuseWhenTheEndIsMissing() {
    for (int length = 0; length < MODEL.length; length++) {
      byte[] cut = Arrays.copyOf(MODEL, length);
      assertThrows(
          ModelFormatException.class,
          () -> TfliteReader.readModel("cut.tflite", ByteBuffer.wrap(cut), cut.length, 0, Map.of()),
          "of " + MODEL.length + " bytes the first " + length);
    }
  }

  @Test
  void shouldReadOrRefuseWhenBytesAreOverwritten() {
    for (int seed = 0; seed < INPUTS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      byte[] broken = MODEL.clone();
      for (int i = random.nextInt(1, 5); i > 0; i--) {
        broken[random.nextInt(broken.length)] ^= (byte) random.nextInt(1, 256);
      }
      tryToRead("seed " + seed, broken, seed % 2);
    }
    assertBothHappened();
  }

  @Test
  void shouldReadOrRefuseWhenNumbersAreReplacedByNastyOnes() {
    ByteBuffer numbers = ByteBuffer.wrap(MODEL).order(ByteOrder.LITTLE_ENDIAN);
    int tried = 0;
    for (int at = 0; at + 4 <= MODEL.length; at += 2) {
      for (int nasty : NASTY) {
        for (int number : new int[] {nasty, numbers.getInt(at) + nasty, MODEL.length - nasty}) {
          byte[] broken = MODEL.clone();
          ByteBuffer.wrap(broken).order(ByteOrder.LITTLE_ENDIAN).putInt(at, number);
          // An odd number of numbers: each of them meets both subgraphs, if at different places.
          int subgraph = tried++ % 2;
          tryToRead(number + " at " + at, broken, subgraph);
          if (INPUTS > FEW_INPUTS) {
            tryToRead(number + " at " + at, broken, 1 - subgraph);
          }
        }
      }
    }
    assertBothHappened();
  }

  @Test
  void shouldReadOrRefuseWhenTwoModelsAreSpliced() {
    for (int seed = 0; seed < INPUTS / 5; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      byte[] broken = MODEL.clone();
      int length = random.nextInt(1, 64) & ~3;
      int from = random.nextInt(broken.length - length);
      int to = random.nextInt(broken.length - length) & ~3;
      System.arraycopy(MODEL, from, broken, to, length);
      tryToRead("seed " + seed, broken, seed % 2);
    }
    assertBothHappened();
  }

  private void assertBothHappened() {
    assertTrue(read > 100, "read " + read);
    assertTrue(refused > 100, "refused " + refused);
  }
}
