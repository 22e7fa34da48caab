package io.prmalloc.internal.freelist;

import static io.prmalloc.internal.freelist.ChunkIndexTest.NONE;
import static io.prmalloc.internal.freelist.ChunkIndexTest.take;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.prmalloc.Allocation;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.arena.Buffer;
import io.prmalloc.internal.block.Stripes;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** {@link ChunkIndex#gather}: moves free blocks of other stripes to a thread that keeps missing. */
class GatherTest {

  /** A thread that borrows, while what it should have lies with one that is idle. */
  @Test
  void shouldGiveWhatWasReadyElsewhereWhenItWasGathered() throws Exception {
    BinTable table = Buffers.table(true, 2, 2);
    long small = Buffers.bytesOf(0);
    long large = Buffers.bytesOf(1);
    table.takeSlowly(small, 64).open(1).close();
    int found =
        Buffers.onAnotherStripe(
            Stripes.many(),
            () -> {
              Allocation one = table.takeSlowly(large, 64).open(1);
              Allocation two = table.takeSlowly(large, 64).open(1);
              one.close();
              assertEquals(1, table.take(small).open(1).sizeBytes(), "it borrows");
              assertNull(table.take(small), "both of its own are ready elsewhere");
              for (int i = 1; i < ChunkIndex.LOOKS; i++) {
                table.countUnserved(large);
                assertNull(table.take(small), "so far somebody may want them there");
              }
              table.countUnserved(large);
              int own = 0;
              for (PooledBlock block = table.take(small); block != null; own++) {
                assertEquals(0, block.bin());
                block = table.take(small);
              }
              two.close();
              return own;
            });
    assertEquals(2, found);
  }

  @Test
  void shouldLeaveWhatIsInUseElsewhereWhenGathering() throws Exception {
    Buffer buffer = Buffers.buffer(0, 3);
    ChunkIndex ready = Buffers.ready(16, buffer);
    Allocation used = ready.take(Buffers.bytesOf(0)).open(1);
    Stripes stripes = new Stripes(16);
    assertEquals(1, Buffers.onAnotherStripe(stripes, () -> gather(ready, 1)));
    used.close();
    Callable<List<Integer>> work =
        () -> {
          gather(ready, ChunkIndex.LOOKS - 1);
          return take(ready, 0, 3);
        };
    assertEquals(List.of(1, 2, NONE), Buffers.onAnotherStripe(stripes, work));
    assertEquals(List.of(0, NONE), take(ready, 0, 2));
  }

  @Test
  void shouldLeaveWhatIsOutThoughNotedWhenGathering() throws Exception {
    Buffer buffer = Buffers.buffer(0, 3);
    ChunkIndex ready = Buffers.ready(16, buffer);
    PooledBlock block = ready.take(Buffers.bytesOf(0));
    Allocation used = block.open(1);
    ready.put(block);
    Callable<List<Integer>> work =
        () -> {
          gather(ready, ChunkIndex.LOOKS);
          return take(ready, 0, 3);
        };
    assertEquals(List.of(1, 2, NONE), Buffers.onAnotherStripe(new Stripes(16), work));
    used.close();
    assertEquals(List.of(0, NONE), take(ready, 0, 2));
  }

  private static int gather(ChunkIndex ready, int times) {
    for (int i = 0; i < times; i++) {
      ready.gather();
    }
    return times;
  }
}
