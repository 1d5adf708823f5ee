#include "CAllocator.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

// Whether counting may begin, whether it has, and what was counted.
static atomic_bool armed;
static atomic_bool counting;
static atomic_size_t allocations;

void callocator_arm(int on) { atomic_store(&armed, on != 0); }

void callocator_begin_counting(void) {
    if (!atomic_load(&armed)) return;
    atomic_store(&allocations, 0);
    atomic_store(&counting, true);
}

void callocator_end_counting(void) { atomic_store(&counting, false); }

size_t callocator_allocation_count(void) { return atomic_load(&allocations); }

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CALLOCATOR_IS_SANITIZED 1
#endif
#endif

#if defined(__linux__) && defined(__GLIBC__) && !defined(CALLOCATOR_IS_SANITIZED)

// The names by which the C library's own functions stay known where a program puts others in their place.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static inline void count(void) {
    if (atomic_load_explicit(&counting, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    }
}

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    count();
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    count();
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

int callocator_counts(void) { return 1; }

#else

int callocator_counts(void) { return 0; }

#endif
