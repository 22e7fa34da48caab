/**
 * One piece of memory that is given out and comes back, and what every other room needs of it.
 *
 * <p>Read {@code Block} first: its state word says whether it is free and which use it is in, and a
 * handle is a block and the stamp of one use. Then {@code HeapBlock} (outside of any plan), {@code
 * HeaderDescriptor} (what lies in front of a raw address), {@code AddressDirectory} and {@code
 * AddressTable} (the owner of an address is looked up), {@code Requests} (the argument checks of
 * all allocators), {@code Stripes} (threads divided into a few groups), {@code NoInline} (why
 * handles cost no heap). {@code PoolObserver} and {@code Observation} tell others of a use.
 *
 * <p>Invariants: of several threads that claim a block one has it; of several closes one wins; a
 * stamp never comes again.
 */
package io.prmalloc.internal.block;
