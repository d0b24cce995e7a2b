// SPDX-License-Identifier: MIT
#include "net/one_port/detail/open_port.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/timer_wheel.h"

namespace corolane::net::detail {
namespace {

using namespace std::chrono_literals;

// Connections without a place that may go on to the server, which tells them why it refuses them.
constexpr std::size_t placeless_count_max = 64;

// How long a refused peer may take to read the refusal and to close; and how long it is kept after
// it has finished sending, so that what was written can leave.
constexpr Duration refusal_time_max = 1s;
constexpr Duration last_words_time = 100ms;

}  // namespace

// A connection whose kind is unknown, or that is being refused.
class OpenPort::Newcomer final : private ReadSink, private coroutine::Timer {
 public:
  Newcomer(OpenPort& port, std::unique_ptr<Stream> stream, Seat seat)
      : Timer([](Timer& timer) { static_cast<Newcomer&>(timer).on_time(); }),
        port_(port),
        stream_(std::move(stream)),
        held_(stream_->account()),
        seat_(std::move(seat)) {
    ++port_.shared_.statistics.undecided_count;
  }
  ~Newcomer() { --port_.shared_.statistics.undecided_count; }

  std::list<std::unique_ptr<Newcomer>>::iterator place_in_list;

  void start() {
    arm(port_.shared_.options.first_bytes_time_max);
    stream_->set_read_sink(*this);
  }

 private:
  void on_bytes(std::span<const std::byte> bytes) override {
    if (is_refused_) return;
    std::span<const std::byte> all = bytes;  // Usually they come at once.
    if (!kept_bytes_.empty()) {
      // A long beginning is that of a request, which only the end of a line decides: looking at it
      // anew for each byte would take too long.
      const bool is_long = kept_bytes_.size() >= OnePort::Kind{}.first_bytes_max;
      const bool has_room = kept_bytes_.size() + bytes.size() < port_.shared_.first_bytes_max;
      kept_bytes_.insert(kept_bytes_.end(), bytes.begin(), bytes.end());
      if (is_long && has_room && std::ranges::find(bytes, std::byte{'\n'}) == bytes.end()) {
        return held_.set(kept_bytes_.capacity());
      }
      all = kept_bytes_;
    }
    const std::size_t first_bytes_max = port_.shared_.first_bytes_max;
    const Verdict verdict = judge(all.first(std::min(all.size(), first_bytes_max)));
    if (verdict.is_open && all.size() < first_bytes_max) {
      if (kept_bytes_.empty()) kept_bytes_.assign(bytes.begin(), bytes.end());
      held_.set(kept_bytes_.capacity());
    } else if (!verdict.kind) {
      ++port_.shared_.statistics.unknown_count;
      end();
    } else if (port_.has_listener(*verdict.kind)) {
      hand_over(*verdict.kind, all);
    } else {
      refuse(*verdict.kind);
    }
  }

  void on_end(const Error&) override {
    if (is_refused_) return arm(last_words_time);
    ++port_.shared_.statistics.silent_count;
    end();
  }

  void on_time() {
    // A server that needs no more than it has has its own times, and its own answers to the half of
    // a request.
    const Verdict verdict = judge(kept_bytes_, /*is_all=*/true);
    const bool is_served = verdict.kind && port_.has_listener(*verdict.kind);
    if (!is_refused_ && is_served) return hand_over(*verdict.kind, kept_bytes_);
    if (!is_refused_) ++port_.shared_.statistics.silent_count;
    end();
  }

  struct Verdict {
    bool is_open = false;  // More bytes may decide.
    std::optional<std::size_t> kind = {};
  };
  // With `is_all` nothing more is awaited: `maybe` counts as `no`.
  Verdict judge(std::span<const std::byte> first_bytes, bool is_all = false) const {
    const std::vector<OnePort::Kind>& kinds = port_.shared_.kinds;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      switch (kinds[kind].match(first_bytes)) {
        case Match::yes:
          return {.kind = kind};
        case Match::maybe:
          if (is_all) break;
          return {.is_open = true};
        case Match::no:
          break;
      }
    }
    return {};
  }

