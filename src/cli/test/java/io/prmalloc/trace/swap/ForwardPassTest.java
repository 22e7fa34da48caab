package io.prmalloc.trace.swap;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prmalloc.trace.MnnFiles;
import io.prmalloc.trace.MnnOp;
import io.prmalloc.trace.MnnProfile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class ForwardPassTest {

  /** Operators {@code TYPE<input,input}; each makes the tensor of its own index. */
  private static OptionalInt find(String... ops) {
    List<MnnOp> list = new ArrayList<>();
    for (int i = 0; i < ops.length; i++) {
      String[] parts = ops[i].split("<", -1);
      List<String> inputs = parts[1].isEmpty() ? List.of() : List.of(parts[1].split(","));
      list.add(new MnnOp(i + "th:0:" + parts[0], inputs, List.of("" + i), List.of(), List.of()));
    }
    return ForwardPass.find(
        new MnnProfile(
            "Net", 1, new MnnFiles(Path.of("net"), "Net", 1), list, Map.of(), Map.of(), Map.of()));
  }

  @Test
  void shouldBeginWhereLabelsMeetTheNetworkWhenThereIsNoSoftmax() {
    OptionalInt first =
        find(
            "Raster<", // 0: the image
            "MatMul<0",
            "MatMul<1",
            "Pooling<2", // 3: the network's end
            "Raster<", // 4: how many samples
            "Raster<",
            "OneHot<5",
            "BinaryOp<6,4", // 7: the labels, scaled
            "BinaryOp<7,3", // 8
            "MatMul<8,1");

    assertEquals(OptionalInt.of(8), first);
  }

  @Test
  void shouldBeginOneLaterWhenTheNetworkEndsInASoftmax() {
    OptionalInt first =
        find(
            "Raster<",
            "OneHot<0",
            "BinaryOp<1,0",
            "Raster<",
            "MatMul<3",
            "MatMul<4",
            "MatMul<5",
            "Softmax<6",
            "BinaryOp<7,2", // 8: label / probability
            "BinaryOp<7,8",
            "MatMul<9,5");

    assertEquals(OptionalInt.of(9), first);
  }

  @Test
  void shouldFindNothingWhenNoLabelsMeetANetwork() {
    assertEquals(OptionalInt.empty(), find("Raster<", "MatMul<0", "MatMul<1"));
    assertEquals(OptionalInt.empty(), find("OneHot<", "MatMul<0"));
    assertEquals(OptionalInt.empty(), find());
    // The pass behind it would be empty.
    assertEquals(OptionalInt.empty(), find("MatMul<", "Softmax<0", "OneHot<", "BinaryOp<1,2"));
  }
}
