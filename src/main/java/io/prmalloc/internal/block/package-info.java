/**
 * One block of memory that is allocated and freed again and again, and what every other internal
 * package needs of it.
 *
 * <p>Read {@code Block} first: its state word says whether it is free and which use it is in, and a
 * handle is a block and the stamp of one use. Then {@code HeapBlock} (outside of any plan), {@code
 * HeaderDescriptor} (the header in front of a raw address), {@code AddressDirectory} and {@code
 * AddressTable} (the owner of an address is looked up), {@code Requests} (the argument checks of
 * all allocators), {@code Stripes} (threads divided into a few groups), {@code NoInline} (why
 * handles cost no heap). {@code PoolObserver} and {@code Observation} report uses to observers.
 *
 * <p>Invariants: of several threads that claim a block one gets it; of several closes one wins; no
 * two uses of a block have the same stamp.
 */
package io.prmalloc.internal.block;
