package io.prmalloc.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prmalloc.internal.os.OperatingSystem;

/**
 * Writes to every page of every tensor, in C.
 *
 * <p>Threading: one thread at a time.
 */
final class Touch implements Step.Visitor {

  private static final long PAGE_BYTES = OperatingSystem.pageSizeBytes();

  private final Tensors tensors;
  private final Step step;
  private long pages;

  Touch(Tensors tensors, Step step) {
    this.tensors = tensors;
    this.step = step;
  }

  @Override
  public void taken(int tensor) {
    long address = tensors.address(tensor);
    long bytes = step.bytes(tensor);
    long touched = Probe.probe_touch(address, bytes);
    long expected = bytes == 0 ? 0 : (address + bytes - 1) / PAGE_BYTES - address / PAGE_BYTES + 1;
    assertEquals(expected, touched);
    pages += touched;
  }

  @Override
  public void leaving(int tensor) {}

  /** How many pages were touched so far. */
  long pages() {
    return pages;
  }
}
