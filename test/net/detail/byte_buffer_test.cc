// SPDX-License-Identifier: MIT
#include "net/detail/byte_buffer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "net/detail/buffer_pool.h"
#include "net/stream.h"

namespace corolane::net::detail {
namespace {

std::string text_of(const ByteBuffer& buffer) {
  const auto bytes = buffer.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(ByteBufferTest, AppendedBytesLeaveInOrder) {
  ByteBuffer buffer;
  EXPECT_TRUE(buffer.empty());
  buffer.append(bytes_of("one "));
  buffer.append(bytes_of(""));
  buffer.append(bytes_of("two"));
  EXPECT_EQ(text_of(buffer), "one two");
  buffer.consume(4);
  EXPECT_EQ(text_of(buffer), "two");
  buffer.consume(3);
  EXPECT_TRUE(buffer.empty());
}

TEST(ByteBufferTest, GrowingKeepsTheContents) {
  ByteBuffer buffer(4);
  std::string expected;
  for (int round = 0; round < 1000; ++round) {
    const std::string piece = std::to_string(round);
    buffer.append(bytes_of(piece));
    expected += piece;
    buffer.consume(1);
    expected.erase(0, 1);
    ASSERT_EQ(text_of(buffer), expected);
  }
}

TEST(ByteBufferTest, ConsumedRoomIsReusedBeforeTheBufferGrows) {
  ByteBuffer buffer(8);
  buffer.append(bytes_of("12345678"));
  buffer.consume(6);
  EXPECT_EQ(buffer.room(6).size(), 6u);
  EXPECT_EQ(buffer.capacity(), 8u);
  EXPECT_EQ(text_of(buffer), "78");
}

TEST(ByteBufferTest, OnlyBytesInItsOwnRoomNeedNoCopy) {
  ByteBuffer buffer(8);
  buffer.append(bytes_of("123"));
  const auto room = buffer.room(5);
  EXPECT_TRUE(buffer.has_room_at(room));
  EXPECT_TRUE(buffer.has_room_at(room.first(2)));
  EXPECT_FALSE(buffer.has_room_at(room.subspan(1)));
  EXPECT_FALSE(buffer.has_room_at(buffer.bytes()));
  const std::string longer(6, 'x');
  EXPECT_FALSE(buffer.has_room_at({room.data(), longer.size()}));
  buffer.commit(2);
  EXPECT_FALSE(buffer.has_room_at(room));
}

TEST(ByteBufferTest, AMovedFromBufferIsEmptyAndUsable) {
  ByteBuffer buffer;
  buffer.append(bytes_of("gone"));
  const ByteBuffer taken = std::move(buffer);
  EXPECT_EQ(text_of(taken), "gone");
  EXPECT_TRUE(buffer.empty());  // NOLINT(bugprone-use-after-move): promised.
  EXPECT_EQ(buffer.capacity(), 0u);
  buffer.append(bytes_of("new"));
  EXPECT_EQ(text_of(buffer), "new");
}

TEST(BufferPoolTest, AReturnedBufferIsLentNext) {
  BufferPool pool;
  ByteBuffer first = pool.lend();
  const void* const memory = first.room(1).data();
  first.append(bytes_of("old"));
  pool.give_back(std::move(first));
  ByteBuffer second = pool.lend();
  EXPECT_TRUE(second.empty());
  EXPECT_EQ(second.room(1).data(), memory);
}

TEST(BufferPoolTest, BuffersThatGrewLargeAreNotKept) {
  BufferPool pool;
  ByteBuffer large = pool.lend();
  large.room(1024 * 1024);
  pool.give_back(std::move(large));
  EXPECT_EQ(pool.lend().capacity(), BufferPool::buffer_bytes_min);
}

TEST(BufferPoolTest, ThePoolKeepsNoMoreThanItsBound) {
  BufferPool pool;
  for (std::size_t given = 0; given < 2 * BufferPool::idle_bytes_max;) {
    ByteBuffer buffer(BufferPool::buffer_bytes_min * 4);
    given += buffer.capacity();
    pool.give_back(std::move(buffer));
  }
  std::size_t kept = 0;
  for (;;) {
    const ByteBuffer buffer = pool.lend();
    if (buffer.capacity() == BufferPool::buffer_bytes_min) break;  // A new buffer.
    kept += buffer.capacity();
  }
  EXPECT_EQ(kept, BufferPool::idle_bytes_max);
}

}  // namespace
}  // namespace corolane::net::detail
