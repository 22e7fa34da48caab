/**
 * The pool: serves tensors from the blocks that the planner worked out, without a system call, a
 * page fault or garbage.
 *
 * <p>{@link io.prmalloc.pool.TensorPoolAllocator} is what users build, with a {@link
 * io.prmalloc.pool.TensorPoolBuilder}. Most requests are served by its fast path, which takes the
 * first free block that a {@code FreeIndex} notes. Behind it: small requests come from slabs of a
 * size class each ({@code SmallBlocks}, {@code SlabFronts}, {@code SlabClass}, {@code Slab}, whose
 * slots are a {@code BlockStack}, and {@code StripeSlabs}, which knows whom each serves); planned
 * ones from a {@code BinTable}, which is a plan made real: the {@code Arena}, its one reservation,
 * carved into a {@code Buffer} of equal chunks per {@code Bin}; everything else from the {@code
 * LiveHeap} ({@code SlowPath}): extents of a few large regions, which lie in a {@code HeapShard}
 * for each stripe of threads, with an {@code ExtentMap} each that says what is free. Arenas and
 * slabs take memory beside it ({@code SourceBesideHeap}). A slot or a chunk is a {@code
 * PooledBlock}. What was given back is noted in the {@code FreeIndex} of a slab or of the arena
 * ({@code ChunkIndex}), with its chunks in the order that {@code BlockNumbers} gives them, a word
 * for 64 of them and each stripe of threads ({@code Stripes}). In the beginning threads get {@code
 * InitialPartition} of those. Who asks for addresses gets them by way of {@code RawAddresses}, with
 * a header in front ({@code HeaderDescriptor}), and whose one is, is looked up in an {@code
 * AddressDirectory}, or in the {@code AddressTable} of a plan; {@code PoolAccounting} knows what
 * lies where, and adds up what the pool tells of itself.
 *
 * <p>Around that, each with its essay: steps that ask for memory themselves get arenas of their own
 * ({@code PlannedSteps}, {@code StepKinds}, {@code KeyedSteps}, {@code StepSequence}, {@code
 * StepArena}), and so do those whose thread asks the pool for varying sizes ({@code ImplicitSteps},
 * {@code ImplicitStepObserver}); plans of the shared pool are chosen ({@code PlanChoice}, {@code
 * SizeClassPlans}, {@code StepPacking}, {@code StepCopies}), rehearsed ({@code Rehearsal}), put in
 * force ({@code PlanSwitchOver}, {@code SwitchOverMemory}), give memory back before a request is
 * refused ({@code Reclaim}), grow where requests go on missing ({@code Growth}, {@code
 * GrownBlocks}) and are replaced ({@code Replanner}, {@code OverProvisionMonitor}, {@code
 * DrainingPlans}); who wants to hear of allocations is told by {@code ObserverRegistry}; what must
 * be looked at from time to time is looked at by {@code Maintenance}.
 *
 * <p>May use: {@code io.prmalloc}, {@code io.prmalloc.lifetime}, {@code io.prmalloc.kept}, {@code
 * io.prmalloc.recording}, {@code io.prmalloc.plan}, {@code io.prmalloc.jfr}, {@code
 * io.prmalloc.os}.
 *
 * <p>Conventions: a chunk belongs to whoever claims it, by its own state; the {@code FreeIndex}
 * only says where to look. So does a small slot that was just closed; the others lie on exactly one
 * {@code IndexStack} each, and belong to whoever takes them off.
 */
package io.prmalloc.pool;
