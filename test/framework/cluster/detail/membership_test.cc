// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/directory/local_directory.h"
#include "test/framework/cluster/members.h"
#include "test/framework/directory/faulty_directory.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A member of a directory in which a lease lasts six seconds, and the fence falls 4.5 seconds after
// the last answered keepalive was sent.
class MembershipTest : public testing::Test {
 protected:
  MembershipTest() : membership_(make(directory_)) {}

  std::unique_ptr<Membership> make(Directory& directory) {
    return std::make_unique<Membership>(
        directory, fence_, log_,
        Membership::Options{.keepalive_time_max = keepalive_time_max_,
                            .serves_without_directory = serves_without_directory_,
                            .longest_silence = [this] { return silence(); },
                            .on_lease =
                                [this](Directory::Lease lease) {
                                  leases_.push_back(lease);
                                  key_count_at_lease_ = keys().size();
                                  directory_.loses_answers = loses_answers_after_lease_;
                                }});
  }
  // Suspends for one millisecond for each of the two requests.
  void join() {
    const auto joined = membership_->join(self_, Deadline::after(10s));
    ASSERT_TRUE(joined) << joined;
  }
  coroutine::Task<Code> start_keeping() {
    return coroutine::spawn("keep", [this] { return membership_->keep(check_).code(); });
  }
  std::optional<Directory::Entry> entry() const { return table_.find(test::node_key(self_)); }
  std::vector<std::string> keys() {
    const auto snapshot = test::read_all(table_);
    std::vector<std::string> keys;
    for (const auto& entry : snapshot.entries) keys.push_back(entry.key);
    return keys;
  }
  ShardSilence silence() const {
    return hangs_since_ ? ShardSilence{.shard = 3, .time = now() - *hangs_since_} : ShardSilence{};
  }
  // The fence has fallen because the membership said so, not because time has passed.
  bool is_fenced() const { return fence_.at() == TimePoint::min(); }

