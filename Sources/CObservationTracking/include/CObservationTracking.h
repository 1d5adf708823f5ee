// Tells whether the calling thread is inside `withObservationTracking`, which Swift's Observation library keeps in a
// variable of the thread that it does not publish.
//
// The variable is looked for by what it does: see `TrackingDetection` in SealedData.

#ifndef COBSERVATIONTRACKING_H
#define COBSERVATIONTRACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Finds the variables of the calling thread that belong to the library or program with an address in it.
///
/// Returns how many words they take, or 0 where there are none or the platform does not tell.
size_t cobservationtracking_find(const void *address);

/// A word of the variables of the calling thread. `cobservationtracking_find` must have found that many.
uintptr_t cobservationtracking_word(size_t number);

/// Chooses the word that is not 0 inside `withObservationTracking`.
void cobservationtracking_choose(size_t number);

/// Whether the chosen word of the calling thread is not 0.
bool cobservationtracking_is_set(void);

#endif
