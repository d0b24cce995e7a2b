// What the options of a method promise, in words, for the comments of generated code.
#pragma once

#include <string>

#include "rpc/codegen/model.h"

namespace corolane::rpc::codegen {

// Sentences for those who call it; empty for a method that is as methods are.
std::string promises_to_callers(const MethodModel& method);

// The same for those who implement it.
std::string promises_to_handlers(const MethodModel& method);

}  // namespace corolane::rpc::codegen
