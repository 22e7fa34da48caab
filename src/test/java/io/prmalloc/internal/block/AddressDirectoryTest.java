package io.prmalloc.internal.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.MemoryRegion;
import io.prmalloc.RegionWrapper;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.pool.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AddressDirectoryTest {

  private final SubAllocator source = SubAllocator.direct();
  private final AddressDirectory directory = new AddressDirectory();
  private final List<TestSpan> spans = new ArrayList<>();

  /** A span that is one block, and remembers where it was asked. */
  private static final class TestSpan implements AddressDirectory.Span {
    private final MemoryRegion region;
    private final Block block;
    private long askedOffset = -1;

    TestSpan(MemoryRegion region) {
      this.region = region;
      this.block = new PooledBlock(region, 0, region.sizeBytes(), BlockIsolation.NONE, 0);
    }

    @Override
    public MemoryRegion region() {
      return region;
    }

    @Override
    public Block blockAt(long offset) {
      askedOffset = offset;
      return block;
    }
  }

  @AfterEach
  void giveBack() {
    spans.forEach(span -> source.free(span.region()));
  }

  private TestSpan newSpan(int bytes) {
    TestSpan span = new TestSpan(source.alloc(4096, bytes));
    spans.add(span);
    return span;
  }

  private void check(TestSpan span, boolean known) {
    long start = span.region().address();
    for (long offset : new long[] {0, 1, span.region().sizeBytes() - 1}) {
      span.askedOffset = -1;
      Block found = directory.find(start + offset);
      assertEquals(known ? span.block : null, found);
      assertEquals(known ? offset : -1, span.askedOffset);
    }
  }

  @Test
  void shouldFindTheSpanWhenTheAddressIsInside() {
    directory.enable();
    for (int i = 0; i < 20; i++) {
      directory.add(newSpan(4096 * (1 + i % 3)));
    }
    for (TestSpan span : spans) {
      check(span, true);
    }
  }

  @Test
  void shouldFindNothingWhenTheAddressIsForeign() {
    TestSpan stranger = newSpan(8192);
    assertNull(directory.find(stranger.region().address()));
    directory.enable();
    assertNull(directory.find(stranger.region().address()));
    directory.add(newSpan(4096));
    check(stranger, false);
    for (long address : new long[] {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      assertNull(directory.find(address));
    }
    TestSpan known = spans.get(1);
    assertNull(directory.find(known.region().address() - 1));
    long end = known.region().address() + known.region().sizeBytes();
    assertTrue(directory.find(end) != known.block);
  }

  @Test
  void shouldKnowSpansFromBeforeWhenEnabled() {
    directory.add(newSpan(4096));
    directory.add(newSpan(4096));
    directory.add(newSpan(4096));
    directory.remove(spans.get(1));
    assertFalse(directory.isEnabled());
    check(spans.get(0), false);
    directory.enable();
    directory.enable();
    assertTrue(directory.isEnabled());
    check(spans.get(0), true);
    check(spans.get(1), false);
    check(spans.get(2), true);
  }

  @Test
  void shouldForgetASpanThatDoesNotTellItsAddressAnyMore() {
    directory.enable();
    boolean[] silent = {false};
    MemoryRegion region = source.alloc(4096, 4096);
    TestSpan span =
        new TestSpan(
            new RegionWrapper(region) {
              @Override
              public long address() {
                if (silent[0]) {
                  throw new IllegalStateException("of the test");
                }
                return super.address();
              }
            });
    directory.add(newSpan(4096));
    directory.add(span);
    assertEquals(span.block, directory.find(region.address()));
    silent[0] = true;
    directory.remove(span);
    assertNull(directory.find(region.address()));
    check(spans.get(0), true);
    source.free(region);
  }

  @Test
  void shouldKnowExactlyTheSpansThatAreThereWhenTheyComeAndGo() {
    long seed = 11;
    SplittableRandom random = new SplittableRandom(seed);
    directory.enable();
    for (int i = 0; i < 30; i++) {
      newSpan(4096);
    }
    boolean[] known = new boolean[spans.size()];
    for (int round = 0; round < 500; round++) {
      int i = random.nextInt(known.length);
      if (known[i]) {
        directory.remove(spans.get(i));
      } else {
        directory.add(spans.get(i));
      }
      known[i] ^= true;
      int probe = random.nextInt(known.length);
      check(spans.get(probe), known[probe]);
    }
    for (int i = 0; i < known.length; i++) {
      check(spans.get(i), known[i]);
    }
  }

  @Test
  void shouldAlwaysFindWhatStaysWhenOthersComeAndGo() throws Exception {
    directory.enable();
    TestSpan stays = newSpan(4096);
    directory.add(stays);
    for (int i = 0; i < 8; i++) {
      newSpan(4096);
    }
    long address = stays.region().address() + 17;
    Threads.run(
        4,
        thread -> {
          for (int i = 0; i < 20_000; i++) {
            if (thread < 2) {
              TestSpan guest = spans.get(1 + thread * 4 + i % 4);
              directory.add(guest);
              assertEquals(guest.block, directory.find(guest.region().address() + 5));
              directory.remove(guest);
            } else {
              assertEquals(stays.block, directory.find(address));
            }
          }
        });
  }
}
