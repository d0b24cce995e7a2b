// SPDX-License-Identifier: MIT
// Filters around a call, on either side.
#pragma once

#include <cstddef>
#include <vector>

#include "rpc/filter.h"

namespace corolane::rpc::detail {

// The remaining filters around `end`, which is what they are around.
template <typename Filter, typename Call, typename End>
struct FilterChain {
  Result<void> run(std::size_t index) {
    if (index == filters.size()) return end();
    return filters[index](
        call, Next([](void* chain,
                      std::size_t next) { return static_cast<FilterChain*>(chain)->run(next); },
                   this, index + 1));
  }

  const std::vector<Filter>& filters;
  Call& call;
  End& end;
};

// Calls `end`, a function that returns Result<void>, inside of the filters. Suspends as they do.
template <typename Filter, typename Call, typename End>
Result<void> with_filters(const std::vector<Filter>& filters, Call& call, End end) {
  return FilterChain<Filter, Call, End>{.filters = filters, .call = call, .end = end}.run(0);
}

}  // namespace corolane::rpc::detail
