/**
 * The models of the example server: files that a user names ({@code ModelFile}, with the shapes of
 * its inputs as {@code ShapeRange}), and small networks that tests make ({@code SampleNetwork},
 * {@code OpenNetwork}, {@code OutputNetwork}, written by {@code OnnxGraph} and {@code
 * OnnxMessage}). {@code TensorBytes} turns numbers into the bytes of a tensor and back.
 */
package io.prmalloc.example.model;
