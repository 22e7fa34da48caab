#define _GNU_SOURCE

#include "probe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

_Static_assert(sizeof(void *) == sizeof(int64_t), "Java hands addresses over as 64-bit numbers");
_Static_assert(sizeof(probe_span) == 3 * sizeof(int64_t), "Java writes spans into a long[]");
_Static_assert(sizeof(probe_full_header) == 64, "a full header has 64 bytes");
_Static_assert(offsetof(probe_full_header, raw_address) == 32, "as the header's picture shows");
_Static_assert(sizeof(probe_light_header) == 8, "a light header has 8 bytes");

/* ---- Contents -------------------------------------------------------------------------------- */

static uint64_t pattern_word(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

void probe_fill(void *memory, int64_t bytes, int64_t seed) {
  unsigned char *at = memory;
  uint64_t left = (uint64_t)bytes;
  for (uint64_t i = 0; left > 0; i++) {
    uint64_t word = pattern_word((uint64_t)seed, i);
    size_t part = left < sizeof word ? left : sizeof word;
    memcpy(at, &word, part);
    at += part;
    left -= part;
  }
}

int64_t probe_first_difference(const void *memory, int64_t bytes, int64_t seed) {
  const unsigned char *start = memory;
  const unsigned char *at = start;
  uint64_t left = (uint64_t)bytes;
  for (uint64_t i = 0; left > 0; i++) {
    uint64_t word = pattern_word((uint64_t)seed, i);
    size_t part = left < sizeof word ? left : sizeof word;
    if (memcmp(at, &word, part) != 0) {
      unsigned char wanted[sizeof word];
      memcpy(wanted, &word, sizeof word);
      size_t same = 0;
      while (at[same] == wanted[same]) {
        same++;
      }
      return at + same - start;
    }
    at += part;
    left -= part;
  }
  return -1;
}

static uintptr_t page_bytes(void) {
  return (uintptr_t)sysconf(_SC_PAGESIZE);
}

int64_t probe_touch(void *memory, int64_t bytes) {
  uintptr_t page = page_bytes();
  uintptr_t at = (uintptr_t)memory;
  uintptr_t end = at + (uintptr_t)bytes;
  int64_t pages = 0;
  while (at < end) {
    /* Volatile: a store that nobody reads must happen all the same. */
    *(volatile unsigned char *)at = (unsigned char)pages;
    pages++;
    at = (at | (page - 1)) + 1;
  }
  return pages;
}

/* ---- Addresses ------------------------------------------------------------------------------- */

int64_t probe_first_misaligned(const probe_span *spans, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (spans[i].address == 0 || spans[i].address % spans[i].alignment != 0) {
      return i;
    }
  }
  return -1;
}

static int by_address(const void *left, const void *right) {
  uint64_t a = ((const probe_span *)left)->address;
  uint64_t b = ((const probe_span *)right)->address;
  return (a > b) - (a < b);
}

int64_t probe_first_overlap(probe_span *spans, int64_t count) {
  qsort(spans, (size_t)count, sizeof *spans, by_address);
  for (int64_t i = 1; i < count; i++) {
    const probe_span *below = &spans[i - 1];
    uint64_t bytes = below->bytes > 0 ? below->bytes : 1;
    if (spans[i].address - below->address < bytes) {
      return i;
    }
  }
  return -1;
}

/* ---- Headers --------------------------------------------------------------------------------- */

void probe_read_full_header(const void *user, probe_full_header *header) {
  memcpy(header, (const unsigned char *)user - sizeof *header, sizeof *header);
}

void probe_read_light_header(const void *user, probe_light_header *header) {
  memcpy(header, (const unsigned char *)user - sizeof *header, sizeof *header);
}

/* ---- What the kernel says -------------------------------------------------------------------- */

int64_t probe_minor_faults(void) {
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_minflt : -errno;
}

int64_t probe_major_faults(void) {
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_majflt : -errno;
}

/*
 * Adds up the lines "field:   123 kB" of a file of /proc. With a memory given the file is smaps, and
 * only lines of mappings that share a byte with it count.
 */
static int64_t sum_kib_lines(const char *path, const char *field, const void *memory,
                             int64_t bytes) {
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    return -errno;
  }
  uint64_t from = (uint64_t)(uintptr_t)memory;
  uint64_t to = from + (uint64_t)bytes;
  size_t name = strlen(field);
  int64_t sum = 0;
  int counts = memory == NULL;
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, file) >= 0) {
    uint64_t start;
    uint64_t end;
    if (memory != NULL && sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &start, &end) == 2) {
      counts = start < to && from < end;
    } else if (counts && strncmp(line, field, name) == 0 && line[name] == ':') {
      sum += strtoll(line + name + 1, NULL, 10) * 1024;
    }
  }
  free(line);
  fclose(file);
  return sum;
}

int64_t probe_resident_bytes(void) {
  /* Not statm: that lags behind by some pages per thread. */
  return sum_kib_lines("/proc/self/smaps_rollup", "Rss", NULL, 0);
}

int64_t probe_peak_resident_bytes(void) {
  /* Not getrusage: its ru_maxrss begins with the peak of the process that started this one. */
  return sum_kib_lines("/proc/self/status", "VmHWM", NULL, 0);
}

int64_t probe_mapping_bytes(const void *memory, int64_t bytes, const char *field) {
  return sum_kib_lines("/proc/self/smaps", field, memory, bytes);
}
