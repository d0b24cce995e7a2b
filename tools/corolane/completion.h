// SPDX-License-Identifier: MIT
// corolane completion: lets a shell complete the words of `corolane`.
#pragma once

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

extern const Command completion_command;

}  // namespace corolane::tools::cli
