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
bool cobservationtracking_is_set(void);

#endif
