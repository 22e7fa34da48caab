package io.prmalloc.trace.replay;

import io.prmalloc.recording.RecordingFormatException;
import io.prmalloc.recording.RecordingReader;
import io.prmalloc.trace.InputFile;
import io.prmalloc.trace.TraceFormatException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.agrona.collections.IntArrayList;

/**
 * A recording in a form that can be run: the sizes, steps and threads of a live allocator's
 * requests, and which thread released what.
 *
 * <p>Of steps within steps of the same thread the outermost counts. What is still allocated at the
 * end of the recording is released there, by the thread that allocated it, and steps that are open
 * end there.
 *
 * <p>Threading: immutable once read.
 */
public final class RecordedTraffic {

  // Each thread has a program of its own, numbers in a row. An operation is two or three of them:
  // when (the tick), what (the operation in the upper bits, a tensor in the lower ones), and an
  // operand. So ten million pairs take 200 MB and no object each.
  //
  // Threads meet where they met when it was recorded: a thread that releases what another one
  // allocated waits until that one has come so far, and so does one that ends another's step, and
  // one whose step another one ended. Each waits for lower ticks only, so the thread with the
  // lowest always goes on.

  /** Allocate a tensor; the operand is its bytes. */
  static final int ALLOCATE = 0;

  /** Release a tensor of the thread's own. */
  static final int RELEASE = 1;

  /** Release a tensor of the thread that is the operand. */
  static final int RELEASE_OF = 2;

  /** Open a step. */
  static final int OPEN = 3;

  /** Close the thread's own step. */
  static final int CLOSE = 4;

  /** Close the step of the thread that is the operand. */
  static final int CLOSE_OF = 5;

  /** Wait for the thread that is the operand. */
  static final int AWAIT = 6;

  /** The same; that thread closed this one's step. */
  static final int AWAIT_CLOSE = 7;

  static final int OPERATION_SHIFT = 28;
  static final int TENSOR_MASK = (1 << OPERATION_SHIFT) - 1;

  private static final int MAX_TENSORS = TENSOR_MASK;

  private final List<Program> programs;
  private final long allocations;
  private final long loadBytes;
  private final long alignedLoadBytes;

  private RecordedTraffic(Reading reading) {
    programs = List.copyOf(reading.programs);
    allocations = reading.allocations;
    loadBytes = reading.peakBytes;
    alignedLoadBytes = reading.alignedPeakBytes;
  }

  /**
   * What one thread did.
   *
   * <p>Threading: immutable once read.
   */
  static final class Program {
    private final IntArrayList words = new IntArrayList();
    private final IntArrayList freeTensors = new IntArrayList();
    private int tensors;
    private int steps;

    /** How many steps are open, within each other. */
    private int depth;

    /** The thread that closed this one's step, until it is told of; −1 for none. */
    private int closedBy = -1;

    private Program() {}

    private void add(long tick, int operation, int tensor) {
      words.addInt((int) tick);
      words.addInt(operation << OPERATION_SHIFT | tensor);
    }

    private void add(long tick, int operation, int tensor, int operand) {
      add(tick, operation, tensor);
      words.addInt(operand);
    }

    private int newTensor() {
      return freeTensors.isEmpty() ? tensors++ : freeTensors.removeAt(freeTensors.size() - 1);
    }

    /** The operations. */
    int[] words() {
      return words.toIntArray();
    }

    /** Tensors have numbers below this; one is used again when its own thread released it. */
    int tensors() {
      return tensors;
    }

    /** How many steps the thread opened, not counting those within steps. */
    int steps() {
      return steps;
    }
  }

  /**
   * Reads a recording.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if it is no recording, holds what cannot be, or more than can be
   *     replayed: over 2^31 − 1 events, over {@link ReplayOptions#MAX_THREADS} threads, or an
   *     allocation over {@link Replayer#MAX_TENSOR_BYTES}
   * @throws java.io.UncheckedIOException if it cannot be read
   */
  public static RecordedTraffic read(Path path) {
    return InputFile.inHeap(path.toString(), () -> readIntoHeap(path));
  }

  private static RecordedTraffic readIntoHeap(Path path) {
    Reading reading = new Reading();
    try (RecordingReader events = InputFile.openRecording(path)) {
      while (events.next()) {
        reading.take(events);
      }
      reading.end();
      if (reading.allocations == 0) {
        String why = events.damage().map(damage -> "; it " + damage).orElse("");
        throw TraceFormatException.ofFile(path.toString(), "holds no allocation" + why);
      }
      return new RecordedTraffic(reading);
    } catch (RecordingFormatException | IllegalArgumentException wrong) {
      throw TraceFormatException.ofFile(path.toString(), wrong.getMessage());
    }
  }

  /** How many threads there were. Threading: any thread. */
  public int threads() {
    return programs.size();
  }

  /**
   * How many steps were opened by all threads, not counting those within steps; 0 if the program
   * knew no steps. Threading: any thread.
   */
  public long steps() {
    return programs.stream().mapToLong(Program::steps).sum();
  }

