// What the C library's allocator knows of itself, and how often it is asked.
#ifndef CALLOCATOR_H
#define CALLOCATOR_H

#include <stddef.h>
#include <stdlib.h>
#if defined(__linux__) && defined(__GLIBC__)
#include <malloc.h>
#elif defined(__APPLE__)
#include <malloc/malloc.h>
#endif

// The bytes that the program has allocated and not freed; 0 where nobody counts them.
static inline size_t callocator_used_bytes(void) {
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
static inline void callocator_join_freed_blocks(void) {
    void *volatile block = malloc(4096);
    free(block);
}

// Whether allocations can be counted here: with glibc, and not beside a sanitizer, which has an allocator of its own.
int callocator_counts(void);

// Lets callocator_begin_counting() count, or not: counting costs time.
void callocator_arm(int on);

// Counts the allocations of all threads from here on, if armed.
void callocator_begin_counting(void);
void callocator_end_counting(void);

// What was counted last.
size_t callocator_allocation_count(void);

#endif
