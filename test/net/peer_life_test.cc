// SPDX-License-Identifier: MIT
#include "net/peer_life.h"

#include <gtest/gtest.h>

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using State = PeerLife::State;

constexpr Duration interval = 10s;
constexpr TimePoint start{1h};

// Looks at a peer that has taken `bytes` of output so far.
State look(PeerLife& life, Duration after, std::uint64_t bytes = 0) {
  return life.look({.acknowledged_bytes = bytes}, start + after, interval);
}

TEST(PeerLifeTest, ASilentPeerIsAskedOnceAndThenGone) {
  PeerLife life(start);
  EXPECT_EQ(look(life, 9s), State::alive);
  EXPECT_EQ(life.silent_at(interval), start + 10s);
  EXPECT_EQ(look(life, 10s), State::silent);
  EXPECT_EQ(look(life, 15s), State::gone);
  EXPECT_EQ(life.gone(start + 14500ms).message(), "the peer was silent for 15 s");
}

TEST(PeerLifeTest, AnAnswerBeginsANewInterval) {
  PeerLife life(start);
  EXPECT_EQ(look(life, 10s), State::silent);
  life.heard(start + 12s);
  EXPECT_EQ(life.heard_at(), start + 12s);
  EXPECT_EQ(look(life, 15s), State::alive);
  EXPECT_EQ(life.silent_at(interval), start + 22s);
  EXPECT_EQ(look(life, 22s), State::silent);
}

TEST(PeerLifeTest, APeerThatTakesOutputIsAlive) {
  PeerLife life(start);
  EXPECT_EQ(look(life, 10s), State::silent);
  EXPECT_EQ(look(life, 15s, 100'000), State::alive);
  EXPECT_EQ(life.silent_at(interval), start + 25s);
  EXPECT_EQ(look(life, 25s, 100'000), State::silent);
  EXPECT_EQ(look(life, 30s, 100'000), State::gone);
}

// Its kernel takes a ping even when its process hangs.
TEST(PeerLifeTest, TakingAPingAloneIsNoSignOfLife) {
  PeerLife life(start);
  EXPECT_EQ(look(life, 10s), State::silent);
  EXPECT_EQ(look(life, 15s, 20), State::gone);
}

}  // namespace
}  // namespace corolane::net
