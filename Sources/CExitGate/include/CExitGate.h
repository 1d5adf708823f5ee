// A gate in front of SQLCipher and libcrypto, which closes when the process begins to exit.
//
// exit(3), and the return from `main`, call the clean-up functions of libraries while the other threads run on.
// libcrypto and newer versions of SQLCipher free there what a thread needs that encrypts or decrypts a page. So before
// those functions run, the gate makes each other thread that uses SQLCipher wait, until the process has ended:
//
//     exiting thread                     thread inside                      thread outside
//     closes the gate                    decrypts a page                    computes
//     waits for the threads inside       reads the next page: waits         fetches: waits
//     frees the memory of libcrypto
//     ends the process
//
// For the files, the process ends as if it were killed: a transaction that is not committed is rolled back.
//
// _exit(2), quick_exit(3), signals and traps call no clean-up function of a library: they need no gate.

#ifndef CEXITGATE_H
#define CEXITGATE_H

#include <stdatomic.h>

// Enters the gate, before the calling thread uses SQLCipher or libcrypto. Calls nest.
//
// Returns 1; 0 if the process is ending and this is the thread that ends it, which may use neither any more. Other
// threads wait for the end of the process.
int cexitgate_enter(void);

// Reverses one call of `cexitgate_enter` that returned 1.
void cexitgate_leave(void);

// Lets the process end while the calling thread, which may be inside, waits for another thread, a lock or the disk.
void cexitgate_begin_waiting(void);

// Reverses `cexitgate_begin_waiting`. If the gate has closed, the thread waits for the end of the process.
void cexitgate_end_waiting(void);

extern atomic_int cexitgate_state;

// Whether the process is ending.
static inline int cexitgate_is_closed(void) { return atomic_load_explicit(&cexitgate_state, memory_order_acquire) < 0; }

void cexitgate_wait_if_not_exiting(void);

// Called inside, before each access to a page. If the gate has closed, the thread waits for the end of the process.
static inline void cexitgate_pass(void) {
    if (__builtin_expect(cexitgate_is_closed(), 0)) cexitgate_wait_if_not_exiting();
}

#endif
