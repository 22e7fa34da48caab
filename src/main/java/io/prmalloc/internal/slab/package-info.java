/**
 * Requests of up to 32 KiB: slabs of equal slots, by size class.
 *
 * <p>Read {@code SizeClasses} first, then {@code SmallBlocks} (all classes), {@code SlabClass} (one
 * class: when slabs come and go), {@code StripeSlabs} (which slab serves which stripe, and which
 * are retained for it), {@code SlabFronts} (where a request looks), {@code Slab} and {@code
 * BlockStack} (the slots, and the lock-free {@code IndexStack} behind what was just closed).
 *
 * <p>Invariants: a slot is in front or on the stack, never in both and never in neither; a slab
 * goes back to the system only if all its slots are free.
 */
package io.prmalloc.internal.slab;
