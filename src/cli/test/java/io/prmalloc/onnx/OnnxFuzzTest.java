package io.prmalloc.onnx;

import static io.prmalloc.onnx.OnnxWriter.body;
import static io.prmalloc.onnx.OnnxWriter.ints;
import static io.prmalloc.onnx.OnnxWriter.one;
import static io.prmalloc.onnx.OnnxWriter.word;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.prmalloc.model.ModelFormatException;
import java.io.ByteArrayInputStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Broken models of every kind: each is read, or refused with the documented exceptions, and costs
 * memory in proportion to its length.
 *
 * <p>A long run: {@code mvn test -pl src/cli -am -Dtest=OnnxFuzzTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dprmalloc.fuzz.inputs=5000000}.
 */
@Tag("jdk-independent")
class OnnxFuzzTest {

  private static final int INPUTS = Integer.getInteger("prmalloc.fuzz.inputs", 4_000);

  /** What loading classes may cost whoever needs them first. */
  private static final long LOADING_BYTES = 8 << 20;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final byte[] MODEL = OnnxWriter.model(13, OnnxFuzzTest::graph);

  private int read;
  private int refused;

  private static void graph(OnnxWriter g) {
    g.input("x", "2x3x8x8")
        .weight("w", 4, 3, 3, 3)
        .list("zero", 0)
        .list("ones", 1, -1)
        .node("Conv", "x,w", "c", ints("pads", 1, 1, 1, 1), ints("strides", 2, 1))
        .node("MaxPool", "c", "p", ints("kernel_shape", 2, 2), one("ceil_mode", 1))
        .node("Shape", "p", "s")
        .node("Gather", "s,zero", "n", one("axis", 0))
        .node("Concat", "n,ones", "t", one("axis", 0))
        .node("Slice", "t,zero,ones", "t2")
        .node("Reshape", "p,t", "r")
        .node("Transpose", "r", "q", ints("perm", 1, 0, 2))
        .node("Split", "q", "q1,q2", one("axis", 2))
        .node("MatMul", "q1,q2", "m", word("unused", "text"))
        .node("Tile", "q,t", "tile")
        .node(
            "If",
            "c",
            "i",
            body("then_branch", b -> b.node("Neg", "q", "a").output("a")),
            body("else_branch", b -> b.node("Expand", "q,t", "b").output("b")))
        .node(
            "Scan",
            "x,r",
            "s1,s2",
            one("num_scan_inputs", 1),
            body("body", b -> b.input("v", null).input("u", null).output("v").output("u")))
        .declared(OnnxSchema.GRAPH_VALUE_INFO, "tile", OnnxType.FLOAT, "ax?x3")
        .output("s2")
        .output("q2");
  }

