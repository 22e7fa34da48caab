/**
 * Requests of up to 32 KiB with an alignment of at most 4,096 bytes: slabs of equal slots, by size
 * class.
 *
 * <p>Read {@code SizeClasses} first, then {@code SmallBlocks} (all classes), {@code SlabClass} (one
 * class: when slabs come and go), {@code StripeSlabs} (which slab serves which stripe, and which
 * are retained for it), {@code SlabFronts} (where a request looks), {@code Slab} and {@code
 * BlockStack} (the slots: in the free index, or on the lock-free {@code IndexStack}).
 *
 * <p>Invariants: a free slot can be taken either from the free index (the <em>front</em>) or from
 * the stack, never from both and never from neither. Its bit in the index may be out of date. A
 * slab is given back to the system only if all its slots are free.
 */
package io.prmalloc.internal.slab;
