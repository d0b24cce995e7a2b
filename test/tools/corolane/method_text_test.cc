// SPDX-License-Identifier: MIT
// The list of methods.
#include "tools/corolane/method_text.h"

#include <gtest/gtest.h>

namespace corolane::tools::cli {
namespace {

TEST(MethodTextTest, ServicesOfEveryNodeAreListedLast) {
  rpc::ListServicesReply reply;
  for (const char* name : {"corolane.framework.Push", "corolane.rpc.Reflection", "game.Guild"}) {
    reply.add_services()->set_name(name);
  }
  EXPECT_EQ(method_list(reply),
            "game.Guild\n"
            "\n"
            "corolane.framework.Push\n"
            "\n"
            "corolane.rpc.Reflection\n");
  reply.mutable_services()->RemoveLast();
  EXPECT_EQ(method_list(reply),
            "corolane.framework.Push\n"
            "\n"
            "corolane.rpc.Reflection\n");
}

}  // namespace
}  // namespace corolane::tools::cli