  private void tryToRead(String what, byte[] model) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    try {
      OnnxReader.read("fuzz.onnx", new ByteArrayInputStream(model), Map.of());
      read++;
    } catch (ModelFormatException | IllegalArgumentException documented) {
      refused++;
      String message = documented.getMessage();
      if (!message.startsWith("fuzz.onnx: ") || message.length() > 600) {
        throw new AssertionError(what + ": message " + message, documented);
      }
    } catch (RuntimeException | Error undocumented) {
      throw new AssertionError(what + ": " + undocumented, undocumented);
    }
    long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
    if (allocated > LOADING_BYTES + 1000L * model.length) {
      throw new AssertionError(what + ": took " + allocated + " bytes of heap");
    }
  }

  @Test
  void shouldRefuseWhenTheFileIsCutShort() {
    for (int length = 0; length < MODEL.length; length++) {
      byte[] cut = Arrays.copyOf(MODEL, length);
      tryToRead("first " + length + " bytes", cut);
      assertThrows(
          ModelFormatException.class,
          () -> OnnxReader.read("cut.onnx", new ByteArrayInputStream(cut), Map.of()),
          "of " + MODEL.length + " bytes the first " + length);
    }
  }

  @Test
  void shouldReadOrRefuseWhenBytesAreOverwritten() {
    for (int seed = 0; seed < INPUTS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      byte[] broken = MODEL.clone();
      for (int i = random.nextInt(1, 3); i > 0; i--) {
        broken[random.nextInt(broken.length)] ^= (byte) random.nextInt(1, 256);
      }
      tryToRead("seed " + seed, broken);
    }
    assertBothHappened();
  }

  /** Sound messages whose numbers and names are not: what gets past the wire format. */
  @Test
  void shouldReadOrRefuseWhenAttributesAndShapesAreNasty() {
    long[] nasty = {0, 1, -1, 2, -2, 3, 1 << 20, Integer.MAX_VALUE, Long.MAX_VALUE, Long.MIN_VALUE};
    List<String> operators =
        List.of(
            "Conv",
            "ConvTranspose",
            "MaxPool",
            "GlobalAveragePool",
            "RoiAlign",
            "Gemm",
            "MatMul",
            "Reshape",
            "Flatten",
            "Squeeze",
            "Unsqueeze",
            "Transpose",
            "Concat",
            "Split",
            "Slice",
            "Pad",
            "Tile",
            "Expand",
            "Gather",
            "GatherElements",
            "GatherND",
            "ReduceSum",
            "ArgMax",
            "TopK",
            "Resize",
            "Upsample",
            "DepthToSpace",
            "SpaceToDepth",
            "GridSample",
            "OneHot",
            "Shape",
            "ConstantOfShape",
            "Range",
            "LSTM",
            "Attention",
            "LayerNormalization",
            "Where",
            "QLinearConv",
            "Add",
            "Div",
            "Mod",
            "Cast",
            "ReduceProd",
            "Constant",
            "RandomNormal",
            "Einsum",
            "Loop",
            "Scan",
            "BatchNormalization");
    String[] attributes = {
      "axis",
      "axes",
      "pads",
      "strides",
      "kernel_shape",
      "dilations",
      "group",
      "perm",
      "starts",
      "ends",
      "blocksize",
      "batch_dims",
      "keepdims",
      "to",
      "shape",
      "value_int",
      "value_ints",
      "hidden_size",
      "output_shape",
      "kv_num_heads",
      "q_num_heads",
      "start",
      "end",
      "scales",
      "num_scan_inputs",
      "split",
      "k"
    };
    for (int seed = 0; seed < INPUTS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int opset = random.nextInt(5, 24);
      byte[] model =
          OnnxWriter.model(
              opset,
              g -> {
                List<String> names = new ArrayList<>(List.of("x", "y", "l0", "l1", "l2"));
                g.input("x", "2x3x8x8").input("y", "0x1x5");
                for (int i = 0; i < 3; i++) {
                  g.list(
                      "l" + i,
                      random.longs(i + 1, 0, nasty.length).map(k -> nasty[(int) k]).toArray());
                }
                for (int i = 0; i < 6; i++) {
                  List<String> inputs = new ArrayList<>();
                  for (int k = random.nextInt(0, 5); k > 0; k--) {
                    inputs.add(
                        random.nextInt(9) == 0 ? "" : names.get(random.nextInt(names.size())));
                  }
                  String one = attributes[random.nextInt(attributes.length)];
                  String other = attributes[random.nextInt(attributes.length)];
                  long number = nasty[random.nextInt(nasty.length)];
                  g.node(
                      operators.get(random.nextInt(operators.size())),
                      String.join(",", inputs),
                      "o" + i + ",p" + i,
                      one(one, number),
                      ints(
                          other.equals(one) ? "other" : other,
                          random
                              .longs(random.nextInt(1, 5), 0, nasty.length)
                              .map(k -> nasty[(int) k])
                              .toArray()));
                  names.add("o" + i);
                  names.add("p" + i);
                }
                g.output("o5");
              });
      tryToRead("seed " + seed, model);
    }
    assertBothHappened();
  }

  private void assertBothHappened() {
    assertTrue(read > 50, "read " + read);
    assertTrue(refused > 100, "refused " + refused);
  }
}
