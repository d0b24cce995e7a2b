#include "coroutine/detail/sanitizer.h"

// The name depends on the flags, and files with the same flags ask for it.
const char COROLANE_LIBRARY_THAT_FITS = 0;
