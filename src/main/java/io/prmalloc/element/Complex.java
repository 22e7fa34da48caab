package io.prmalloc.element;

/**
 * A complex number, as elements of {@link ElementTypes#COMPLEX64} and {@link
 * ElementTypes#COMPLEX128} are read and written.
 *
 * <p>Threading: immutable.
 *
 * @param real the real part
 * @param imaginary the imaginary part
 */
public record Complex(double real, double imaginary) {}