  LocalDirectory table_{1'000};
  test::FaultyDirectory directory_{table_};
  Fence fence_{now};
  std::vector<std::string> lines_;
  Log log_{LogLevel::error, [this](std::string_view line) { lines_.emplace_back(line); }};
  std::optional<TimePoint> hangs_since_;  // Shard 3.
  std::vector<Directory::Lease> leases_;
  std::optional<std::size_t> key_count_at_lease_;
  bool loses_answers_after_lease_ = false;
  bool serves_without_directory_ = false;
  Membership::CheckDirectory check_ = [](Deadline) { return Result<void>(); };
  Duration keepalive_time_max_ = 1s;
  Member self_ = test::player_node("a");
  std::unique_ptr<Membership> membership_;
};

TEST_F(MembershipTest, JoiningWritesTheKeyOfTheNode) {
  join();
  ASSERT_TRUE(entry());
  EXPECT_EQ(entry()->value, ClusterTable::to_value(self_));
  EXPECT_EQ(entry()->created_at, self_.epoch);
  EXPECT_TRUE(fence_.is_in_time());
}

TEST_F(MembershipTest, TheKeyEndsWithTheLeaseOfANodeThatFallsSilent) {
  const TimePoint start = now();
  join();
  ASSERT_TRUE(coroutine::sleep_until(Deadline::at(start + 6s)));
  EXPECT_TRUE(entry());
  EXPECT_FALSE(fence_.is_in_time()) << "the fence falls before the lease ends";
  ASSERT_TRUE(coroutine::sleep_for(2ms));
  EXPECT_FALSE(entry());
}

TEST_F(MembershipTest, TheFenceCountsFromTheRequestOfTheLease) {
  directory_.delay = 800ms;
  const TimePoint start = now();
  join();
  EXPECT_EQ(now() - start, 1'600ms);
  EXPECT_EQ(fence_.at(), start + 4'500ms);
}

TEST_F(MembershipTest, TheLeaseIsReportedBeforeAKeyIsAttachedToIt) {
  join();
  EXPECT_THAT(leases_, SizeIs(1));
  EXPECT_EQ(key_count_at_lease_, 0U);
}

TEST_F(MembershipTest, EachJoinIsANewIncarnation) {
  join();
  const Member first = self_;
  membership_->leave(Deadline::after(1s));
  join();
  EXPECT_NE(self_.incarnation, first.incarnation);
  EXPECT_GT(self_.epoch, first.epoch);
}

TEST_F(MembershipTest, AJoinThatFailsHalfwayLeavesNoLeaseBehind) {
  loses_answers_after_lease_ = true;
  EXPECT_THAT(membership_->join(self_, Deadline::after(1s)), fails_with(Code::unavailable));
  EXPECT_THAT(leases_, SizeIs(1));
  EXPECT_THAT(table_.keep_alive(leases_.at(0), Deadline::never()), fails_with(Code::not_found));
  EXPECT_THAT(keys(), IsEmpty());
  EXPECT_TRUE(is_fenced());
}

TEST_F(MembershipTest, AnUnreachableDirectoryFailsTheJoin) {
  directory_.cut();
  const TimePoint start = now();
  EXPECT_THAT(membership_->join(self_, Deadline::after(3s)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 3s);
  EXPECT_FALSE(fence_.is_in_time());
}

TEST_F(MembershipTest, AKeptLeaseLastsAndTheFenceStays) {
  join();
  auto keeping = start_keeping();
  for (int i = 0; i < 6'000; ++i) {
    ASSERT_TRUE(coroutine::sleep_for(10ms));
    // An interval may have passed, and before it the way there and back of a join's two requests.
    ASSERT_GE(fence_.time_left(), 4'500ms - 1'500ms - 3ms);
  }
  EXPECT_TRUE(entry());
  keeping.cancel();
  EXPECT_EQ(keeping.join(Deadline::never()), Code::cancelled);
  EXPECT_TRUE(fence_.is_in_time()) << "a cancelled node is not a fenced one";
}

TEST_F(MembershipTest, TheFenceCountsFromTheRequestOfAKeepalive) {
  join();
  const TimePoint joined_at = now();
  auto keeping = start_keeping();
  directory_.delay = 900ms;
  ASSERT_TRUE(coroutine::sleep_until(Deadline::at(joined_at + 2'399ms)));
  EXPECT_LT(fence_.at(), joined_at + 4'500ms) << "the answer is on its way";
  ASSERT_TRUE(coroutine::sleep_for(2ms));
  EXPECT_EQ(fence_.at(), joined_at + 1'500ms + 4'500ms);
  // The next one follows an interval after the last was sent.
  ASSERT_TRUE(coroutine::sleep_for(1'500ms));
  EXPECT_EQ(fence_.at(), joined_at + 3'000ms + 4'500ms);
  keeping.cancel();
}

TEST_F(MembershipTest, ASilentDirectoryFencesTheNodeBeforeItsLeaseEnds) {
  const TimePoint start = now();
  join();
  auto keeping = start_keeping();
  directory_.cut();
  EXPECT_EQ(keeping.join(Deadline::never()), Code::unavailable);
  EXPECT_EQ(now() - start, 4'500ms);
  EXPECT_FALSE(fence_.is_in_time());
  EXPECT_TRUE(entry()) << "no other node owns its partitions yet";
}

// It may go on without its directory.
class LoneMembershipTest : public MembershipTest {
 protected:
  LoneMembershipTest() {
    serves_without_directory_ = true;
    membership_ = make(directory_);
  }
};

TEST_F(LoneMembershipTest, ServesOnWithoutALeaseWhenTheDirectoryIsSilent) {
  const TimePoint start = now();
  join();
  auto keeping = start_keeping();
  directory_.cut();
  ASSERT_TRUE(coroutine::sleep_until(Deadline::at(start + 4'499ms)));
  EXPECT_TRUE(fence_.has_lease());
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_FALSE(fence_.has_lease());
  ASSERT_TRUE(coroutine::sleep_for(1h));
  EXPECT_FALSE(fence_.has_lease());
  EXPECT_TRUE(fence_.is_in_time());
  keeping.cancel();
}

TEST_F(LoneMembershipTest, ServesOnWhileAKeepaliveIsSlow) {
  keepalive_time_max_ = 10s;
  membership_ = make(directory_);
  join();
  auto keeping = start_keeping();
  directory_.cut();
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_TRUE(fence_.is_in_time());
  keeping.cancel();
}

TEST_F(LoneMembershipTest, HasItsLeaseAgainWhenTheDirectoryStillKnowsIt) {
  const TimePoint start = now();
  join();
  auto keeping = start_keeping();
  directory_.cut();
  ASSERT_TRUE(coroutine::sleep_until(Deadline::at(start + 5'000ms)));
  EXPECT_FALSE(fence_.has_lease());
  directory_.mend();
  ASSERT_TRUE(coroutine::sleep_for(200ms));
  EXPECT_TRUE(fence_.has_lease());
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_TRUE(fence_.has_lease());
  keeping.cancel();
}

TEST_F(LoneMembershipTest, IsFencedWhenTheDirectoryHasForgottenItsLease) {
  join();
  auto keeping = start_keeping();
  directory_.cut();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_TRUE(fence_.is_in_time());
  directory_.mend();
  EXPECT_EQ(keeping.join(Deadline::after(2s)), Code::not_found);
  EXPECT_TRUE(is_fenced());
}

TEST_F(LoneMembershipTest, IsFencedWhenAnotherDirectoryKnowsALeaseOfThatNumber) {
  const TimePoint start = now();
  std::size_t check_count = 0;
  check_ = [&](Deadline) -> Result<void> {
    ++check_count;
    return Error(Code::failed_precondition, "it was replaced");
  };
  join();
  auto keeping = start_keeping();
  directory_.cut();
  ASSERT_TRUE(coroutine::sleep_until(Deadline::at(start + 5s)));
  EXPECT_FALSE(fence_.has_lease());
  EXPECT_TRUE(entry()) << "the lease lives on there";
  directory_.mend();
  EXPECT_EQ(keeping.join(Deadline::after(2s)), Code::failed_precondition);
  EXPECT_EQ(check_count, 1U);
  EXPECT_TRUE(is_fenced());
}

TEST_F(LoneMembershipTest, ChecksNoDirectoryThatAnswersInTime) {
  check_ = [](Deadline) { return Result<void>(Error(Code::failed_precondition, "asked")); };
  join();
  auto keeping = start_keeping();
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_TRUE(fence_.has_lease());
  keeping.cancel();
}

TEST_F(LoneMembershipTest, HasNoLeaseUntilTheDirectoryIsKnownToBeTheSame) {
  bool is_silent = true;
  check_ = [&](Deadline) {
    return is_silent ? Result<void>(Error(Code::unavailable, "no answer")) : Result<void>();
  };
  const TimePoint start = now();
  join();
  auto keeping = start_keeping();
  directory_.cut();
  ASSERT_TRUE(coroutine::sleep_until(Deadline::at(start + 5s)));
  directory_.mend();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_FALSE(fence_.has_lease());
  EXPECT_TRUE(fence_.is_in_time());
  is_silent = false;
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_TRUE(fence_.has_lease());
  keeping.cancel();
}

TEST_F(LoneMembershipTest, IsFencedWhenAShardHangs) {
  join();
  auto keeping = start_keeping();
  directory_.cut();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  hangs_since_ = now();
  EXPECT_EQ(keeping.join(Deadline::after(10s)), Code::unavailable);
  EXPECT_FALSE(fence_.is_in_time());
}

TEST_F(LoneMembershipTest, IsFencedWhenItsKeyIsGone) {
  join();
  auto keeping = start_keeping();
  directory_.cut();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  membership_->lose();
  EXPECT_FALSE(fence_.is_in_time());
  EXPECT_EQ(keeping.join(Deadline::after(2s)), Code::not_found);
  EXPECT_TRUE(is_fenced()) << "and nothing has raised the fence";
}

TEST_F(MembershipTest, AFailedKeepaliveIsRepeatedSoon) {
  const TimePoint start = now();
  join();
  auto keeping = start_keeping();
  directory_.cut();
  // The first keepalive has failed after a second, and the next one is on its way.
  ASSERT_TRUE(coroutine::sleep_until(Deadline::at(start + 2'700ms)));
  directory_.mend();
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_GT(fence_.at(), start + 2'500ms + 4'500ms);
  keeping.cancel();
}

TEST_F(MembershipTest, AShardThatHangsCostsTheNodeItsLease) {
  const TimePoint start = now();
  join();
  auto keeping = start_keeping();
  ASSERT_TRUE(coroutine::sleep_until(Deadline::at(start + 60s)));
  hangs_since_ = now();
  ASSERT_TRUE(coroutine::sleep_for(3s));
  const TimePoint end = fence_.at();
  EXPECT_GT(end, now() + 2'900ms) << "stalls that end by themselves cost nothing";
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_EQ(keeping.join(Deadline::never()), Code::unavailable);
  EXPECT_EQ(now(), end) << "no keepalive has raised the fence meanwhile";
  EXPECT_TRUE(entry()) << "no other node owns its partitions yet";
  ASSERT_THAT(lines_, SizeIs(1)) << "one line, however often it was looked at";
  EXPECT_THAT(lines_[0], HasSubstr("a shard hangs"));
  EXPECT_THAT(lines_[0], HasSubstr("shard=3"));
}

TEST_F(MembershipTest, TheFenceOfANodeWithAShardThatHungNamesTheShardAsItsReason) {
  join();
  hangs_since_ = now();
  const Error reason = membership_->keep(check_);
  EXPECT_THAT(reason.message(), HasSubstr("shard 3 hangs"));
}

TEST_F(MembershipTest, AShardThatTurnsAgainInTimeKeepsTheLease) {
  const TimePoint start = now();
  join();
  auto keeping = start_keeping();
  for (int i = 1; i <= 3; ++i) {
    hangs_since_ = now();
    ASSERT_TRUE(coroutine::sleep_for(5s));
    EXPECT_TRUE(fence_.is_in_time());
    hangs_since_.reset();
    ASSERT_TRUE(coroutine::sleep_for(102ms));
    EXPECT_GT(fence_.time_left(), 4'300ms) << "the keepalive that was kept back is sent";
    ASSERT_TRUE(coroutine::sleep_for(5s));
    EXPECT_THAT(lines_, SizeIs(i)) << "each time is told";
  }
  EXPECT_GT(fence_.at(), start + 30s);
  keeping.cancel();
}

TEST_F(MembershipTest, AnEndedLeaseFencesTheNodeAtItsNextKeepalive) {
  join();
  ASSERT_THAT(leases_, SizeIs(1));
  ASSERT_TRUE(table_.revoke(leases_[0], Deadline::never()));
  const TimePoint start = now();
  EXPECT_EQ(membership_->keep(check_).code(), Code::not_found);
  EXPECT_EQ(now() - start, 1'501ms);
  EXPECT_TRUE(is_fenced());
}

TEST_F(MembershipTest, ANodeThatHasLostItsKeyIsFencedAtOnce) {
  join();
  auto keeping = start_keeping();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  membership_->lose();
  EXPECT_TRUE(is_fenced());
  EXPECT_EQ(keeping.join(Deadline::never()), Code::not_found);
  EXPECT_TRUE(is_fenced());
}

TEST_F(MembershipTest, ALateAnswerDoesNotRaiseTheFenceOfANodeThatHasLostItsKey) {
  join();
  auto keeping = start_keeping();
  directory_.delay = 800ms;
  ASSERT_TRUE(coroutine::sleep_for(1'700ms));
  membership_->lose();
  EXPECT_EQ(keeping.join(Deadline::never()), Code::not_found);
  EXPECT_TRUE(is_fenced());
}

TEST_F(MembershipTest, ANodeThatHasLostItsKeyMayJoinAgain) {
  join();
  membership_->lose();
  join();
  EXPECT_TRUE(fence_.is_in_time());
  auto keeping = start_keeping();
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_TRUE(fence_.is_in_time());
  keeping.cancel();
}

TEST_F(MembershipTest, LeavingRemovesTheKeysAtOnce) {
  join();
  ASSERT_TRUE(membership_->announce_draining(self_, Deadline::after(1s)));
  EXPECT_TRUE(table_.find(ClusterTable::draining_key(ClusterTable::name_of(self_))));
  membership_->leave(Deadline::after(1s));
  EXPECT_THAT(keys(), IsEmpty());
  EXPECT_TRUE(is_fenced());
}

// Even when the directory does not hear of it.
TEST_F(MembershipTest, LeavingFencesTheNodeBeforeItSuspends) {
  join();
  directory_.cut();
  auto leaving = coroutine::spawn("leave", [&] { membership_->leave(Deadline::after(1s)); });
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_TRUE(is_fenced());
  EXPECT_TRUE(entry());
  EXPECT_TRUE(leaving.join(Deadline::never()));
}

TEST_F(MembershipTest, ANodeOfADirectoryOfItsOwnIsNeverFenced) {
  membership_ = make(table_);
  join();
  EXPECT_TRUE(fence_.is_never());
  EXPECT_THAT(leases_, IsEmpty()) << "no other process has to end this lease";
  auto keeping = start_keeping();
  ASSERT_TRUE(coroutine::sleep_for(24h));
  EXPECT_TRUE(entry());
  EXPECT_TRUE(fence_.is_never());
  keeping.cancel();
}

}  // namespace
}  // namespace corolane::framework::detail
