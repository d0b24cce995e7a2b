// The options of a method as sentences, for the comments of generated code.
#pragma once

#include <string>

#include "rpc/codegen/model.h"

namespace corolane::rpc::codegen {

// Sentences for callers; empty for a method with default options.
std::string promises_to_callers(const MethodModel& method);

// The same for implementers.
std::string promises_to_handlers(const MethodModel& method);

}  // namespace corolane::rpc::codegen
