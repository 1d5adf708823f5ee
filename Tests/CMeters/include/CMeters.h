// Counts the allocations and SQLite statements of a part of the program, in all threads.
#ifndef CMETERS_H
#define CMETERS_H

#include <stddef.h>
#include <stdlib.h>
#if defined(__linux__) && defined(__GLIBC__)
#include <malloc.h>
#elif defined(__APPLE__)
#include <malloc/malloc.h>
#endif

// The counts between cmeters_begin() and cmeters_end().
typedef struct {
    // The number of allocations.
    long allocations;
    // The peak of allocated bytes, less the bytes at the beginning.
    long peak_bytes;
    // The number of started statements.
    long statements;
} cmeters_counts;

// Whether counting is supported: with glibc, and without a sanitizer, which replaces the allocator.
int cmeters_are_there(void);

// Enables or disables counting by cmeters_begin(): counting takes time.
void cmeters_arm(int on);

// Starts counting, if armed.
void cmeters_begin(void);
void cmeters_end(void);

// The last counts.
cmeters_counts cmeters_last(void);

// The bytes that the program has allocated and not freed; 0 if unknown.
static inline size_t cmeters_used_bytes(void) {
#if defined(__linux__) && defined(__GLIBC__)
    struct mallinfo2 information = mallinfo2();
    return information.uordblks + information.hblkhd;
#elif defined(__APPLE__)
    struct mstats statistics = mstats();
    return statistics.bytes_used;
#else
    return 0;
#endif
}

// Lets the allocator join adjacent freed blocks, which glibc does for a large allocation.
static inline void cmeters_join_freed_blocks(void) {
    void *volatile block = malloc(4096);
    free(block);
}

#endif
