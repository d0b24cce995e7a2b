// SPDX-License-Identifier: MIT
// Claims about shares by address, and about the places of connections.
#include "net/address_shares.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/connection_bound.h"

namespace corolane::net {
namespace {

using Guest = AddressShares::Guest;

Endpoint at(std::string address) { return {.address = std::move(address), .port = 4'000}; }

// Takes until it is refused, at most `wanted`; returns how many it got.
int take_up_to(Guest& guest, int wanted) {
  int count = 0;
  for (; count < wanted && guest.may_take(); ++count) guest.take();
  return count;
}

void give_back(Guest& guest, int count) {
  for (int i = 0; i < count; ++i) guest.give_back();
}

TEST(AddressSharesTest, AnAddressIsAnIpv4AddressOrTheUpperHalfOfAnIpv6One) {
  EXPECT_EQ(share_address({"10.1.0.7", 1}), "10.1.0.7");
  EXPECT_EQ(share_address({"::ffff:10.1.0.7", 2}), "10.1.0.7");
  EXPECT_EQ(share_address({"2001:db8:1:2:3:4:5:6", 3}), "2001:db8:1:2::/64");
  EXPECT_EQ(share_address({"2001:db8:1:2::1", 4}), "2001:db8:1:2::/64");
  EXPECT_EQ(share_address({"2001:db8:1:3::1", 5}), "2001:db8:1:3::/64");
  EXPECT_EQ(share_address({"unix:", 0}), "");
  EXPECT_EQ(share_address({"unix:/run/a.sock", 0}), "");
}

TEST(AddressSharesTest, OneAddressTakesItsShareOverAnyNumberOfConnections) {
  AddressShares shares({.count_max = 100});
  Guest first(shares, at("10.0.0.1"));
  Guest second(shares, at("10.0.0.1"));
  EXPECT_EQ(take_up_to(first, 30), 30);
  EXPECT_EQ(take_up_to(second, 100), 20);
  EXPECT_EQ(shares.statistics().refused_count, 1u);
  first.give_back();
  EXPECT_EQ(take_up_to(second, 100), 1);
  give_back(first, 29);
  give_back(second, 21);
}

TEST(AddressSharesTest, TheLastTenthIsForNewcomers) {
  AddressShares shares({.count_max = 100});
  Guest first(shares, at("10.0.0.1"));
  Guest second(shares, at("10.0.0.2"));
  Guest third(shares, at("10.0.0.3"));
  Guest fourth(shares, at("2001:db8::1"));
  EXPECT_EQ(take_up_to(first, 100), 50);
  EXPECT_EQ(take_up_to(second, 100), 40);
  EXPECT_EQ(take_up_to(third, 100), 1);
  EXPECT_EQ(take_up_to(fourth, 100), 1);
  EXPECT_EQ(shares.statistics().count, 92u);
  EXPECT_EQ(shares.statistics().address_count, 4u);
  give_back(first, 50);
  EXPECT_EQ(take_up_to(third, 100), 48);  // Up to nine tenths again.
  give_back(second, 40);
  give_back(third, 49);
  give_back(fourth, 1);
}

TEST(AddressSharesTest, ANewcomerMayHoldAFewOfALargeCount) {
  AddressShares shares({.count_max = 10'000});
  Guest flood(shares, at("10.0.0.1"));
  Guest more(shares, at("10.0.0.2"));
  Guest player(shares, at("10.0.0.3"));
  EXPECT_EQ(take_up_to(flood, 10'000) + take_up_to(more, 10'000), 9'000);
  EXPECT_EQ(take_up_to(player, 100), 8);
  give_back(flood, 5'000);
  give_back(more, 4'000);
  give_back(player, 8);
}

TEST(AddressSharesTest, ScarcityOfAnotherResourceActsLikeTheLastTenth) {
  AddressShares shares({.count_max = 100});
  Guest guest(shares, at("10.0.0.1"));
  EXPECT_TRUE(guest.may_take(/*is_scarce=*/true));
  guest.take();
  EXPECT_FALSE(guest.may_take(/*is_scarce=*/true));
  EXPECT_TRUE(guest.may_take(/*is_scarce=*/false));
  guest.give_back();
}

TEST(AddressSharesTest, NothingIsTakenBeyondTheCount) {
  AddressShares shares({.count_max = 3});
  std::vector<Guest> guests;
  for (int i = 0; i < 5; ++i) {
    guests.emplace_back(shares, at("10.0.0." + std::to_string(i)));
    EXPECT_EQ(guests.back().may_take(), i < 3);
    if (i < 3) guests.back().take();
  }
  for (int i = 0; i < 3; ++i) guests[static_cast<std::size_t>(i)].give_back();
}

TEST(AddressSharesTest, AShareOf100PercentTreatsAllAddressesAlike) {
  AddressShares shares({.count_max = 100, .share_percent = 100});
  Guest proxy(shares, at("10.0.0.1"));
  EXPECT_EQ(take_up_to(proxy, 1'000), 100);
  give_back(proxy, 100);
}

TEST(AddressSharesTest, AUnixSocketIsBoundOnlyByTheTotal) {
  AddressShares shares({.count_max = 100});
  Guest proxy(shares, at("unix:"));
  EXPECT_EQ(take_up_to(proxy, 1'000), 100);
  EXPECT_EQ(shares.statistics().address_count, 0u);
  give_back(proxy, 100);
}

TEST(AddressSharesTest, ADefaultGuestHasNoBound) {
  Guest nobody;
  EXPECT_EQ(take_up_to(nobody, 1'000), 1'000);
  EXPECT_FALSE(nobody.is_counted());
}

TEST(AddressSharesTest, ChangedLimitsApplyToLaterTakes) {
  AddressShares shares({.count_max = 100});
  Guest guest(shares, at("10.0.0.1"));
  EXPECT_EQ(take_up_to(guest, 100), 50);
  shares.set_limits({.count_max = 100, .share_percent = 20});
  EXPECT_FALSE(guest.may_take());
  EXPECT_EQ(shares.statistics().count, 50u);
  shares.set_limits({.count_max = 200, .share_percent = 50});
  EXPECT_EQ(take_up_to(guest, 100), 50);
  give_back(guest, 100);
}

TEST(AddressSharesTest, SixtyThousandAddressesLeaveNoEntryBehind) {
  AddressShares shares({.count_max = 100'000});
  {
    std::vector<Guest> guests;
    for (int i = 0; i < 60'000; ++i) {
      const std::string address = "10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250);
      guests.emplace_back(shares, at(address));
      guests.back().take();
    }
    EXPECT_EQ(shares.statistics().address_count, 60'000u);
    for (Guest& guest : guests) guest.give_back();
  }
  EXPECT_EQ(shares.statistics().address_count, 0u);
  EXPECT_EQ(shares.statistics().count, 0u);
}

TEST(AddressSharesTest, AMovedGuestIsCountedOnce) {
  AddressShares shares({.count_max = 100});
  Guest first(shares, at("10.0.0.1"));
  first.take();
  Guest second(std::move(first));
  Guest third;
  third = std::move(second);
  EXPECT_EQ(shares.statistics().address_count, 1u);
  third.give_back();
  third = {};
  EXPECT_EQ(shares.statistics().address_count, 0u);
}

TEST(ConnectionBoundTest, APlaceIsGivenBackOnDestruction) {
  ConnectionBound bound({.count_max = 2});
  {
    const auto place = bound.take(at("10.0.0.1"));
    EXPECT_TRUE(static_cast<bool>(place));
    EXPECT_FALSE(static_cast<bool>(bound.take(at("10.0.0.1"))));
    auto other = bound.take(at("10.0.0.2"));
    EXPECT_TRUE(static_cast<bool>(other));
    auto moved = std::move(other);
    EXPECT_TRUE(static_cast<bool>(moved));
    EXPECT_EQ(bound.statistics().count, 2u);
    moved = {};
    EXPECT_EQ(bound.statistics().count, 1u);
  }
  EXPECT_EQ(bound.statistics().count, 0u);
  EXPECT_EQ(bound.statistics().address_count, 0u);
  EXPECT_EQ(bound.statistics().refused_count, 1u);
}

TEST(ConnectionBoundTest, ManyThreadsTakeNoMorePlacesThanTheBound) {
  ConnectionBound bound({.count_max = 1'000});
  std::vector<std::vector<ConnectionBound::Place>> places(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < places.size(); ++i) {
    threads.emplace_back([&bound, &mine = places[i], i] {
      for (int round = 0; round < 1'000; ++round) {
        auto place = bound.take(at(round % 2 == 0 ? "10.0.0.1" : "10.0.1." + std::to_string(i)));
        if (place) mine.push_back(std::move(place));
        if (round % 10 == 0 && !mine.empty()) mine.pop_back();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::size_t count = 0;
  for (const auto& mine : places) count += mine.size();
  EXPECT_EQ(bound.statistics().count, count);
  EXPECT_LE(count, 1'000u);
  places.clear();
  EXPECT_EQ(bound.statistics().count, 0u);
  EXPECT_EQ(bound.statistics().address_count, 0u);
}

}  // namespace
}  // namespace corolane::net
