// SPDX-License-Identifier: MIT
#include "framework/wire/detail/call_chain.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"

namespace corolane::framework::detail {
namespace {

using test::fails_with;
using Link = CallChain::Link;

std::shared_ptr<const Link> chain_of(int count) {
  std::shared_ptr<const Link> link;
  for (int i = 0; i < count; ++i) link = std::make_shared<Link>(std::move(link), "test.A/Add", "1");
  return link;
}

TEST(CallChainTest, ALongChainIsFreedOnASmallStack) {
  for (const std::size_t stack_size_bytes : {16 * 1024UZ, 64 * 1024UZ}) {
    auto task = coroutine::spawn("small", [] { chain_of(15'000).reset(); },
                                 {.stack_size_bytes = stack_size_bytes});
    EXPECT_TRUE(task.join(Deadline::never()));
  }
}

TEST(CallChainTest, ASharedChainLivesAsLongAsItsUsers) {
  auto shared = chain_of(3);
  std::weak_ptr<const Link> first = shared->parent->parent;
  {
    const auto longer = std::make_shared<Link>(shared, "test.B/Add", "2");
    EXPECT_EQ(calls_of(longer.get()).size(), 4U);
  }
  EXPECT_EQ(calls_of(shared.get()).size(), 3U);
  shared.reset();
  EXPECT_TRUE(first.expired());
}

TEST(CallChainTest, AnEndedLinkReleasesItsChain) {
  auto outer = chain_of(3);
  const auto inner = std::make_shared<Link>(std::exchange(outer, nullptr), "test.B/Add", "2");
  std::weak_ptr<const Link> before = inner->parent;
  inner->end();
  EXPECT_TRUE(before.expired());
  EXPECT_TRUE(calls_of(inner.get()).empty());
}

TEST(CallChainTest, TheLengthOfAChainIsBounded) {
  std::vector<rpc::ObjectCall> calls(CallChain::length_max);
  const auto longest = link_of(calls);
  ASSERT_TRUE(longest);
  EXPECT_THAT(check_may_call(longest->get(), "test.B/Add", "test.B", "2"),
              fails_with(Code::failed_precondition));
  EXPECT_TRUE(check_may_call((*longest)->parent.get(), "test.B/Add", "test.B", "2"));
  calls.emplace_back();
  EXPECT_THAT(link_of(calls), fails_with(Code::failed_precondition));
}

}  // namespace
}  // namespace corolane::framework::detail
