// SPDX-License-Identifier: MIT
#include "net/detail/handshake_listener.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"

namespace corolane::net::detail {

HandshakeListener::HandshakeListener(std::unique_ptr<Listener> inner, Wrap wrap,
                                     const char* task_name, const Rules& rules)
    : inner_(std::move(inner)),
      wrap_(std::move(wrap)),
      task_name_(task_name),
      rules_(rules),
      done_(rules.handshake_count_max + 1, "accept") {}

Result<void> HandshakeListener::start() {
  taking_ = coroutine::spawn(task_name_, [this] { take_connections(); });
  if (taking_.is_done()) return taking_.join(Deadline::never());
  return {};
}

void HandshakeListener::take_connections() {
  // The last accept() did, and done_ was not empty since.
  bool has_failed = false;
  while (!closed_) {
    // Also waits while a failure is unreported: the next accept() would only repeat it.
    if (has_failed || done_.size() >= rules_.handshake_count_max) {
      if (!some_room_.wait(Deadline::never())) return;
      has_failed = has_failed && done_.size() > 0;
      continue;
    }
    auto inner = inner_->accept(Deadline::never());
    if (closed_) return;
    if (!inner) {
      check(done_.try_send(std::move(inner.error())), "there is room for one error");
      has_failed = done_.size() > 0;
      continue;
    }
    // Other handshakes may have completed meanwhile.
    while (done_.size() >= rules_.handshake_count_max && !closed_) {
      if (!some_room_.wait(Deadline::never())) return;
    }
    if (closed_) return;
    if (shaking_.size() + done_.size() >= rules_.handshake_count_max) drop_oldest();
    shaking_.push_back(wrap_(std::move(*inner)));
    shaking_.back()->shake_hands(*this, Deadline::after(rules_.handshake_time_max));
  }
}

// An honest peer completes its handshake long before it becomes the oldest of them.
void HandshakeListener::drop_oldest() {
  if (shaking_.empty()) return;
  HandshakingStream& oldest = *shaking_.front();
  // A handshake that has failed, and waits for its peer to read the reason, is counted already.
  if (!oldest.is_closed()) oldest.note_dropped();
  shaking_.erase(shaking_.begin());
}

Result<std::unique_ptr<Stream>> HandshakeListener::accept(Deadline deadline) {
  const CallCount::Inside inside(calls_);
  const auto action = [this] { return "accept on " + to_string(local_endpoint()); };
  auto done = done_.receive(deadline);
  if (done) {
    some_room_.pulse();
    return *std::move(done);
  }
  if (closed_) return Error(Code::unavailable, action() + ": closed");
  return std::move(done.error()).with_context(action());
}

void HandshakeListener::opened(HandshakingStream& stream) {
  check(done_.try_send(take_out(stream)), "there is room for each handshake that began");
}

void HandshakeListener::ended(HandshakingStream& stream) {
  ended_.bury(take_out(stream));
  some_room_.pulse();
}

std::unique_ptr<HandshakingStream> HandshakeListener::take_out(HandshakingStream& stream) {
  const auto found =
      std::ranges::find(shaking_, &stream, [](const auto& owned) { return owned.get(); });
  check(found != shaking_.end(), "a handshake that ends is one that began");
  std::unique_ptr<HandshakingStream> taken = std::move(*found);
  shaking_.erase(found);
  return taken;
}

void HandshakeListener::close() {
  if (std::exchange(closed_, true)) return;
  inner_->close();
  for (const auto& stream : shaking_) stream->close();
  while (done_.try_receive()) continue;
  done_.close();
  taking_.cancel();
}

}  // namespace corolane::net::detail
