// SPDX-License-Identifier: MIT
#include "net/uv/detail/uv_error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace corolane::net::detail {
namespace {

TEST(UvErrorTest, SaysWhatFailedAndWhy) {
  EXPECT_EQ(uv_error(-ECONNREFUSED, "connect to 127.0.0.1:8460"),
            Error(Code::unavailable, "connect to 127.0.0.1:8460: connection refused"));
}

// The error of a machine that has no port left for another connection.
TEST(UvErrorTest, RunningOutOfPortsIsUnavailable) {
  EXPECT_EQ(uv_error(-EADDRNOTAVAIL, "connect").code(), Code::unavailable);
}

}  // namespace
}  // namespace corolane::net::detail
