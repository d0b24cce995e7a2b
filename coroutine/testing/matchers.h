// SPDX-License-Identifier: MIT
// Matchers for results, to use in EXPECT_THAT.
//
//   EXPECT_THAT(task.join(Deadline::never()), fails_with(Code::cancelled));
#pragma once

#include <gmock/gmock.h>

#include "coroutine/base/result.h"

namespace corolane::test {

// EXPECT_THAT(task.join(Deadline::never()), fails_with(Code::cancelled));
MATCHER_P(fails_with, code, std::string("is the error ") + std::string(to_string(code))) {
  return !arg.has_value() && arg.error().code() == code;
}

}  // namespace corolane::test
