// SPDX-License-Identifier: MIT
// The build id of the test program itself.
#include "framework/telemetry/build_id.h"

#include <gtest/gtest.h>

namespace corolane::framework {
namespace {

TEST(BuildIdTest, TheLinkerGivesTheProgramASha1) { EXPECT_EQ(own_build_id().size(), 20u); }

}  // namespace
}  // namespace corolane::framework