  /** How many allocations there were. Threading: any thread. */
  public long allocations() {
    return allocations;
  }

  /** The most bytes that lived at one time, sizes as they were. Threading: any thread. */
  public long loadBytes() {
    return loadBytes;
  }

  /** The same with sizes rounded up to multiples of 64 bytes. Threading: any thread. */
  public long alignedLoadBytes() {
    return alignedLoadBytes;
  }

  /** What a thread did. */
  Program program(int thread) {
    return programs.get(thread);
  }

  /** Turns events into programs. Threading: one thread. */
  private static final class Reading {

    private static final long ALIGNMENT = 64;

    /** Where an allocation is that was not released yet. */
    private record Live(int thread, int tensor, int bytes) {}

    private final List<Program> programs = new ArrayList<>();
    private final Map<Long, Integer> threads = new HashMap<>();
    private final Map<Long, Live> live = new LinkedHashMap<>();
    private final Map<Long, Integer> openers = new HashMap<>();
    private long tick;
    private long allocations;
    private long liveBytes;
    private long alignedLiveBytes;
    private long peakBytes;
    private long alignedPeakBytes;

    void take(RecordingReader event) {
      tick = event.tick();
      if (tick >= Integer.MAX_VALUE) {
        throw new IllegalArgumentException(
            "has more than " + Integer.MAX_VALUE + " events, the most that can be replayed");
      }
      int thread = thread(event.threadId());
      Program program = programs.get(thread);
      if (program.closedBy >= 0) {
        program.add(tick, AWAIT_CLOSE, 0, program.closedBy);
        program.closedBy = -1;
      }
      switch (event.kind()) {
        case ALLOCATE -> allocate(thread, program, event.sizeBytes());
        case RELEASE -> release(thread, program, event.id());
        case OPEN_STEP -> open(thread, program, event.step());
        case CLOSE_STEP -> close(thread, program, event.step());
      }
    }

    private int thread(long id) {
      Integer known = threads.get(id);
      if (known != null) {
        return known;
      }
      if (programs.size() == ReplayOptions.MAX_THREADS) {
        throw new IllegalArgumentException(
            "has more than "
                + ReplayOptions.MAX_THREADS
                + " threads, the most that can be replayed as they were");
      }
      threads.put(id, programs.size());
      programs.add(new Program());
      return programs.size() - 1;
    }

    private void allocate(int thread, Program program, long bytes) {
      if (bytes > Replayer.MAX_TENSOR_BYTES) {
        throw new IllegalArgumentException(
            "event "
                + tick
                + " allocates "
                + bytes
                + " bytes; the most that can be replayed is "
                + Replayer.MAX_TENSOR_BYTES);
      }
      int tensor = program.newTensor();
      if (tensor > MAX_TENSORS) {
        throw new IllegalArgumentException(
            "has a thread with more than "
                + MAX_TENSORS
                + " allocations that it does not release itself, the most that can be replayed");
      }
      program.add(tick, ALLOCATE, tensor, (int) bytes);
      live.put(tick, new Live(thread, tensor, (int) bytes));
      allocations++;
      count(bytes, 1);
      peakBytes = Math.max(peakBytes, liveBytes);
      alignedPeakBytes = Math.max(alignedPeakBytes, alignedLiveBytes);
    }

    private void count(long bytes, int sign) {
      liveBytes += sign * bytes;
      alignedLiveBytes += sign * ((bytes + ALIGNMENT - 1) & -ALIGNMENT);
    }

    private void release(int thread, Program program, long id) {
      Live released = live.remove(id);
      if (released == null) {
        throw new IllegalArgumentException(
            "event " + tick + " releases allocation " + id + ", which is not out");
      }
      count(released.bytes, -1);
      if (released.thread == thread) {
        program.add(tick, RELEASE, released.tensor);
        program.freeTensors.addInt(released.tensor);
      } else {
        program.add(tick, AWAIT, 0, released.thread);
        program.add(tick, RELEASE_OF, released.tensor, released.thread);
      }
    }

    private void open(int thread, Program program, long step) {
      openers.put(step, thread);
      if (program.depth++ == 0) {
        program.add(tick, OPEN, 0);
        program.steps++;
      }
    }

    private void close(int thread, Program program, long step) {
      Integer opener = openers.remove(step);
      // One that was open before the recording began is not known.
      if (opener == null || --programs.get(opener).depth > 0) {
        return;
      }
      if (opener == thread) {
        program.add(tick, CLOSE, 0);
      } else {
        program.add(tick, AWAIT, 0, opener);
        program.add(tick, CLOSE_OF, 0, opener);
        programs.get(opener).closedBy = thread;
      }
    }

    /** Releases what is out, and closes what is open. */
    void end() {
      tick++;
      for (Live left : live.values()) {
        programs.get(left.thread).add(tick, RELEASE, left.tensor);
      }
      for (Program program : programs) {
        if (program.closedBy >= 0) {
          program.add(tick, AWAIT_CLOSE, 0, program.closedBy);
        }
        if (program.depth > 0) {
          program.add(tick, CLOSE, 0);
        }
      }
    }
  }
}
