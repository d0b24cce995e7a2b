// SPDX-License-Identifier: MIT
#include "rpc/context.h"

#include "rpc/service.h"

namespace corolane::rpc {

std::string_view Context::method() const { return method_->full_name; }

}  // namespace corolane::rpc
