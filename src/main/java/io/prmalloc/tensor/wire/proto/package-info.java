/**
 * The message classes, generated from {@code tensor.proto} at build time.
 *
 * <p>May use: protobuf's Java runtime.
 *
 * <p>Conventions: protobuf's own; nothing in here is written by hand.
 */
package io.prmalloc.tensor.wire.proto;
