// SPDX-License-Identifier: MIT
#include "net/parting_streams.h"

#include <chrono>
#include <iterator>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/scheduler.h"
#include "coroutine/timer_wheel.h"

namespace corolane::net {
namespace {

// No event reports that there is room, or that all is sent; the stream is polled at this interval.
constexpr Duration look_interval = std::chrono::milliseconds(10);

}  // namespace

class PartingStreams::Parting final : private ReadSink, private coroutine::Timer {
 public:
  Parting(PartingStreams& owner, std::unique_ptr<Stream> stream, std::vector<std::byte> last,
          Duration time_max)
      : Timer([](Timer& timer) { static_cast<Parting&>(timer).look(); }),
        owner_(owner),
        stream_(std::move(stream)),
        last_(std::move(last)),
        end_(Deadline::after(time_max)) {}

  std::list<std::unique_ptr<Parting>>::iterator place;

  void start() {
    stream_->set_read_sink(*this);
    stream_->resume_reading();
    send_last();
    arm();
  }

 private:
  void on_bytes(std::span<const std::byte>) override {}
  // Called inside a call of the stream, which cannot be destroyed here.
  void on_end(const Error&) override {
    peer_has_ended_ = true;
    coroutine::Scheduler::current().timers().arm(*this, Deadline::passed());
  }

  void look() {
    if (!last_.empty()) send_last();
    const bool is_done = peer_has_ended_ && last_.empty() && !has_unsent();
    if (is_done || stream_->is_closed() || end_.has_passed()) {
      owner_.all_.erase(place);  // Destroys this.
      return;
    }
    arm();
  }

  bool has_unsent() const { return stream_->statistics().unsent_bytes > 0; }

  void send_last() {
    const auto sent = last_.empty() ? Result<void>() : stream_->try_write(last_);
    if (!sent && sent.error().code() == Code::resource_exhausted) return;
    last_.clear();
    stream_->finish_writing();
  }

  void arm() {
    const bool waits_for_peer = last_.empty() && !peer_has_ended_;
    const Deadline next = waits_for_peer ? end_ : earlier(end_, Deadline::after(look_interval));
    coroutine::Scheduler::current().timers().arm(*this, next);
  }

  PartingStreams& owner_;
  const std::unique_ptr<Stream> stream_;
  std::vector<std::byte> last_;
  const Deadline end_;
  bool peer_has_ended_ = false;
};

PartingStreams::PartingStreams() = default;
PartingStreams::~PartingStreams() { close_all(); }

void PartingStreams::close_all() {
  // A stream that is destroyed may hand over the one below it, which is closed with the rest.
  while (!all_.empty()) {
    const auto closing = std::move(all_.front());
    all_.pop_front();
  }
}

void PartingStreams::take(std::unique_ptr<Stream> stream, std::vector<std::byte> last,
                          Duration time_max) {
  if (stream->is_closed() || all_.size() == count_max) return;
  all_.push_back(std::make_unique<Parting>(*this, std::move(stream), std::move(last), time_max));
  Parting& parting = *all_.back();
  parting.place = std::prev(all_.end());
  parting.start();
}

}  // namespace corolane::net
