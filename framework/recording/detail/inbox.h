// SPDX-License-Identifier: MIT
// The only input of a recorded or replayed node: the EventSource of its scheduler.
//
// Apart from it the node has one thread and makes no system calls. Its requests to the outside
// (Ask) are handed over at the end of a loop turn, and input (Arrival) comes between two turns. So
// the same arrivals and clock readings make the same node behave the same. A Feed either takes them
// from the real world and records them, or reads them from a file.
//
// Belongs to the thread of the node, except wake().
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "coroutine/event_source.h"
#include "coroutine/sync/event.h"
#include "framework/node/detail/stop_signal.h"
#include "framework/recording/recording.pb.h"

namespace corolane::framework::recording {

// The source of an inbox.
class Feed {
 public:
  virtual ~Feed() = default;

  // Reads that clock, in nanoseconds; also Entry::kProcessId.
  virtual std::int64_t read(Entry::WhatCase clock) = 0;
  virtual void draw(std::span<std::byte> bytes) = 0;
  // Hands over `before` and `ask`, and blocks until `ask` is answered. `asked_hash` covers all
  // requests so far.
  virtual Listening listen(std::vector<Ask> before, const Ask& ask, std::uint64_t asked_hash) = 0;
  // Hands over `asks`, and blocks until there is an arrival, wake() is called, or the deadline
  // passes.
  virtual std::vector<Arrival> turn(std::vector<Ask> asks, std::uint64_t asked_hash,
                                    Deadline deadline) = 0;
  // Any thread.
  virtual void wake() = 0;
};

class Inbox final : public coroutine::EventSource {
 public:
  // `feed` outlives it.
  explicit Inbox(Feed& feed) : feed_(feed) {}

  TimePoint now() const override;
  TimePoint boot_time() const override;
  std::chrono::sys_time<Duration> time_of_day() const override;
  pid_t process_id() const override;
  bool draw(std::span<std::byte> bytes) const override;
  bool wait(Deadline deadline) override;
  void wake() override { feed_.wake(); }

  // Ids of streams, listeners and calls; the outside uses odd ones.
  std::uint64_t new_id() { return last_id_ += 2; }
  // The request is handed over at the end of the turn.
  void ask(Ask ask);
  // The request is handed over at once.
  Listening listen(const Ask& ask);
  // Suspends until the request is answered; fails with the error of the answer, with
  // deadline_exceeded or cancelled.
  Result<Arrival> call(Ask ask, Deadline deadline);
  // Suspends until a signal asks the node to stop.
  Result<framework::detail::StopSignal::Arrival> wait_for_signal();

  // Receives the arrivals that are neither answers nor signals; before the end of each turn
  // end_turn() adds the last requests. May be null.
  class Network {
   public:
    virtual void arrive(const Arrival& arrival) = 0;
    virtual void end_turn() = 0;

   protected:
    ~Network() = default;
  };
  void set_network(Network* network) { network_ = network; }

  // Writes requests and arrivals as readable text.
  void set_trace(std::FILE* file) { trace_ = file; }

  // Covers all requests and arrivals: two runs with the same hash have behaved the same.
  std::uint64_t hash() const { return asked_hash_ ^ arrived_hash_ << 1; }
  std::uint64_t turn_count() const { return turn_count_; }
  std::uint64_t arrival_count() const { return arrival_count_; }
  // Between the first and the last reading of the clock.
  Duration elapsed() const { return last_time_ - first_time_; }

 private:
  struct Call {
    coroutine::Event answered{"the outside of a recorded node"};
    std::optional<Arrival> answer = {};
  };

  void note_ask(const Ask& ask);
  void arrive(const Arrival& arrival);
  void note(const char* what, const google::protobuf::Message& message) const;

  Feed& feed_;
  Network* network_ = nullptr;
  std::uint64_t last_id_ = 0;
  std::vector<Ask> asks_;  // Requests of this turn.
  std::map<std::uint64_t, Call*> calls_;
  std::optional<Signal> signal_;
  coroutine::Event signalled_{"signal"};
  std::FILE* trace_ = nullptr;
  std::uint64_t asked_hash_ = 0;
  std::uint64_t arrived_hash_ = 0;
  std::uint64_t turn_count_ = 0;
  std::uint64_t arrival_count_ = 0;
  mutable TimePoint first_time_{};
  mutable TimePoint last_time_{};
};

}  // namespace corolane::framework::recording
