#include "net/uv/detail/read_share.h"

#include <gtest/gtest.h>

namespace corolane::net::detail {
namespace {

// A turn in which so many connections have all the bytes that they are allowed.
void flood(ReadShare& share, std::size_t connection_count) {
  for (std::size_t index = 0; index < connection_count; ++index) share.note(share.bytes());
  share.end_turn();
}

TEST(ReadShareTest, AFewConnectionsHaveAllOfIt) {
  ReadShare share;
  for (int turn = 0; turn < 100; ++turn) {
    flood(share, 8);
    EXPECT_EQ(share.bytes(), ReadShare::bytes_max);
  }
}

TEST(ReadShareTest, ManyShareATurn) {
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

TEST(ReadShareTest, IsItsWholeAgainSoonAfterAFlood) {
  ReadShare share;
  for (int turn = 0; turn < 100; ++turn) flood(share, 100'000);
  for (int turn = 0; turn < 5; ++turn) flood(share, 1);
  EXPECT_EQ(share.bytes(), ReadShare::bytes_max);
}

}  // namespace
}  // namespace corolane::net::detail
