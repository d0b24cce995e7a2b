// SPDX-License-Identifier: MIT
// The options of a method as sentences, for the comments of generated code.
#pragma once

#include "rpc/codegen/model.h"

namespace corolane::rpc::codegen {

// Sentences for callers; empty for a method with default options.
Sentences promises_to_callers(const MethodModel& method);

// The same for implementers.
Sentences promises_to_handlers(const MethodModel& method);

}  // namespace corolane::rpc::codegen
