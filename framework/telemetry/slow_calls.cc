// SPDX-License-Identifier: MIT
#include "framework/telemetry/slow_calls.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "framework/wire/detail/object_error.h"
#include "rpc/call_scope.h"
#include "rpc/observe/call_outcome.h"

namespace corolane::framework {
namespace {

constexpr std::size_t name_bytes_max = 100;

std::int64_t minute_of(TimePoint time) {
  return std::chrono::floor<std::chrono::minutes>(time.time_since_epoch()).count();
}

bool took_longer(const SlowCalls::Call& left, const SlowCalls::Call& right) {
  return left.took() > right.took();
}

// The method of the calling object, or the peer's address.
std::string caller_of(const rpc::Context& call) {
  if (call.object() == nullptr || call.object()->chain.empty()) {
    return std::string(call.peer().substr(0, name_bytes_max));
  }
  const rpc::ObjectCall& last = call.object()->chain.back();
  return std::string(last.method) + "(\"" + std::string(last.id.substr(0, name_bytes_max)) + "\")";
}

std::string trace_of(const rpc::Context& call) {
  const rpc::CallScope* const scope = rpc::CallScope::current();
  const rpc::TraceContext& trace = scope == nullptr ? call.trace() : scope->trace;
  return trace.is_valid() ? rpc::trace_id_text(trace) : std::string();
}

}  // namespace

void SlowCalls::note(rpc::Context& call, const Result<void>& result, TimePoint ended_at,
                     std::string caller) {
  // A call to an object that has moved is no failure: the caller follows it.
  if (!result && detail::moved_of(result.error())) return;
  const Duration took = std::max(ended_at - call.arrived_at(), Duration::zero());
  const Duration waited = std::clamp(call.begun_at() - call.arrived_at(), Duration::zero(), took);
  Call noted{.ended_at = ended_at,
             .method = call.descriptor().full_name,
             .object = call.object() == nullptr
                           ? std::string()
                           : std::string(call.object()->id.substr(0, name_bytes_max)),
             .caller = caller.empty() ? caller_of(call) : std::move(caller),
             .waited = waited,
             .ran = took - waited,
             .code = rpc::outcome_of(call, result),
             .is_fault_of_server = rpc::is_fault_of_server(call, result),
             .error = result ? std::string() : result.error().message().substr(0, text_bytes_max),
             .trace = trace_of(call)};
  // The duration of a stream says nothing about its speed.
  if (!call.descriptor().is_stream()) note_slow(noted);
  if (result) return;
  Errors& errors = noted.is_fault_of_server ? server_errors_ : other_errors_;
  if (errors.calls.size() < error_count_max) return errors.calls.push_back(std::move(noted));
  errors.calls[errors.next++ % error_count_max] = std::move(noted);
}

void SlowCalls::note_slow(const Call& call) {
  const std::int64_t number = minute_of(call.ended_at);
  Minute& minute = minutes_[static_cast<std::size_t>(number) % minute_count];
  auto& slowest = minute.slowest;
  if (minute.number != number) {
    minute.number = number;
    slowest.clear();
    bar_ = Duration::zero();
    minute_end_ = TimePoint(std::chrono::minutes(number + 1));
  }
  if (slowest.size() == slow_per_minute_max) {
    if (call.took() <= slowest.front().took()) return;
    std::ranges::pop_heap(slowest, took_longer);
    slowest.pop_back();
  }
  slowest.push_back(call);
  std::ranges::push_heap(slowest, took_longer);
  if (slowest.size() == slow_per_minute_max) bar_ = slowest.front().took();
}

std::vector<SlowCalls::Call> SlowCalls::slowest(TimePoint now, Duration span) const {
  std::vector<Call> calls;
  for (const Minute& minute : minutes_) {
    std::ranges::copy_if(minute.slowest, std::back_inserter(calls),
                         [&](const Call& call) { return now - call.ended_at <= span; });
  }
  return calls;
}

std::vector<SlowCalls::Call> SlowCalls::errors() const {
  std::vector<Call> calls = server_errors_.calls;
  std::ranges::copy(other_errors_.calls, std::back_inserter(calls));
  return calls;
}

}  // namespace corolane::framework
