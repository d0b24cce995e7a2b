// SPDX-License-Identifier: MIT
// Writes generated code.
#pragma once

#include <string>

#include "rpc/codegen/model.h"

namespace corolane::rpc::codegen {

// X.corolane.h: an abstract class and a client for each service.
std::string header_text(const FileModel& file);

// X.corolane.cc: their tables of methods.
std::string source_text(const FileModel& file);

}  // namespace corolane::rpc::codegen
