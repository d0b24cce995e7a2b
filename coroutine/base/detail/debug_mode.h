// SPDX-License-Identifier: MIT
// Tells whether this file is compiled in the debug mode of libstdc++.
//
// -D_GLIBCXX_DEBUG gives the containers other members and other names. So a program and the library
// must both be built with it, or both without, or the linker refuses them: every file that includes
// this refers to a symbol that only a matching library defines. The name of the symbol is what the
// linker reports, so it says the reason and the remedy.
#pragma once

#include <version>

#if defined(_GLIBCXX_DEBUG)
#define COROLANE_CONTAINERS_THAT_FIT \
  corolane_library_is_built_without_GLIBCXX_DEBUG_use_GLIBCXX_ASSERTIONS_instead
#else
#define COROLANE_CONTAINERS_THAT_FIT corolane_library_is_built_with_GLIBCXX_DEBUG_define_it_too
#endif
// Defined in debug_mode.cc.
extern "C" const char COROLANE_CONTAINERS_THAT_FIT;

namespace corolane::detail {

// Kept by the compiler and by --gc-sections, although it is never read.
[[gnu::used, gnu::retain]] static const char* const containers_that_fit =
    &COROLANE_CONTAINERS_THAT_FIT;

}  // namespace corolane::detail
