// SPDX-License-Identifier: MIT
#include "coroutine/base/detail/debug_mode.h"

// Its name depends on the mode that this file is compiled in.
const char COROLANE_CONTAINERS_THAT_FIT = 0;
