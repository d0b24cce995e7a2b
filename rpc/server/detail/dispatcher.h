// SPDX-License-Identifier: MIT
// Accepts requests and runs them: admission, the queue of waiting calls, a task for each call, and
// statistics.
//
// A request that may begin at once gets its task at once. Otherwise it waits here without a stack,
// and each call that begins makes room for a waiting one: the important ones first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "coroutine/task_group.h"
#include "net/byte_budget.h"
#include "rpc/detail/jitter.h"
#include "rpc/server/detail/admission.h"
#include "rpc/server/detail/call.h"
#include "rpc/server/detail/served_method.h"
#include "rpc/server/server.h"
#include "rpc/wire/detail/call_ring.h"
#include "rpc/wire/frame.h"

namespace corolane::rpc::detail {

class ServerConnection;

class Dispatcher final : private Call::Owner {
 public:
  // Requests of clients are counted in `client_bytes`, which outlives it.
  Dispatcher(const Server::Options& options, net::ByteBudget& client_bytes);

  Result<void> add(Service& service, Server::Audience audience) {
    return methods_.add(service, audience, options_.stack_sizes);
  }
  void add_filter(ServerFilter filter, FilterSees sees) {
    around_.filters.push_back(std::move(filter));
    around_.keeps_replies = around_.keeps_replies || sees == FilterSees::replies;
  }
  void add_observer(Observer observer) { around_.observers.push_back(std::move(observer)); }
  const ServedMethods& methods() const { return methods_; }

  // A request for a method, as far as admission looks at it.
  struct Arrival {
    std::uint64_t call_id = 0;
    std::size_t payload_bytes = 0;
    Deadline deadline = Deadline::never();
    TimePoint at{};
  };
  // On the loop's stack: accepts a call, or fails with the error for its caller, who is not told
  // here. Reads the request only if the call may begin or wait.
  Result<Call*> take_on(Caller& caller, ServedMethod& served, const Arrival& arrival,
                        ReadRequest read);

  // On the loop's stack: accepts the request of a frame, or answers it with an error.
  void serve(ServerConnection& connection, const Frame& frame);

  // Ends the streams that did not come over a connection of frames, which ends its own.
  void stop_streams();
  // From now on requests are refused.
  void refuse_all() { refuses_all_ = true; }
  // Whether the running task serves a call.
  bool serves_here() const { return handlers_.has_running_task(); }
  // Suspends until all calls have ended. At the deadline it cancels the rest and fails with
  // deadline_exceeded.
  Result<void> drain(Deadline deadline);

  void count_into(Server::Statistics& statistics) const;
  // All but the connections.
  void read_totals(Server::Totals& totals) const;

 private:
  Result<Call*> take_on_unless_full(Caller& caller, ServedMethod& served, const Arrival& arrival,
                                    ReadRequest read);
  Result<void> check_may_begin(Caller& caller, const ServedMethod& served) const;
  bool is_scarce(const ServedMethod& served) const;
  Error refusal(const std::string& why, Duration delay);
  Error overload(Priority priority, Duration delay);
  Error no_stack(Error reason);
  void wait_for_turn(Call& call);
  Result<void> begin(Call& call);
  void begin_waiting(TimePoint now);
  void run(Call& call);
  void note_queue_delay(Priority priority, Duration delay);
  TimePoint time_of_begin() const;
  void finish(Call& call);
  void count_end(const Call& call, Duration latency);
  void gave_up(Call& call) override;
  CallRing& ring_of(const Call& call) {
    return waiting_[static_cast<std::size_t>(call.served().method->priority)];
  }

  const Server::Options options_;
  ServedMethods methods_;
  Around around_;
  Admission admission_;
  // For requests that wait or run.
  net::ByteBudget& client_bytes_;
  net::ByteBudget node_bytes_;
  std::array<CallRing, priority_count> waiting_;
  std::size_t beginning_count_ = 0;  // Calls whose task has not run yet.
  Jitter jitter_;
  bool refuses_all_ = false;
  // When the last call ended, and what Scheduler::switch_count() was then.
  TimePoint last_end_{};
  std::uint64_t last_end_count_ = 0;
  std::uint64_t running_count_ = 0;
  std::uint64_t stray_exception_count_ = 0;
  // By priority.
  std::array<std::uint64_t, priority_count> shed_counts_{};
  std::array<Histogram, priority_count> queue_delay_us_{};
  CallPool calls_;
  std::unordered_set<Call*> streams_over_http_;
  coroutine::TaskGroup handlers_;
};

}  // namespace corolane::rpc::detail
