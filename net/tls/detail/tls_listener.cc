// SPDX-License-Identifier: MIT
#include "net/tls/detail/tls_listener.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"
#include "net/tls/detail/tls_settings.h"
#include "net/tls/detail/tls_shared.h"

namespace corolane::net::detail {

TlsListener::TlsListener(std::unique_ptr<Listener> inner,
                         const std::shared_ptr<const TlsSettings>& settings,
                         std::shared_ptr<TlsShared> shared, const Rules& rules)
    : inner_(std::move(inner)),
      settings_(settings),
      shared_(std::move(shared)),
      rules_(rules),
      done_(rules.handshake_count_max + 1, "accept") {}

Result<void> TlsListener::start() {
  taking_ = coroutine::spawn("TLS accept", [this] { take_connections(); });
  if (taking_.is_done()) return taking_.join(Deadline::never());
  return {};
}

void TlsListener::take_connections() {
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
    shaking_.push_back(std::make_unique<TlsStream>(
        std::move(*inner), settings_, TlsSession::Role::server, shared_, rules_.stream));
    shaking_.back()->shake_hands(*this, Deadline::after(rules_.handshake_time_max));
  }
}

// An honest peer completes its handshake long before it becomes the oldest of them.
void TlsListener::drop_oldest() {
  if (shaking_.empty()) return;
  TlsStream& oldest = *shaking_.front();
  // A handshake that has failed, and waits for its peer to read the reason, is counted already.
  if (!oldest.is_closed()) {
    ++shared_->statistics.failed_count;
    shared_->statistics.last_failure = "TLS with " + to_string(oldest.peer_endpoint()) +
                                       ": dropped in favour of a newer handshake";
  }
  shaking_.erase(shaking_.begin());
}

Result<std::unique_ptr<Stream>> TlsListener::accept(Deadline deadline) {
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

void TlsListener::opened(TlsStream& stream) {
  check(done_.try_send(take_out(stream)), "there is room for each handshake that began");
}

void TlsListener::ended(TlsStream& stream) {
  ended_.bury(take_out(stream));
  some_room_.pulse();
}

std::unique_ptr<TlsStream> TlsListener::take_out(TlsStream& stream) {
  const auto found =
      std::ranges::find(shaking_, &stream, [](const auto& owned) { return owned.get(); });
  check(found != shaking_.end(), "a handshake that ends is one that began");
  std::unique_ptr<TlsStream> taken = std::move(*found);
  shaking_.erase(found);
  return taken;
}

void TlsListener::close() {
  if (std::exchange(closed_, true)) return;
  inner_->close();
  for (const auto& stream : shaking_) stream->close();
  while (done_.try_receive()) continue;
  done_.close();
  taking_.cancel();
}

}  // namespace corolane::net::detail