  void hand_over(std::size_t kind, std::span<const std::byte> bytes) {
    ++port_.shared_.statistics.kinds[kind].accepted_count;
    stream_->release_read_sink(bytes);
    held_.set(0);
    port_.listeners_[kind]->offer(std::move(stream_), std::move(seat_));
    leave();
  }

  void refuse(std::size_t index) {
    const OnePort::Kind& kind = port_.shared_.kinds[index];
    ++port_.shared_.statistics.kinds[index].refused_count;
    is_refused_ = true;
    arm(refusal_time_max);
    if (!kind.refusal.empty()) static_cast<void>(stream_->try_write(bytes_of(kind.refusal)));
    stream_->finish_writing();
    const auto& on_refused = port_.shared_.options.on_refused;
    if (on_refused) on_refused(kind, stream_->peer_endpoint());
  }

  void end() {
    stream_->close();
    leave();
  }

  // Destroys this later: the stream is just calling it.
  void leave() {
    Timer::cancel();
    auto self = std::move(*place_in_list);
    port_.newcomers_.erase(place_in_list);
    port_.ended_.bury(std::move(self));
  }

  void arm(Duration time) {
    coroutine::Scheduler::current().timers().arm(*this, Deadline::after(time));
  }

  OpenPort& port_;
  std::unique_ptr<Stream> stream_;
  ByteBudget::Share held_;
  Seat seat_;
  bool is_refused_ = false;
  std::vector<std::byte> kept_bytes_;  // All so far, while they decide nothing.
};

OpenPort::OpenPort(Shared& shared, std::unique_ptr<Listener> inner)
    : shared_(shared), inner_(std::move(inner)), listeners_(shared.kinds.size()) {}

OpenPort::~OpenPort() { close(); }

Result<void> OpenPort::start() {
  taking_ = coroutine::spawn("accept at one port", [this] { take_connections(); });
  if (taking_.is_done()) return taking_.join(Deadline::never());
  return {};
}

void OpenPort::take_connections() {
  while (auto stream = accept_next(*inner_, closed_)) {
    auto place = shared_.connections.take(stream->peer_endpoint());
    if (!place && shared_.placeless_count == placeless_count_max) {
      ++shared_.statistics.placeless_count;
      continue;
    }
    newcomers_.push_back(std::make_unique<Newcomer>(
        *this, std::move(stream), Seat(std::move(place), shared_.placeless_count)));
    newcomers_.back()->place_in_list = std::prev(newcomers_.end());
    newcomers_.back()->start();
  }
}

void OpenPort::remove(std::size_t kind) {
  listeners_[kind] = nullptr;
  if (std::ranges::all_of(listeners_, [](auto* listener) { return listener == nullptr; })) close();
}

void OpenPort::close() {
  if (std::exchange(closed_, true)) return;
  inner_->close();
  newcomers_.clear();
  taking_.cancel();
}

KindListener::KindListener(std::shared_ptr<OpenPort> port, std::size_t kind)
    : port_(std::move(port)), kind_(kind) {
  port_->add(kind_, *this);
}

Result<std::unique_ptr<Stream>> KindListener::accept(Deadline deadline) {
  const CallCount::Inside inside(calls_);
  while (waiting_.empty()) {
    const auto action = [this] { return "accept on " + to_string(local_endpoint()); };
    if (closed_) return Error(Code::unavailable, action() + ": closed");
    auto waited = some_wait_.wait(deadline);
    if (!waited) return std::move(waited.error()).with_context(action());
  }
  std::unique_ptr<Stream> stream = std::move(waiting_.front().stream);
  waiting_.pop_front();
  return stream;
}

void KindListener::offer(std::unique_ptr<Stream> stream, Seat seat) {
  waiting_.push_back({.stream = std::move(stream), .seat = std::move(seat)});
  some_wait_.pulse_one();
}

void KindListener::close() {
  if (std::exchange(closed_, true)) return;
  waiting_.clear();
  some_wait_.pulse();
  port_->remove(kind_);
}

}  // namespace corolane::net::detail
