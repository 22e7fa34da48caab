package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Block;
import io.prmalloc.Isolation;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.os.ChildJvm;
import io.prmalloc.os.ProcessBarrier;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Native calls that come into use when small blocks are served already. */
class LateBarrierTest {

  /** After so many claims it is asked again whether there is a barrier. */
  private static final int LONGEST_WAIT = 1 << 20;

  @TempDir private Path directory;

  /** Says before and after whether the slot of its pairs is claimed for less. */
  static final class Pairs {

    private Pairs() {}

    public static void main(String[] arguments) {
      SmallBlocks small =
          new SmallBlocks(SubAllocator.direct(), Isolation.NONE, new AddressDirectory(), () -> {});
      System.out.print(isMarkedAfter(small));
      SubAllocator mapped = SubAllocator.mmap(MmapOptions.DEFAULT);
      mapped.free(mapped.alloc(64, 4096));
      System.out.print(" " + isMarkedAfter(small));
      System.out.print(" " + ProcessBarrier.isSupported());
      small.free();
    }

    private static boolean isMarkedAfter(SmallBlocks small) {
      PooledBlock block = null;
      for (int i = 0; i < LONGEST_WAIT + 4; i++) {
        block = Buffers.slot(small, 100, 64);
        block.open(100).close();
      }
      return Block.isMarked(block.stamp());
    }
  }

  @Test
  void shouldHoldStripesAsSoonAsThereIsABarrier() throws Exception {
    ChildJvm child = new ChildJvm(directory);
    if (Runtime.version().feature() >= 22) {
      child.flags("--enable-native-access=ALL-UNNAMED");
    }
    ChildJvm.Result result = child.run(Pairs.class);
    assertEquals(0, result.exitCode(), result.errors());
    assumeTrue(result.output().endsWith(" true"), "this platform has no process-wide barrier");
    assertEquals("false true true", result.output());
  }
}
