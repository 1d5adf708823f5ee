// The target has inline functions only.
#include "CAllocator.h"
