// SPDX-License-Identifier: MIT
#include "net/uv/detail/read_share.h"

#include <gtest/gtest.h>

namespace corolane::net::detail {
namespace {

// One turn in which `connection_count` connections read all the bytes that they may.
void flood(ReadShare& share, std::size_t connection_count) {
  for (std::size_t index = 0; index < connection_count; ++index) share.note(share.bytes());
  share.end_turn();
}

TEST(ReadShareTest, AFewConnectionsGetTheLargestShare) {
  ReadShare share;
  for (int turn = 0; turn < 100; ++turn) {
    flood(share, 8);
    EXPECT_EQ(share.bytes(), ReadShare::bytes_max);
  }
}

TEST(ReadShareTest, ManyConnectionsShareATurn) {
  ReadShare share;
  for (int turn = 0; turn < 5; ++turn) flood(share, 100);
  for (int turn = 0; turn < 100; ++turn) {
    flood(share, 100);
    EXPECT_LE(100 * share.bytes(), ReadShare::turn_bytes_max);
    EXPECT_GT(100 * share.bytes(), ReadShare::turn_bytes_max / 8);
  }
}

TEST(ReadShareTest, IsNeverTooSmallForARequest) {
  ReadShare share;
  for (int turn = 0; turn < 100; ++turn) flood(share, 100'000);
  EXPECT_EQ(share.bytes(), ReadShare::bytes_min);
}

TEST(ReadShareTest, RecoversSoonAfterAFlood) {
  ReadShare share;
  for (int turn = 0; turn < 100; ++turn) flood(share, 100'000);
  for (int turn = 0; turn < 5; ++turn) flood(share, 1);
  EXPECT_EQ(share.bytes(), ReadShare::bytes_max);
}

}  // namespace
}  // namespace corolane::net::detail
