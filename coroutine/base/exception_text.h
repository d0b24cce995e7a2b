// SPDX-License-Identifier: MIT
// Describes the exception that is being handled, for errors and logs.
//
//   // In a catch block.
//   return Error(Code::internal, "the handler threw an exception" + exception_text());
#pragma once

#include <string>

namespace corolane {

// ": vector::_M_range_check (std::out_of_range)" for a std::exception, " (int)" for anything else.
// Called in a catch block.
std::string exception_text();

}  // namespace corolane
