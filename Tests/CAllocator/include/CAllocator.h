// What the C library's allocator knows of itself.
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

#endif
