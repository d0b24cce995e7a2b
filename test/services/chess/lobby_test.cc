// SPDX-License-Identifier: MIT
#include "services/chess/lobby.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/random.h"
#include "test/services/chess/chess_nodes.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

Result<MeetReply> meet(const ChessNode& node, const std::string& player, std::int32_t rating,
                       const std::string& kind = "") {
  MeetRequest request;
  request.set_player(player);
  request.set_rating(rating);
  return node.lobby(kind).meet(request, {.deadline = Deadline::after(1min)});
}

class LobbyTest : public testing::Test {
 protected:
  coroutine::Task<MeetReply> waits(const std::string& player, std::int32_t rating,
                                   const std::string& kind = "") {
    auto task = coroutine::spawn(player, [=, this] { return meet(node_, player, rating, kind); });
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    return task;
  }

  ChessNodes nodes_;
  ChessNode node_ = nodes_.start();
};

TEST_F(LobbyTest, TwoSeekersAreToldOfEachOther) {
  auto anna = waits("anna", 1'500);
  auto ben = waits("ben", 1'520);
  const auto for_anna = anna.join(Deadline::never());
  const auto for_ben = ben.join(Deadline::never());
  ASSERT_TRUE(for_anna && for_ben);
  EXPECT_EQ(for_anna->game(), for_ben->game());
  EXPECT_EQ(for_anna->seat(), WHITE) << "the first to come";
  EXPECT_EQ(for_ben->seat(), BLACK);
  EXPECT_EQ(for_anna->opponent(), "ben");
  EXPECT_EQ(for_ben->opponent(), "anna");
}

TEST_F(LobbyTest, TheNearestByRatingIsFound) {
  auto far = waits("far", 1'600);
  auto near = waits("near", 1'450);
  auto farther = waits("farther", 1'580);  // Nearest to `far`.
  EXPECT_EQ(far.join(Deadline::never())->opponent(), "farther");
  EXPECT_EQ(farther.join(Deadline::never())->opponent(), "far");
  auto other = waits("other", 1'400);
  EXPECT_EQ(near.join(Deadline::never())->opponent(), "other");
}

TEST_F(LobbyTest, ADistantPlayerIsFoundAfterAWhile) {
  const TimePoint start = now();
  auto weak = waits("weak", 1'500);
  auto strong = waits("strong", 1'801);
  EXPECT_EQ(weak.join(Deadline::never())->opponent(), "strong");
  EXPECT_EQ(now() - start, 5s);
  EXPECT_EQ(strong.join(Deadline::never())->opponent(), "weak");
}

// Otherwise players at the ends of the scale would never be found while others are nearer.
TEST_F(LobbyTest, ALongWaitingPlayerIsFoundAtOnce) {
  auto master = waits("master", 2'700);
  ASSERT_TRUE(coroutine::sleep_for(24s));  // Allows a distance of 1,300 points.
  const TimePoint start = now();
  EXPECT_EQ(meet(node_, "beginner", 1'400)->opponent(), "master");
  EXPECT_EQ(now(), start);
  EXPECT_TRUE(master.join(Deadline::never()));
}

TEST_F(LobbyTest, EachKindOfGameHasItsOwnLobby) {
  auto blitz = waits("blitz", 1'500, "5+0");
  auto slow = waits("slow", 1'500, "60+30");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_FALSE(blitz.is_done() || slow.is_done());
  EXPECT_EQ(waits("second", 1'500, "60+30").join(Deadline::never())->opponent(), "slow");
  EXPECT_FALSE(blitz.is_done());
  EXPECT_EQ(waits("third", 1'500, "5+0").join(Deadline::never())->opponent(), "blitz");
  EXPECT_TRUE(blitz.join(Deadline::never()));
}

TEST_F(LobbyTest, APlayerDoesNotMeetThemselves) {
  auto first = waits("anna", 1'500);
  auto again = waits("anna", 1'500);
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_FALSE(first.is_done() || again.is_done());
  EXPECT_EQ(waits("ben", 1'500).join(Deadline::never())->opponent(), "anna");
}

TEST_F(LobbyTest, APlayerWhoGaveUpIsNotFound) {
  auto anna = waits("anna", 1'500);
  anna.cancel();
  EXPECT_THAT(anna.join(Deadline::never()), fails_with(Code::cancelled));
  auto ben = waits("ben", 1'500);
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_FALSE(ben.is_done());
  EXPECT_EQ(waits("carl", 1'500).join(Deadline::never())->opponent(), "ben");
}

TEST_F(LobbyTest, ASeekerWithoutAnOpponentFailsInTime) {
  const TimePoint start = now();
  EXPECT_THAT(waits("anna", 1'500).join(Deadline::never()), fails_with(Code::deadline_exceeded));
  EXPECT_LE(now() - start, 1min + 1ms);
}

// For any order of coming, giving up and waiting: if a player is told of an opponent, that opponent
// is told of the player, in a game of their own.
TEST_F(LobbyTest, PairsNeverComeApart) {
  test::Random random;
  struct Seeker {
    std::string name;
    coroutine::Task<MeetReply> task;
  };
  std::vector<Seeker> seekers;
  std::map<std::string, MeetReply> met;
  const auto note = [&](Seeker& seeker) {
    auto result = seeker.task.join(Deadline::never());
    if (result) met.emplace(seeker.name, *result);
  };
  for (int i = 0; i < 300; ++i) {
    const std::string name = "player " + std::to_string(i);
    const auto rating = static_cast<std::int32_t>(1'000 + random.below(1'000));
    seekers.push_back(
        {name, coroutine::spawn(name, [=, this] { return meet(node_, name, rating); })});
    if (random.one_in(5)) seekers[random.below(seekers.size())].task.cancel();
    ASSERT_TRUE(coroutine::sleep_for(random.up_to(1s)));
  }
  for (Seeker& seeker : seekers) note(seeker);
  EXPECT_GT(met.size(), 200U);
  std::set<std::string> games;
  for (const auto& [player, reply] : met) {
    games.insert(reply.game());
    const auto opponent = met.find(reply.opponent());
    // A player who was found while giving up may not have received the reply.
    if (opponent == met.end()) continue;
    EXPECT_EQ(opponent->second.opponent(), player);
    EXPECT_EQ(opponent->second.game(), reply.game());
    EXPECT_NE(opponent->second.seat(), reply.seat());
  }
  EXPECT_GE(games.size(), met.size() / 2);
}

// Two nodes: seekers come to both, and the lobbies are on either.
class LobbiesOfNodesTest : public testing::Test {
 protected:
  static constexpr int kind_count = 8;

  static std::string kind(int i) { return i == 0 ? "" : std::to_string(i) + "+0"; }

  ChessNodes nodes_;
};

TEST_F(LobbiesOfNodesTest, AWaitingPlayerIsFoundAfterTheLobbyHasMoved) {
  ChessNode a = nodes_.join("a");
  std::vector<coroutine::Task<MeetReply>> first;
  for (int i = 0; i < kind_count; ++i) {
    first.push_back(coroutine::spawn("first", [&, i] { return meet(a, "first", 1'500, kind(i)); }));
  }
  ASSERT_TRUE(coroutine::sleep_for(1s));
  ChessNode b = nodes_.join("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  for (int i = 0; i < kind_count; ++i) {
    const auto second = meet(i % 2 == 0 ? a : b, "second", 1'500, kind(i));
    ASSERT_TRUE(second) << kind(i) << ": " << second;
    EXPECT_EQ(second->opponent(), "first");
    const auto found = first[static_cast<std::size_t>(i)].join(Deadline::never());
    ASSERT_TRUE(found) << kind(i) << ": " << found;
    EXPECT_EQ(found->game(), second->game());
  }
}

TEST_F(LobbiesOfNodesTest, AWaitingPlayerIsFoundAfterACrashOfTheLobbysNode) {
  ChessNode a = nodes_.join("a");
  ChessNode b = nodes_.join("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  std::vector<coroutine::Task<MeetReply>> first;
  for (int i = 0; i < kind_count; ++i) {
    first.push_back(coroutine::spawn("first", [&, i] { return meet(a, "first", 1'500, kind(i)); }));
  }
  ASSERT_TRUE(coroutine::sleep_for(1s));
  b.crash();
  for (int i = 0; i < kind_count; ++i) {
    const auto second = meet(a, "second", 1'500, kind(i));
    ASSERT_TRUE(second) << kind(i) << ": " << second;
    const auto found = first[static_cast<std::size_t>(i)].join(Deadline::never());
    ASSERT_TRUE(found) << kind(i) << ": " << found;
    EXPECT_EQ(found->game(), second->game());
  }
}

}  // namespace
}  // namespace corolane::services::chess
