// SPDX-License-Identifier: MIT
// The checker compares the callers that an object remembers from write to write (I4).
#include "framework/testing/ownership_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace corolane::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Stored {
  const char* caller;
  std::uint64_t last;
  std::int64_t time_milliseconds;
};

class OwnershipCheckerTest : public testing::Test {
 protected:
  void write(std::initializer_list<Stored> callers) {
    framework::ObjectRecord record;
    for (const Stored& stored : callers) {
      framework::AppliedCaller& caller = *record.add_callers();
      caller.set_caller(stored.caller);
      caller.set_last(stored.last);
      caller.set_time_milliseconds(stored.time_milliseconds);
    }
    last_written_ = record.SerializeAsString();
    checker_.on_written({.type = "Guild", .id = "lions"}, 1, ++version_, last_written_);
  }

  std::uint64_t version_ = 0;
  std::string last_written_;
  std::vector<std::string> violations_;
  OwnershipChecker checker_{[](framework::Partition) { return 1; },
                            [this](std::string what) { violations_.push_back(std::move(what)); }};
};

TEST_F(OwnershipCheckerTest, AReplyWithoutALeaseNeedsAProofOfItsOwn) {
  const framework::OwnerReply reply = {.type = "Guild",
                                       .id = "lions",
                                       .partition = 0,
                                       .epoch = 5,
                                       .proof = framework::Proof::question};
  checker_.on_sealed({.type = "Guild", .id = "lions"}, 5);
  checker_.on_reply(1, reply);
  EXPECT_THAT(violations_, IsEmpty());
  checker_.on_reply(1, reply);
  EXPECT_THAT(violations_, ElementsAre(HasSubstr("replied under epoch 5 without a proof")));
}

TEST_F(OwnershipCheckerTest, AcceptsRequestsThatTakeEffectOnce) {
  write({{"ada", 1, 100}});
  write({{"ada", 1, 100}, {"bob", 4, 120}});
  write({{"bob", 4, 120}, {"ada", 2, 130}});
  EXPECT_THAT(violations_, IsEmpty());
}

TEST_F(OwnershipCheckerTest, CatchesARequestThatTakesEffectAgain) {
  write({{"ada", 1, 100}});
  write({{"ada", 1, 105}});
  EXPECT_THAT(violations_,
              ElementsAre(HasSubstr("request 1 of ada took effect in version 1 and again in 2")));
}

TEST_F(OwnershipCheckerTest, CatchesARequestThatTakesEffectAgainAfterItWasForgotten) {
  write({{"ada", 1, 100}});
  write({{"bob", 1, 101}});
  write({{"bob", 1, 101}, {"ada", 1, 102}});
  EXPECT_THAT(violations_,
              ElementsAre(HasSubstr("request 1 of ada is forgotten"),
                          HasSubstr("request 1 of ada took effect in version 1 and again in 3")));
}

TEST_F(OwnershipCheckerTest, CatchesALaterRequestThatIsForgottenForAnEarlierOne) {
  write({{"ada", 7, 100}});
  write({{"ada", 6, 105}});
  EXPECT_THAT(violations_, ElementsAre(HasSubstr("request 7 of ada is forgotten")));
}

TEST_F(OwnershipCheckerTest, LetsARequestTakeEffectAgainWhenTheStoreHasLostIt) {
  const framework::ObjectKey key{.type = "Guild", .id = "lions"};
  framework::MemoryStore store;
  ASSERT_TRUE(store.seal(key, 1, Deadline::never()));
  write({{"ada", 1, 100}});
  ASSERT_TRUE(store.write(key, 1, 0, {.bytes = last_written_}, Deadline::never()));
  write({{"ada", 2, 110}});
  EXPECT_EQ(checker_.request_count(key), 2U);
  checker_.on_set_back(store);
  EXPECT_EQ(checker_.request_count(key), 1U);
  version_ = 1;
  write({{"ada", 2, 120}});
  EXPECT_THAT(violations_, IsEmpty());
  write({{"ada", 1, 130}});
  EXPECT_THAT(violations_, ElementsAre(HasSubstr("request 1 of ada took effect in version 1")))
      << "that one was not lost";
}

TEST_F(OwnershipCheckerTest, LetsAnObjectForgetOldRequests) {
  write({{"ada", 1, 100}});
  write({{"bob", 1, 600'100}});
  EXPECT_THAT(violations_, IsEmpty());
}

}  // namespace
}  // namespace corolane::sim
