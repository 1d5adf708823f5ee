#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CMeters.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

// Whether counting is enabled, whether it has started, and the counts.
static atomic_bool armed;
static atomic_bool counting;
static atomic_long allocations;
static atomic_long bytes;
static atomic_long peak_bytes;
static atomic_long statements;

void cmeters_arm(int on) { atomic_store(&armed, on != 0); }

void cmeters_begin(void) {
    if (!atomic_load(&armed)) return;
    atomic_store(&allocations, 0);
    atomic_store(&bytes, 0);
    atomic_store(&peak_bytes, 0);
    atomic_store(&statements, 0);
    atomic_store(&counting, true);
}

void cmeters_end(void) { atomic_store(&counting, false); }

cmeters_counts cmeters_last(void) {
    cmeters_counts counts = {atomic_load(&allocations), atomic_load(&peak_bytes), atomic_load(&statements)};
    return counts;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CMETERS_IS_SANITIZED 1
#endif
#endif

#if defined(__linux__) && defined(__GLIBC__) && !defined(CMETERS_IS_SANITIZED)

#include <dlfcn.h>

int cmeters_are_there(void) { return 1; }

static inline bool counts(void) { return atomic_load_explicit(&counting, memory_order_relaxed); }

// MARK: The allocator

// The names of the C library's own functions in a program that replaces them.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void *count_allocation(void *block) {
    if (!block || !counts()) return block;
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    long size = (long)malloc_usable_size(block);
    long sum = atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed) + size;
    long peak = atomic_load_explicit(&peak_bytes, memory_order_relaxed);
    while (sum > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, sum)) {}
    return block;
}

static void count_end(void *block) {
    if (!block || !counts()) return;
    atomic_fetch_sub_explicit(&bytes, (long)malloc_usable_size(block), memory_order_relaxed);
}

void *malloc(size_t size) { return count_allocation(__libc_malloc(size)); }

void *calloc(size_t number, size_t size) { return count_allocation(__libc_calloc(number, size)); }

void *realloc(void *block, size_t size) {
    if (!counts()) return __libc_realloc(block, size);
    // Both blocks exist while the contents are moved.
    long old_size = block ? (long)malloc_usable_size(block) : 0;
    void *moved = count_allocation(__libc_realloc(block, size));
    if (moved || size == 0) atomic_fetch_sub_explicit(&bytes, old_size, memory_order_relaxed);
    return moved;
}

void free(void *block) {
    count_end(block);
    __libc_free(block);
}

void *memalign(size_t alignment, size_t size) { return count_allocation(__libc_memalign(alignment, size)); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    bool is_power = alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (!is_power || alignment % sizeof(void *) != 0) return EINVAL;
    void *allocated = memalign(alignment, size);
    if (!allocated) return ENOMEM;
    *block = allocated;
    return 0;
}

// MARK: SQLite

struct sqlite3_stmt;
extern int sqlite3_stmt_busy(struct sqlite3_stmt *);

// Interposes the library's function of the same name. A statement that is not busy starts. Statements that the library
// runs itself also call this function, from inside a statement, and are not counted.
int sqlite3_step(struct sqlite3_stmt *statement) {
    static _Thread_local int depth;
    static int (*_Atomic known)(struct sqlite3_stmt *);
    int (*step)(struct sqlite3_stmt *) = atomic_load_explicit(&known, memory_order_relaxed);
    if (!step) {
        step = (int (*)(struct sqlite3_stmt *))dlsym(RTLD_NEXT, "sqlite3_step");
        atomic_store_explicit(&known, step, memory_order_relaxed);
    }
    if (depth == 0 && counts() && !sqlite3_stmt_busy(statement)) {
        atomic_fetch_add_explicit(&statements, 1, memory_order_relaxed);
    }
    depth++;
    int code = step(statement);
    depth--;
    return code;
}

#else

int cmeters_are_there(void) { return 0; }

#endif
