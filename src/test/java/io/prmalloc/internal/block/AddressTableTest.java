package io.prmalloc.internal.block;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AddressTableTest {

  private static final int PLACES = 64;

  private final SubAllocator source = SubAllocator.direct();
  private MemoryRegion region;

  @BeforeEach
  void allocate() {
    region = source.alloc(64, PLACES * 64L);
  }

  @AfterEach
  void free() {
    source.free(region);
  }

  private static final class Placed extends Block {
    Placed(MemoryRegion region, int place) {
      super(region, place * 64L, 64, BlockIsolation.NONE);
    }

    @Override
    protected boolean onFreed() {
      return false;
    }

    @Override
    protected void settle() {
      throw new IllegalStateException("nothing was left to do");
    }
  }

  private static Block open(Block block) {
    block.openRaw(64, 0);
    return block;
  }

  @Test
  void shouldFindNothingWhenTheAddressIsNobodysOrNotInUse() {
    Block block = new Placed(region, 1);
    AddressTable table = new AddressTable(new Block[] {block});

    assertNull(table.find(block.startAddress()));
    assertNull(table.find(block.startAddress() + 64));
    assertNull(table.find(0));
    assertNull(new AddressTable(new Block[0]).find(block.startAddress()));
  }

  @Test
  void shouldFindTheOneInUseWhenSeveralBeginThereInWhateverOrder() {
    Block a = new Placed(region, 3);
    Block b = new Placed(region, 3);
    Block c = new Placed(region, 3);
    AddressTable table = new AddressTable(new Block[] {a, b, a, c});

    for (Block block : new Block[] {a, b, a, c, a, c, c, b, a, a, b}) {
      open(block);
      assertSame(block, table.find(region.address() + 3 * 64));
      assertSame(block, table.find(region.address() + 3 * 64));
      assertTrue(block.closeRaw());
      assertNull(table.find(region.address() + 3 * 64));
    }
  }

  @Test
  void shouldFindEachWhenManyPlacesHaveManyBlocks() {
    SplittableRandom random = new SplittableRandom(7);
    Block[] all = new Block[1000];
    for (int i = 0; i < all.length; i++) {
      all[i] =
          i > 0 && random.nextInt(3) == 0
              ? all[random.nextInt(i)]
              : new Placed(region, random.nextInt(PLACES));
    }
    AddressTable table = new AddressTable(all);

    for (int i = 0; i < 10_000; i++) {
      Block block = open(all[random.nextInt(all.length)]);
      assertSame(block, table.find(block.startAddress()));
      assertTrue(block.closeRaw());
    }
  }
}
