package io.prmalloc;

/**
 * What memory must be fit for, as bits. A request states its own bits; an allocator that serves
 * several requests with one block merges them.
 *
 * <pre>
 *   31        24 23                    4     3          2          1        0
 *   +-----------+-----------------------+---------+----------+----------+------+
 *   |  device   |     always 0          |  track  |   gpu    |   nic    |  on  |
 *   |           |                       |  sizes  |compatible|compatible| host |
 *   +-----------+-----------------------+---------+----------+----------+------+
 * </pre>
 *
 * <p>Modelled on TensorFlow's {@code AllocatorAttributes}.
 *
 * <p>Threading: immutable.
 *
 * @param value the bits
 */
public record AllocatorAttributes(int value) {

  private static final int ON_HOST = 1;
  private static final int NIC_COMPATIBLE = 1 << 1;
  private static final int GPU_COMPATIBLE = 1 << 2;
  private static final int TRACK_SIZES = 1 << 3;
  private static final int FLAGS = ON_HOST | NIC_COMPATIBLE | GPU_COMPATIBLE | TRACK_SIZES;
  private static final int DEVICE_SHIFT = 24;
  private static final int DEVICE_MAX = 0xFF;

  /** Nothing in particular. */
  public static final AllocatorAttributes NONE = new AllocatorAttributes(0);

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if {@code value} has one of the bits 4 to 23, which mean
   *     nothing
   */
  public AllocatorAttributes {
    int meaningless = value & ~(FLAGS | (DEVICE_MAX << DEVICE_SHIFT));
    if (meaningless != 0) {
      throw new IllegalArgumentException(
          "value 0x"
              + Integer.toHexString(value)
              + " has bits that mean nothing: 0x"
              + Integer.toHexString(meaningless)
              + "; there are bits 0 to 3 and 24 to 31");
    }
  }

  /** In the host's memory and not a device's. Threading: any thread. */
  public boolean onHost() {
    return has(ON_HOST);
  }

  /** A network card can reach it. Threading: any thread. */
  public boolean nicCompatible() {
    return has(NIC_COMPATIBLE);
  }

  /** A GPU can copy from and to it at full speed. Threading: any thread. */
  public boolean gpuCompatible() {
    return has(GPU_COMPATIBLE);
  }

  /** The allocator must track sizes. Threading: any thread. */
  public boolean trackSizes() {
    return has(TRACK_SIZES);
  }

  /** What a device makes of its eight bits, from 0 to 255. Threading: any thread. */
  public int device() {
    return value >>> DEVICE_SHIFT;
  }

  /** The same with {@link #onHost} so. Threading: any thread. */
  public AllocatorAttributes withOnHost(boolean on) {
    return with(ON_HOST, on);
  }

  /** The same with {@link #nicCompatible} so. Threading: any thread. */
  public AllocatorAttributes withNicCompatible(boolean on) {
    return with(NIC_COMPATIBLE, on);
  }

  /** The same with {@link #gpuCompatible} so. Threading: any thread. */
  public AllocatorAttributes withGpuCompatible(boolean on) {
    return with(GPU_COMPATIBLE, on);
  }

  /** The same with {@link #trackSizes} so. Threading: any thread. */
  public AllocatorAttributes withTrackSizes(boolean on) {
    return with(TRACK_SIZES, on);
  }

  /**
   * The same with other bits for the device.
   *
   * <p>Threading: any thread.
   *
   * @param device from 0 to 255
   * @throws IllegalArgumentException if {@code device} is out of these bounds
   */
  public AllocatorAttributes withDevice(int device) {
    if (device < 0 || device > DEVICE_MAX) {
      throw new IllegalArgumentException("device " + device + " is not from 0 to " + DEVICE_MAX);
    }
    return new AllocatorAttributes((value & FLAGS) | (device << DEVICE_SHIFT));
  }

  /** What is fit for both: every bit that one of the two sets. Threading: any thread. */
  public AllocatorAttributes merge(AllocatorAttributes other) {
    return new AllocatorAttributes(value | other.value);
  }

  /**
   * Whether memory that is fit for the other is fit for this: every bit this one sets the other
   * sets too.
   *
   * <p>Threading: any thread.
   */
  public boolean isEqualOrLessRestrictiveThan(AllocatorAttributes other) {
    return (value & ~other.value) == 0;
  }

  private boolean has(int bit) {
    return (value & bit) != 0;
  }

  private AllocatorAttributes with(int bit, boolean on) {
    return new AllocatorAttributes(on ? value | bit : value & ~bit);
  }

  @Override
  public String toString() {
    return "AllocatorAttributes["
        + (onHost() ? "onHost, " : "")
        + (nicCompatible() ? "nicCompatible, " : "")
        + (gpuCompatible() ? "gpuCompatible, " : "")
        + (trackSizes() ? "trackSizes, " : "")
        + "device="
        + device()
        + "]";
  }
}
