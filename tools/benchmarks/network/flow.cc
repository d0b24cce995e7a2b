// SPDX-License-Identifier: MIT
// epoll, and reads and writes on a non-blocking socket.
#include "tools/benchmarks/network/flow.h"

#include <algorithm>

namespace corolane::bench {
namespace {

Result<void> control(int epoll, int operation, int descriptor, std::uint32_t events,
                     std::uint64_t token) {
  epoll_event event{.events = events, .data = {.u64 = token}};
  if (epoll_ctl(epoll, operation, descriptor, &event) == 0) return {};
  return system_error("epoll_ctl");
}

// Pages of the buffer become resident only when a read uses them.
std::span<std::byte> read_buffer() {
  static std::array<std::byte, Flow::read_bytes> buffer;
  return buffer;
}

}  // namespace

Result<Epoll> Epoll::make() {
  Descriptor descriptor(epoll_create1(EPOLL_CLOEXEC));
  if (descriptor.number() < 0) return system_error("epoll_create1");
  return Epoll(std::move(descriptor));
}

Result<void> Epoll::add(int descriptor, std::uint32_t events, std::uint64_t token) {
  return control(descriptor_.number(), EPOLL_CTL_ADD, descriptor, events, token);
}

Result<void> Epoll::change(int descriptor, std::uint32_t events, std::uint64_t token) {
  return control(descriptor_.number(), EPOLL_CTL_MOD, descriptor, events, token);
}

std::span<const epoll_event> Epoll::wait(int milliseconds) {
  const int count = epoll_wait(descriptor_.number(), events_.data(),
                               static_cast<int>(events_.size()), milliseconds);
  return std::span(events_).first(static_cast<std::size_t>(std::max(count, 0)));
}

Result<void> Flow::start(std::uint64_t token) {
  token_ = token;
  return epoll_->add(socket_.number(), EPOLLIN, token);
}

Result<std::span<const std::byte>> Flow::read() {
  const std::span<std::byte> buffer = read_buffer();
  std::ranges::copy(kept_, buffer.begin());
  const std::size_t kept_count = kept_.size();
  const auto count = read_now(socket_.number(), buffer.subspan(kept_count));
  if (!count) return count.error();
  kept_.clear();
  return buffer.first(kept_count + *count);
}

Result<void> Flow::write(std::span<const std::byte> bytes) {
  std::size_t sent_count = 0;
  if (unsent_.empty()) {
    const auto count = write_now(socket_.number(), bytes);
    if (!count) return count.error();
    sent_count = *count;
  }
  if (sent_count == bytes.size()) return {};
  const std::span<const std::byte> rest = bytes.subspan(sent_count);
  unsent_.insert(unsent_.end(), rest.begin(), rest.end());
  return want_room(true);
}

Result<void> Flow::write_unsent() {
  const auto count = write_now(socket_.number(), unsent_);
  if (!count) return count.error();
  unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(*count));
  return unsent_.empty() ? want_room(false) : Result<void>();
}

Result<void> Flow::want_room(bool wanted) {
  if (wanted == wants_room_) return {};
  wants_room_ = wanted;
  return epoll_->change(socket_.number(), wanted ? EPOLLIN | EPOLLOUT : EPOLLIN, token_);
}

}  // namespace corolane::bench
