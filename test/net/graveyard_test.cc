// SPDX-License-Identifier: MIT
#include "net/graveyard.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;

// Tells whether it was destroyed.
class Ended {
 public:
  explicit Ended(bool& gone) : gone_(gone) {}
  ~Ended() { gone_ = true; }
  Ended(const Ended&) = delete;
  Ended& operator=(const Ended&) = delete;

 private:
  bool& gone_;
};

TEST(GraveyardTest, AnObjectIsDestroyedInTheTurnAfterItIsBuried) {
  Graveyard<Ended> graveyard;
  bool gone = false;
  graveyard.bury(std::make_unique<Ended>(gone));
  EXPECT_FALSE(gone);  // It may be calling.
  EXPECT_TRUE(coroutine::sleep_for(1ns));
  EXPECT_TRUE(gone);
}

TEST(GraveyardTest, AGraveyardOnHoldDestroysNothingUntilItIsCleared) {
  Graveyard<Ended> graveyard;
  bool first_gone = false;
  bool second_gone = false;
  graveyard.bury(std::make_unique<Ended>(first_gone));
  graveyard.hold();
  graveyard.bury(std::make_unique<Ended>(second_gone));
  EXPECT_TRUE(coroutine::sleep_for(1s));
  EXPECT_FALSE(first_gone || second_gone);
  graveyard.clear();
  EXPECT_TRUE(first_gone && second_gone);
}

TEST(GraveyardTest, AClearedGraveyardIsNoLongerOnHold) {
  Graveyard<Ended> graveyard;
  bool gone = false;
  graveyard.hold();
  graveyard.clear();
  graveyard.bury(std::make_unique<Ended>(gone));
  EXPECT_TRUE(coroutine::sleep_for(1ns));
  EXPECT_TRUE(gone);
}

TEST(GraveyardTest, ADestroyedGraveyardKeepsNothing) {
  std::optional<Graveyard<Ended>> graveyard(std::in_place);
  bool gone = false;
  graveyard->bury(std::make_unique<Ended>(gone));
  graveyard.reset();
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace corolane::net
