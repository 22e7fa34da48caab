/*
 * A look at the allocator's memory from the other side: that of a C library to which a server hands
 * tensors. It knows nothing of our Java code. What both must agree on (the pattern, the headers) is
 * written down here and there, independently.
 *
 * Every function may be called from any thread. Numbers that may be errors are negative then: minus
 * errno.
 */
#ifndef PRMALLOC_PROBE_H
#define PRMALLOC_PROBE_H

#include <stddef.h>
#include <stdint.h>

/* ---- Contents -------------------------------------------------------------------------------- */

/*
 * Writes the pattern of a seed. The pattern is a row of 64-bit words in native byte order, word i
 * being the i-th output (from 0) of SplitMix64 started with the seed. The last one is cut off where
 * the memory ends. The memory may start at any address.
 */
void probe_fill(void *memory, int64_t bytes, int64_t seed);

/* Offset of the first byte that is not the pattern's, -1 if all are. */
int64_t probe_first_difference(const void *memory, int64_t bytes, int64_t seed);

/* Writes one byte into every page that the memory has a part in. Returns how many these are. */
int64_t probe_touch(void *memory, int64_t bytes);

/* ---- Addresses ------------------------------------------------------------------------------- */

/* A stretch of memory as Java hands it over: three 64-bit words in a long[]. */
typedef struct {
  uint64_t address;
  uint64_t bytes;
  uint64_t alignment;
} probe_span;

/* Index of the first span that is null or not aligned as it should be, -1 if there is none. */
int64_t probe_first_misaligned(const probe_span *spans, int64_t count);

/*
 * Sorts the spans by address. Returns the index (after sorting) of the first that begins before the
 * one below it ends, -1 if there is none. A span of no bytes takes one here: it too must have an
 * address of its own.
 */
int64_t probe_first_overlap(probe_span *spans, int64_t count);

/* ---- Headers --------------------------------------------------------------------------------- */

/* What ends at the address of a large raw allocation. */
typedef struct {
  int64_t begin;
  int64_t end;
  int64_t bin;
  int64_t internal_bin;
  int64_t raw_address;
  int64_t user_address;
  int64_t total_bytes;
  int64_t user_bytes;
} probe_full_header;

/* What ends at the address of a small raw allocation. */
typedef struct {
  int32_t mark;
  int32_t header_bytes;
} probe_light_header;

/* Copy the header in front of a raw address. */
void probe_read_full_header(const void *user, probe_full_header *header);
void probe_read_light_header(const void *user, probe_light_header *header);

/* ---- What the kernel says -------------------------------------------------------------------- */

/* Page faults of the calling thread since it started: without, and with, reading from a disk. */
int64_t probe_minor_faults(void);
int64_t probe_major_faults(void);

/* Bytes this process has in memory now, and the most it had since it was executed. */
int64_t probe_resident_bytes(void);
int64_t probe_peak_resident_bytes(void);

/*
 * Adds up a field of /proc/self/smaps, such as "Rss" or "AnonHugePages", in bytes, over all mappings
 * that share a byte with the memory. The kernel may have merged these with neighbours of the same
 * kind, which count too.
 */
int64_t probe_mapping_bytes(const void *memory, int64_t bytes, const char *field);

#endif
