// Where a node that is recorded, or replayed, has everything from that it does not make by itself:
// the EventSource of its scheduler.
//
// Outside of it there is one thread and no system call: all that the node asks of the outside (Ask)
// is handed over at the end of a turn of its loop, all that comes (Arrival) comes between two
// turns. So the same arrivals and the same readings of clocks make the same node do the same, and a
// Feed decides whether they are real and written down, or read from a file.
//
// All of it belongs to the thread of the node, but wake().
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

// What is behind an inbox.
class Feed {
 public:
  virtual ~Feed() = default;

  // What that clock shows, in nanoseconds; also Entry::kProcessId.
  virtual std::int64_t read(Entry::WhatCase clock) = 0;
  virtual void draw(std::span<std::byte> bytes) = 0;
  // Hands over what was asked before, and this, and blocks until it is answered.
  // `asked_hash` is of all that was asked so far.
  virtual Listening listen(std::vector<Ask> before, const Ask& ask, std::uint64_t asked_hash) = 0;
  // Hands over what was asked, and blocks until something comes, wake() is called, or the deadline.
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

  // For streams, listeners and calls; those of the outside are odd.
  std::uint64_t new_id() { return last_id_ += 2; }
  // Handed over at the end of the turn.
  void ask(Ask ask);
  // At once.
  Listening listen(const Ask& ask);
  // Suspends until it is answered; fails with what the answer says, and with deadline_exceeded or
  // cancelled.
  Result<Arrival> call(Ask ask, Deadline deadline);
  // Suspends until a signal asks the node to stop.
  Result<framework::detail::StopSignal::Arrival> wait_for_signal();

  // Takes what is no answer and no signal; and is asked before the end of each turn for what is
  // still to be asked. Null: nobody.
  class Network {
   public:
    virtual void arrive(const Arrival& arrival) = 0;
    virtual void end_turn() = 0;

   protected:
    ~Network() = default;
  };
  void set_network(Network* network) { network_ = network; }

  // Writes down, for people, what is asked and what comes.
  void set_trace(std::FILE* file) { trace_ = file; }

  // Of all that was asked and all that came: two runs with the same have done the same.
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
  std::vector<Ask> asks_;  // Of this turn.
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
