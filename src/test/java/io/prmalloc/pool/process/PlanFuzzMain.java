package io.prmalloc.pool.process;

import io.prmalloc.Allocation;
import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.KeptPool;
import io.prmalloc.kept.PlanFormatException;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.pool.TensorPoolAllocator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Replaces every number of a plan file by extreme values, with a checksum that fits, and starts a
 * pool under a limit with each. Prints a line for each file that is neither refused by name nor
 * served within the limit, and last how many were refused and how many served. For a JVM with a
 * small heap.
 */
final class PlanFuzzMain {

  private static final long LIMIT_BYTES = 64L << 20;

  /** More than the plans need that are put in. */
  private static final long UNCHANGED_BYTES = 1L << 20;

  private static final Pattern NUMBER = Pattern.compile("-?\\d+");

  private static final String[] EXTREMES = {
    "-9223372036854775809",
    "-9223372036854775808",
    "-2147483649",
    "-2147483648",
    "-1",
    "0",
    "1",
    "63",
    "64",
    "4096",
    "65535",
    "1000000",
    "1048576",
    "1073741824",
    "2147483647",
    "2147483648",
    "4294967296",
    "140737488355328",
    "4611686018427387904",
    "9223372036854775744",
    "9223372036854775807",
    "9223372036854775808",
    "1" + "0".repeat(400),
    "1" + "0".repeat(4000),
  };

  private static final Pattern FIELD =
      Pattern.compile(
          "intervalBytes|totalBytes|concurrentSteps|index|chunkBytes|alignment|blocks|reserved"
              + "|borrows|sizesBytes|ends|offset|intKey|longKey|size of|end of|bytes of a step"
              + "|not a plan of its step");

  private final Path file;
  private final int part;
  private final int parts;
  private final List<String> faults = new ArrayList<>();
  private int refused;
  private int noMemory;
  private int served;

  private PlanFuzzMain(Path file, int part, int parts) {
    this.file = file;
    this.part = part;
    this.parts = parts;
  }

  /**
   * Runs it.
   *
   * @param arguments files to begin with, each a plan; they are overwritten
   */
  public static void main(String[] arguments) throws IOException {
    // Each number takes one of so many of the extremes in each file, and all in all of them.
    for (int i = 0; i < arguments.length; i++) {
      PlanFuzzMain fuzz = new PlanFuzzMain(Path.of(arguments[i]), i, arguments.length);
      fuzz.run();
      fuzz.faults.forEach(System.out::println);
      System.out.println(
          "refused " + fuzz.refused + ", no memory " + fuzz.noMemory + ", served " + fuzz.served);
    }
    System.out.println(startTooLargeForTheHeap());
  }

  /** What is said of a plan that its source has memory for, and the Java heap not. */
  private static String startTooLargeForTheHeap() {
    int blocks = 1 << 20;
    long bytes = LifetimePolicy.chunkBytes(0, 4096);
    BinPlan bin = new BinPlan(0, bytes, 64, blocks, List.of());
    LifetimePlan plan = new LifetimePlan(4096, blocks * bytes, List.of(bin), List.of(), 1);
    KeptPool pool = new KeptPool(plan, List.of(blocks));
    // By its own account it has all that anybody may want.
    Watched endless = new Watched(SubAllocator.direct());
    try {
      TensorPoolAllocator.builder()
          .subAllocator(endless)
          .plan(new KeptPlan(Optional.of(pool), List.of()))
          .build()
          .close();
      return "served";
    } catch (IllegalStateException e) {
      return endless.peakBytes + " bytes taken: " + e.getMessage();
    }
  }

  private void run() throws IOException {
    PlanText text = PlanText.of(Files.readString(file));
    Matcher number = NUMBER.matcher(text.plan());
    for (int which = part; number.find(); which++) {
      for (int i = which % parts; i < EXTREMES.length; i += parts) {
        replace(text, number.start(), number.end(), EXTREMES[i]);
      }
    }
    // Lists of one number, many times over.
    Matcher list = Pattern.compile("\\[(\\d+)").matcher(text.plan());
    while (list.find()) {
      replace(text, list.end(), list.end(), ("," + list.group(1)).repeat(100_000));
    }
  }

  private void replace(PlanText text, int start, int end, String by) throws IOException {
    String plan = text.plan().substring(0, start) + by + text.plan().substring(end);
    Files.writeString(file, text.with(plan).file());
    String what =
        "..."
            + plan.substring(Math.max(0, start - 60), start)
            + " <"
            + by.substring(0, Math.min(30, by.length()))
            + ">";
    try {
      start(what);
    } catch (PlanFormatException e) {
      refused++;
      if (!FIELD.matcher(e.getMessage()).find()) {
        faults.add(what + ": no field is named: " + e.getMessage());
      }
      if (e.getMessage().length() > 1000) {
        faults.add(what + ": a message of " + e.getMessage().length() + " characters");
      }
    } catch (RuntimeException | OutOfMemoryError e) {
      faults.add(what + ": " + e);
    }
  }

  private void start(String what) throws IOException {
    KeptPlan plan = KeptPlan.load(file);
    Watched source = new Watched(SubAllocator.direct(LIMIT_BYTES));
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .executor(Runnable::run)
            .subAllocator(source)
            .plan(plan)
            .build()) {
      for (int bytes : new int[] {1, 40_000, 100_000}) {
        try (Allocation some = pool.allocate(bytes)) {
          some.byteBuffer().put(bytes - 1, (byte) 1);
        }
      }
      pool.deallocateRaw(pool.allocateRaw(64, 40_000));
      served++;
    } catch (OutOfNativeMemoryException e) {
      noMemory++;
      // The plans of which no number was changed are small, and may have been there by then.
      if (source.peakBytes > UNCHANGED_BYTES) {
        faults.add(what + ": " + source.peakBytes + " bytes were taken before it was refused");
      }
    }
    if (source.peakBytes > LIMIT_BYTES || source.bytesReserved() > 0) {
      faults.add(what + ": " + source.peakBytes + " at most, " + source.bytesReserved() + " left");
    }
  }

  /** Knows the most bytes that were reserved at a time. */
  private static final class Watched extends SubAllocatorWrapper {
    private long peakBytes;

    Watched(SubAllocator source) {
      super(source);
    }

    @Override
    public MemoryRegion alloc(long alignment, long bytes) {
      MemoryRegion region = wrapped().alloc(alignment, bytes);
      peakBytes = Math.max(peakBytes, wrapped().bytesReserved());
      return region;
    }

    /** Without a limit it has all that anybody may want. */
    @Override
    public long bytesAvailable() {
      return bytesLimit().isPresent() ? super.bytesAvailable() : Long.MAX_VALUE;
    }
  }
}
