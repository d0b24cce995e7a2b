// SPDX-License-Identifier: MIT
#include "net/stream.h"

#include <vector>

namespace corolane::net {
namespace {

// Memory that the thread's room keeps between messages; more is freed.
constexpr std::size_t kept_bytes = 64 * 1024;

}  // namespace

Result<void> Stream::append(std::span<const std::byte> bytes) { return try_write(bytes); }

std::span<std::byte> Stream::room_to_write(std::size_t size) {
  thread_local std::vector<std::byte> room;
  if (size <= kept_bytes && room.size() > kept_bytes) std::vector<std::byte>().swap(room);
  if (room.size() < size) room.resize(size);
  return std::span(room).first(size);
}

}  // namespace corolane::net
