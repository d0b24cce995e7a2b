// SPDX-License-Identifier: MIT
#include "rpc/server/detail/dispatcher.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "net/crypto.h"
#include "net/stream.h"
#include "rpc/observe/call_outcome.h"
#include "rpc/server/detail/server_connection.h"
#include "rpc/wire/request_extension.h"
#include "rpc/wire/wire.pb.h"

namespace corolane::rpc::detail {
namespace {

using namespace std::chrono_literals;

void count_error(Server::MethodStatistics& method, Code code, bool is_fault_of_server) {
  ++method.error_count;
  ++method.error_counts[static_cast<std::size_t>(code)];
  if (is_fault_of_server) ++method.fault_counts[static_cast<std::size_t>(code)];
}

Deadline deadline_of(const Frame& frame, const Method& method, Door door, TimePoint arrived_at) {
  const Deadline own =
      frame.header.time == 0
          ? Deadline::never()
          : Deadline::at(arrived_at + std::chrono::microseconds(frame.header.time));
  return bounded(own, method, door, arrived_at);
}

bool parse_into(google::protobuf::Message& message, std::span<const std::byte> bytes) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// A ReadRequest of a frame.
Result<bool> read_frame(const Method& method, const Frame& frame,
                        google::protobuf::Message& request, RequestExtension& extension) {
  const bool has_extension = !frame.extension.empty();
  const bool is_parsed =
      parse_into(request, frame.message) &&
      (!has_extension || read_extension(net::text_of(frame.extension), extension));
  if (is_parsed) return has_extension;
  return Error(Code::invalid_argument, std::string("the request of ") + method.full_name +
                                           " cannot be parsed: do both sides have the same proto?");
}

bool has_less_than_a_tenth_left(std::size_t count, std::size_t count_max) {
  return count >= count_max - count_max / 10;
}

}  // namespace

Dispatcher::Dispatcher(const Server::Options& options, net::ByteBudget& client_bytes)
    : options_(options),
      admission_(options.admission),
      client_bytes_(client_bytes),
      node_bytes_(options.node_bytes_max),
      jitter_(net::seed_or_random(options.random_seed)),
      calls_(*this) {}

void Dispatcher::serve(ServerConnection& connection, const Frame& frame) {
  ServedMethod* const served = methods_.find(frame.header.method_id);
  const bool is_hidden =
      served != nullptr && connection.door() == Door::clients && !served->is_for_clients;
  if (served == nullptr || is_hidden) {
    connection.refuse(frame.header.call_id,
                      Error(Code::unimplemented, "the server has no such method"));
    return;
  }
  const auto accepted = [&]() -> Result<void> {
    if (frame.is_too_large) {
      ++served->statistics.refused_count;
      return above_limit("a request", frame.header.payload_size, connection.payload_bytes_max())
          .with_context(served->method->full_name);
    }
    const TimePoint arrived_at = connection.heard_at();
    const auto taken =
        take_on(connection, *served,
                {.call_id = frame.header.call_id,
                 .payload_bytes = frame.header.payload_size,
                 .deadline = deadline_of(frame, *served->method, connection.door(), arrived_at),
                 .at = arrived_at},
                [&](google::protobuf::Message& request, RequestExtension& extension) {
                  return read_frame(*served->method, frame, request, extension);
                });
    return taken ? Result<void>() : taken.error();
  }();
  if (!accepted && !served->method->one_way) {
    connection.refuse(frame.header.call_id, accepted.error());
  }
}

Result<Call*> Dispatcher::take_on(Caller& caller, ServedMethod& served, const Arrival& arrival,
                                  ReadRequest read) {
  auto taken = take_on_unless_full(caller, served, arrival, read);
  if (!taken) {
    ++served.statistics.refused_count;
    if (is_fault_of_server(taken.error())) ++served.statistics.refused_fault_count;
  }
  return taken;
}

Result<Call*> Dispatcher::take_on_unless_full(Caller& caller, ServedMethod& served,
                                              const Arrival& arrival, ReadRequest read) {
  if (auto may = check_may_begin(caller, served); !may) return may.error();
  const auto verdict = admission_.judge(served.method->priority, caller.waiting, served.waiting,
                                        beginning_count_, arrival.deadline, arrival.at);
  if (!verdict.is_admitted) return overload(served.method->priority, verdict.delay);

  Call& call = calls_.take();
  net::ByteBudget& budget = caller.door() == Door::clients ? client_bytes_ : node_bytes_;
  if (auto taken = call.take(served, arrival.payload_bytes, read, budget); !taken) {
    calls_.give_back(call);
    return taken.error();
  }
  call.accept(caller, arrival.call_id, arrival.deadline, arrival.at);
  if (admission_.waiting_count() > 0 || beginning_count_ >= admission_.beginning_max()) {
    wait_for_turn(call);
  } else if (auto begun = begin(call); !begun) {
    calls_.give_back(call);
    return begun.error();
  }
  caller.add(call);
  if (served.method->is_stream() && caller.awaits_every_answer()) streams_over_http_.insert(&call);
  ++served.statistics.running_count;
  ++running_count_;
  return &call;
}

Result<void> Dispatcher::check_may_begin(Caller& caller, const ServedMethod& served) const {
  if (refuses_all_) return Error(Code::unavailable, "the server is stopping");
  if (auto may = caller.check_may_call(); !may) return may;
  if (served.statistics.running_count >= options_.calls_per_method_max) {
    return Error(Code::resource_exhausted, std::to_string(options_.calls_per_method_max) +
                                               " calls of " + served.method->full_name +
                                               " are running already")
        .with_retry_after(options_.admission.retry_after)
        .with_origin(Origin::runtime);
  }
  if (caller.shares.is_counted() && !caller.shares.may_take(is_scarce(served))) {
    return Error(Code::resource_exhausted, "the share of calls of this address is taken already")
        .with_retry_after(options_.admission.retry_after);
  }
  return {};
}

// A resource that calls need is nearly used up: the rest is for addresses that hold little.
bool Dispatcher::is_scarce(const ServedMethod& served) const {
  return coroutine::Scheduler::current().stacks().is_scarce() ||
         has_less_than_a_tenth_left(served.statistics.running_count,
                                    options_.calls_per_method_max) ||
         has_less_than_a_tenth_left(admission_.waiting_count(), options_.admission.waiting_max);
}

Error Dispatcher::refusal(const std::string& why, Duration delay) {
  const Duration least = std::max<Duration>(options_.admission.retry_after, delay);
  return Error(Code::resource_exhausted, why)
      .with_retry_after(std::chrono::ceil<std::chrono::milliseconds>(least + jitter_.up_to(least)))
      .with_origin(Origin::runtime);
}

Error Dispatcher::overload(Priority priority, Duration delay) {
  ++shed_counts_[static_cast<std::size_t>(priority)];
  return refusal("the server is overloaded", delay);
}

Error Dispatcher::no_stack(Error reason) {
  return refusal(std::move(reason).with_context("no stack").message(), Duration::zero());
}

void Dispatcher::wait_for_turn(Call& call) {
  call.place = ring_of(call).push(call);
  admission_.waits(call.served().method->priority, call.caller().waiting, call.served().waiting);
}

Result<void> Dispatcher::begin(Call& call) {
  // Other calls may have begun since this one arrived, and their work takes stacks too.
  if (coroutine::Scheduler::current().stacks().is_scarce() && !call.caller().shares.is_newcomer()) {
    return refusal("the last stacks are for addresses that hold few", Duration::zero());
  }
  auto task = handlers_.spawn(call.served().task_name, [this, &call] { run(call); },
                              {.stack_size_bytes = call.served().stack_size_bytes});
  if (!task) return no_stack(std::move(task.error()));
  call.bind(*task);
  ++beginning_count_;
  return {};
}

// Begins as many waiting calls as may have a stack, the important ones first.
void Dispatcher::begin_waiting(TimePoint now) {
  for (std::size_t i = 0; i < priority_count; ++i) {
    CallRing& ring = waiting_[i];
    if (ring.empty()) continue;
    const TimePoint oldest_arrival = ring.front().arrived_at();
    while (!ring.empty() && beginning_count_ < admission_.beginning_max()) {
      Call& call = ring.pop();
      call.place.reset();
      admission_.leaves(call.served().method->priority, call.caller().waiting,
                        call.served().waiting);
      if (auto begun = begin(call); !begun) {
        call.refuse(begun.error());
        finish(call);
      }
    }
    admission_.note_wait(static_cast<Priority>(i), oldest_arrival, now);
    if (!ring.empty()) return;
  }
}

// A call usually begins where another one has just ended, which saves a clock reading.
TimePoint Dispatcher::time_of_begin() const {
  const bool is_just_behind = coroutine::Scheduler::current().switch_count() == last_end_count_ + 1;
  return is_just_behind ? last_end_ : now();
}

void Dispatcher::note_queue_delay(Priority priority, Duration delay) {
  // The saved clock reading may be older than the request.
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(delay).count();
  queue_delay_us_[static_cast<std::size_t>(priority)].record(
      whole > 0 ? static_cast<std::uint64_t>(whole) : 0);
}

void Dispatcher::run(Call& call) {
  const TimePoint begun_at = time_of_begin();
  --beginning_count_;
  const Duration queue_delay = begun_at - call.arrived_at();
  note_queue_delay(call.served().method->priority, queue_delay);
  if (queue_delay > Duration::zero()) call.served().statistics.queue_time += queue_delay;
  if (call.will_begin(begun_at)) admission_.note_begun(begun_at, beginning_count_ > 0);
  if (admission_.waiting_count() > 0 && beginning_count_ <= admission_.beginning_max() / 2) {
    begin_waiting(begun_at);
  }
  call.run(around_, begun_at);
  finish(call);
  last_end_count_ = coroutine::Scheduler::current().switch_count();
}

void Dispatcher::finish(Call& call) {
  last_end_ = call.ended_at() == TimePoint{} ? now() : call.ended_at();
  count_end(call, last_end_ - call.arrived_at());
  if (call.served().method->is_stream()) streams_over_http_.erase(&call);
  call.caller().remove(call);
  calls_.give_back(call);
}

void Dispatcher::count_end(const Call& call, Duration latency) {
  Server::MethodStatistics& method = call.served().statistics;
  ++method.call_count;
  --method.running_count;
  --running_count_;
  if (call.code()) count_error(method, *call.code(), call.is_fault_of_server());
  if (call.threw()) ++stray_exception_count_;
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(latency);
  method.latency_us.record(static_cast<std::uint64_t>(microseconds.count()));
}

// A call without a task is waiting, unless it was never queued.
void Dispatcher::gave_up(Call& call) {
  if (!call.place) return;
  ring_of(call).leave(*call.place);
  admission_.leaves(call.served().method->priority, call.caller().waiting, call.served().waiting);
  finish(call);
}

void Dispatcher::stop_streams() {
  // A copy, since calls that have not begun leave the set.
  for (Call* const call : std::vector(streams_over_http_.begin(), streams_over_http_.end())) {
    call->stop();
  }
}

Result<void> Dispatcher::drain(Deadline deadline) {
  auto drained = handlers_.join(deadline);
  if (!drained) handlers_.cancel_and_join();
  return drained;
}

void Dispatcher::count_into(Server::Statistics& statistics) const {
  statistics.running_count = running_count_;
  statistics.stray_exception_count = stray_exception_count_;
  statistics.waiting_count = admission_.waiting_count();
  statistics.shed_counts = shed_counts_;
  statistics.queue_delay_us.assign(queue_delay_us_.begin(), queue_delay_us_.end());
  for (const auto& served : methods_.all()) {
    statistics.methods.push_back(served->statistics);
    statistics.methods.back().cost = served->meter.cost();
    if (served->method->is_stream()) {
      statistics.stream_count += served->statistics.running_count;
    }
  }
  std::ranges::sort(statistics.methods, {}, [](const Server::MethodStatistics& method) {
    return std::string_view(method.full_name);
  });
}

void Dispatcher::read_totals(Server::Totals& totals) const {
  totals = {};
  totals.running_count = running_count_;
  for (const Histogram& delays : queue_delay_us_) {
    if (delays.count() > 0) totals.queue_delay_us.add(delays);
  }
  for (const auto& served : methods_.all()) {
    const Server::MethodStatistics& method = served->statistics;
    totals.turned_away_count += method.refused_count;
    if (method.call_count == 0) continue;
    totals.call_count += method.call_count;
    for (std::size_t i = 1; method.error_count > 0 && i < code_count; ++i) {
      totals.fault_count += method.fault_counts[i];
      totals.refusal_count += method.error_counts[i] - method.fault_counts[i];
    }
    if (!served->method->is_stream()) totals.latency_us.add(method.latency_us);
  }
}

}  // namespace corolane::rpc::detail
