// Counts what a part of the program asks of the allocator and of SQLite, for all threads together.
#ifndef CMETERS_H
#define CMETERS_H

#include <stddef.h>
#include <stdlib.h>
#if defined(__linux__) && defined(__GLIBC__)
#include <malloc.h>
#elif defined(__APPLE__)
#include <malloc/malloc.h>
#endif

// What was counted between cmeters_begin() and cmeters_end().
typedef struct {
    // How often memory was allocated.
    long allocations;
    // The most bytes that were allocated at any time, less those at the beginning.
    long peak_bytes;
    // How many statements were begun.
    long statements;
} cmeters_counts;

// Whether anything is counted here: with glibc, and not beside a sanitizer, which has an allocator of its own.
int cmeters_are_there(void);

// Lets cmeters_begin() count, or not: counting costs time.
void cmeters_arm(int on);

// Counts from here on, if armed.
void cmeters_begin(void);
void cmeters_end(void);

// What was counted last.
cmeters_counts cmeters_last(void);

// The bytes that the program has allocated and not freed; 0 where nobody knows.
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

// Brings the allocator to join freed blocks that lie side by side, which glibc does when it is asked for a large one.
static inline void cmeters_join_freed_blocks(void) {
    void *volatile block = malloc(4096);
    free(block);
}

#endif
