// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/sanitizer.h"

// Its name depends on the sanitizer that this file is compiled with.
const char COROLANE_LIBRARY_THAT_FITS = 0;
