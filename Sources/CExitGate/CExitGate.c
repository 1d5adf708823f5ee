#include "CExitGate.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    UNPREPARED = 0,
    OPEN = 1,
    CLOSED = -1
};

atomic_int cexitgate_state = UNPREPARED;

// The number of threads that are inside and do not wait.
static atomic_int inside;

// The number of calls of `cexitgate_enter` by this thread that are not reversed.
static _Thread_local int depth;

// Written before the state becomes CLOSED.
static pthread_t exiting_thread;

// The longest time for which exit(3) waits for the threads inside. A thread gives way at its next page, after some
// microseconds; the derivation of a key takes longer. A program's own code may be inside for any time, in the body of a
// transaction.
static const int maximum_wait_milliseconds = 1000;

static int is_exiting_thread(void) { return pthread_equal(pthread_self(), exiting_thread); }

// MARK: Closing

static void sleep_microseconds(long microseconds) {
    struct timespec time = {0, microseconds * 1000};
    nanosleep(&time, 0);
}

// Called by exit(3). A thread that enters after the state has changed finds the gate closed; a thread that entered
// before it is counted: both variables are sequentially consistent.
static void close_gate(void) {
    exiting_thread = pthread_self();
    atomic_store(&cexitgate_state, CLOSED);
    // A program may call exit(3) inside, in the body of a transaction.
    int own = depth > 0;
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    while (atomic_load(&inside) > own) {
        sleep_microseconds(50);
        clock_gettime(CLOCK_MONOTONIC, &now);
        long elapsed = (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000;
        if (elapsed > maximum_wait_milliseconds) return;
    }
}

// Of the threads, a child process has only the one that called fork(2).
static void forget_threads(void) { atomic_store(&inside, depth > 0); }

// MARK: Preparing

static void prepare(void) {
    // If the program has not initialised libcrypto before, libcrypto never cleans up: then functions that the program
    // passes to atexit(3) and threads that are inside for too long find it intact.
#ifdef OPENSSL_INIT_NO_ATEXIT
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, 0);
#endif
    // exit(3) calls the functions in the reverse order, and the destructors of libraries after all of them. So the gate
    // closes before libcrypto cleans up, whether the program or this function has initialised it.
    atexit(close_gate);
    pthread_atfork(0, 0, forget_threads);
    int unprepared = UNPREPARED;
    atomic_compare_exchange_strong(&cexitgate_state, &unprepared, OPEN);
}

// MARK: Entering

static void wait_for_end(void) {
    cexitgate_begin_waiting();
    while (1) pause();
}

int cexitgate_enter(void) {
    if (depth == 0) atomic_fetch_add(&inside, 1);
    depth++;
    if (__builtin_expect(atomic_load(&cexitgate_state) == OPEN, 1)) return 1;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    if (!cexitgate_is_closed()) return 1;
    if (!is_exiting_thread()) wait_for_end();
    cexitgate_leave();
    return 0;
}

void cexitgate_leave(void) {
    depth--;
    if (depth == 0) atomic_fetch_sub(&inside, 1);
}

void cexitgate_begin_waiting(void) {
    if (depth > 0) atomic_fetch_sub(&inside, 1);
}

void cexitgate_end_waiting(void) {
    if (depth > 0) atomic_fetch_add(&inside, 1);
    if (atomic_load(&cexitgate_state) == CLOSED) cexitgate_wait_if_not_exiting();
}

void cexitgate_wait_if_not_exiting(void) {
    if (!is_exiting_thread()) wait_for_end();
}
