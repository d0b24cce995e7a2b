// SPDX-License-Identifier: MIT
#include "framework/store/detail/redis_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace corolane::framework::detail {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(RedisErrorTest, SaysWhatToDo) {
  const std::pair<const char*, const char*> errors[] = {
      {"READONLY You can't write against a read only replica.", "must lead to its master"},
      {"MASTERDOWN Link with MASTER is down", "start that one, or let node.store.redis.servers"},
      {"LOADING Redis is loading the dataset in memory", "see redis-cli info persistence"},
      {"NOREPLICAS Not enough good replicas to write.", "see min-replicas-to-write"},
      {"CLUSTERDOWN Hash slot not served", "see redis-cli --cluster check"},
      {"MOVED 3999 127.0.0.1:6381", "set node.store.redis.cluster"},
      {"ASK 3999 127.0.0.1:6381", "set node.store.redis.cluster"},
      {"CROSSSLOT Keys in request don't hash to the same slot", "set node.store.redis.cluster"},
      {"ERR unknown command 'EVAL', with args beginning with: ", "lists the masters themselves"}};
  for (const auto& [text, advice] : errors) {
    EXPECT_THAT(redis_error(text).message(), AllOf(HasSubstr(advice), HasSubstr(text)));
  }
}

}  // namespace
}  // namespace corolane::framework::detail
