// SPDX-License-Identifier: MIT
#include "framework/recording/detail/live_feed.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "coroutine/base/clock.h"
#include "net/crypto.h"

namespace corolane::framework::recording {
namespace {

// While it lives, this thread uses the real clocks and random bytes.
class WithoutSource {
 public:
  WithoutSource() : previous_(corolane::detail::set_thread_time_source(nullptr)) {}
  ~WithoutSource() { corolane::detail::set_thread_time_source(previous_); }
  WithoutSource(const WithoutSource&) = delete;
  WithoutSource& operator=(const WithoutSource&) = delete;

 private:
  const corolane::detail::TimeSource* previous_;
};

std::int64_t real(Entry::WhatCase clock) {
  const WithoutSource real;
  switch (clock) {
    case Entry::kTime:
      return now().time_since_epoch().count();
    case Entry::kBootTime:
      return boot_time().time_since_epoch().count();
    case Entry::kTimeOfDay:
      return time_of_day().time_since_epoch().count();
    default:
      return process_id();
  }
}

}  // namespace

void LiveFeed::push(Arrival arrival) {
  const std::scoped_lock lock(mutex_);
  arrivals_.push_back(std::move(arrival));
  changed_.notify_one();
}

std::int64_t LiveFeed::read(Entry::WhatCase clock) {
  if (node_thread_.load() == std::thread::id()) node_thread_ = std::this_thread::get_id();
  const std::int64_t shown = real(clock);
  add(marks_.to_entry(clock, shown));
  return shown;
}

void LiveFeed::draw(std::span<std::byte> bytes) {
  {
    const WithoutSource real;
    net::fill_with_random_bytes(bytes);
  }
  Entry entry;
  entry.set_drawn(bytes.data(), bytes.size());
  add(entry);
}

Listening LiveFeed::listen(std::vector<Ask> before, const Ask& ask, std::uint64_t asked_hash) {
  if (!before.empty()) outside_->post(std::move(before));
  Entry entry;
  *entry.mutable_listening() = outside_->listen(ask);
  entry.mutable_listening()->set_asked_hash(asked_hash);
  add(entry);
  return std::move(*entry.mutable_listening());
}

std::vector<Arrival> LiveFeed::turn(std::vector<Ask> asks, std::uint64_t asked_hash,
                                    Deadline deadline) {
  if (!asks.empty()) outside_->post(std::move(asks));
  std::vector<Arrival> arrivals;
  {
    std::unique_lock lock(mutex_);
    const auto is_over = [this] { return !arrivals_.empty() || is_woken_; };
    if (deadline.is_never()) {
      changed_.wait(lock, is_over);
    } else if (deadline > Deadline::passed()) {
      changed_.wait_until(lock, deadline.time(), is_over);
    }
    is_woken_ = false;
    arrivals.swap(arrivals_);
  }
  if (is_disturbed_) end_early("another thread posted unrecorded work to the node's thread");
  Entry entry;
  entry.mutable_turn()->set_asked_hash(asked_hash);
  for (const Arrival& arrival : arrivals) *entry.mutable_turn()->add_arrivals() = arrival;
  add(entry);
  return arrivals;
}

void LiveFeed::wake() {
  if (node_thread_.load() != std::this_thread::get_id()) is_disturbed_ = true;
  const std::scoped_lock lock(mutex_);
  is_woken_ = true;
  changed_.notify_one();
}

void LiveFeed::end() { file_.end(""); }

void LiveFeed::add(const Entry& entry) {
  if (file_.has_ended()) return;
  file_.add(entry);
  if (file_.has_ended()) {
    log_.warning("the recording is full; the node continues without it", {{"bytes", file_.size()}});
  }
}

void LiveFeed::end_early(const char* reason) {
  if (file_.has_ended()) return;
  file_.end(reason);
  log_.warning("the recording ends early", {{"reason", reason}});
}

}  // namespace corolane::framework::recording
