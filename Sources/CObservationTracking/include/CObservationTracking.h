// Tests whether the calling thread is inside `withObservationTracking`, which Swift's Observation library keeps in a
// private thread-local variable.
//
// The variable is found by its behaviour: see `TrackingDetection` in SealedData.

#ifndef COBSERVATIONTRACKING_H
#define COBSERVATIONTRACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Finds the calling thread's thread-local storage of the library or program that contains an address.
///
/// Returns its number of words, or 0 if there is none or the platform does not provide it.
size_t cobservationtracking_find(const void *address);

/// Returns a word of the calling thread's storage. `number` must be less than the result of
/// `cobservationtracking_find`.
uintptr_t cobservationtracking_word(size_t number);

/// Selects the word that is not 0 inside `withObservationTracking`.
void cobservationtracking_choose(size_t number);

/// Whether the selected word of the calling thread is not 0.
///
/// The address of the word is kept for `cobservationtracking_state`.
bool cobservationtracking_is_set(void);

/// Whether the calling thread is inside `withObservationTracking`, if it has kept the address of its word.
enum cobservationtracking_state {
  cobservationtracking_outside,
  cobservationtracking_inside,
  /// The thread has not called `cobservationtracking_is_set`.
  cobservationtracking_unknown,
};

#if defined(__linux__) && defined(__GLIBC__)
#define COBSERVATIONTRACKING_KEEPS_ADDRESS 1

/// The address of the selected word of a thread, or NULL. The model of its storage makes a read of it one instruction;
/// it needs 8 of the bytes that the loader reserves for libraries that are loaded later.
extern _Thread_local const uintptr_t *cobservationtracking_kept __attribute__((tls_model("initial-exec")));

static inline enum cobservationtracking_state cobservationtracking_state(void) {
  const uintptr_t *word = cobservationtracking_kept;
  if (word == NULL) return cobservationtracking_unknown;
  return *word != 0 ? cobservationtracking_inside : cobservationtracking_outside;
}
#else
static inline enum cobservationtracking_state cobservationtracking_state(void) { return cobservationtracking_unknown; }
#endif

#endif
