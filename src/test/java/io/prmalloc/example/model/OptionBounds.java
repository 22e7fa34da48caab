package io.prmalloc.example.model;

/** Bounds of options. Threading: any thread. */
public final class OptionBounds {

  private OptionBounds() {}

  /**
   * Looks whether a number is within its bounds.
   *
   * @throws IllegalArgumentException if not; names the option, the value and the bounds
   */
  public static void check(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          option + " " + value + " is not from " + least + " to " + most);
    }
  }
}
