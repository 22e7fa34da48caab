package io.prmalloc.internal.os;

/** Waits until what earlier tests of this JVM dropped has been given back. */
final class EarlierTests {

  private static final int TRIES = 50;
  private static final int QUIET_TRIES = 3;
  private static final long NOISE_BYTES = 4L << 20;

  private EarlierTests() {}

  /**
   * Collects until resident memory stays about the same: direct buffers that are dropped go with
   * the collector's next run or the one after it, and as late as their cleaner is served.
   */
  static void awaitTheirMemory() throws InterruptedException {
    long last = OperatingSystem.residentBytes();
    int quiet = 0;
    for (int i = 0; i < TRIES && quiet < QUIET_TRIES; i++) {
      System.gc();
      Thread.sleep(20);
      long now = OperatingSystem.residentBytes();
      quiet = Math.abs(now - last) < NOISE_BYTES ? quiet + 1 : 0;
      last = now;
    }
  }
}
