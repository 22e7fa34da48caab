/**
 * Requests of up to 32 KiB: slabs of equal slots, by size class.
 *
 * <p>Read {@code SizeClasses} first, then {@code SmallBlocks} (all classes), {@code SlabClass} (one
 * class: when slabs come and go), {@code StripeSlabs} (which slab serves which stripe, and which
 * are retained for it), {@code SlabFronts} (where a request looks), {@code Slab} and {@code
 * BlockStack} (the slots: in the free index, or on the lock-free {@code IndexStack}).
 *
 * <p>Invariants: a free slot is in the free index (the <em>front</em>) or on the stack, never in
 * both and never in neither; a slab is given back to the system only if all its slots are free.
 */
package io.prmalloc.internal.slab;
