// SPDX-License-Identifier: MIT
#include "framework/node/detail/node_pages.h"

#include "coroutine/base/text.h"
#include "coroutine/call_on.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> NodePages::get(const std::string& target, Deadline deadline) const {
  if (!target.starts_with("/objects/") && !target.starts_with("/cluster?")) {
    return Error(Code::invalid_argument, "no page for other nodes: " + quote(target));
  }
  return coroutine::call_on(*scheduler_, "page for another node", [&] { return get_(target); },
                            deadline,
                            {.task = {.purpose = coroutine::StackPool::Purpose::control}});
}

}  // namespace corolane::framework::detail
