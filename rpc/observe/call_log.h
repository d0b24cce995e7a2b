// SPDX-License-Identifier: MIT
// Reports the calls that an operator should know of: those that failed by the server's fault, those
// that took too long, and a sample of all others.
//
//   rpc::CallLog calls({.slow_after = 500ms}, [&](const rpc::LoggedCall& call) {
//     log.warning("call failed", {{"method", call.method}, {"code", to_string(call.code)}});
//   });
//   server.add_observer(calls.server_observer());
//
// A log must not become the load that it reports: lines above a rate are dropped and counted, and
// the next line says how many. Calls that are not reported cost no allocation; their duration comes
// from the clock reading that the server's own statistics use.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "coroutine/base/clock.h"
#include "coroutine/base/error.h"
#include "rpc/filter.h"
#include "rpc/trace_context.h"

namespace corolane::rpc {

// Holds views: valid only during the call it is passed to.
struct LoggedCall {
  enum class Reason : std::uint8_t { failed, slow, sampled };

  Reason reason;
  std::string_view method;  // "package.Service/Method".
  std::string_view peer;
  std::optional<Code> code;      // Nothing for a success.
  std::string_view error;        // The caller's error message; may contain its input.
  Duration duration;             // From when the request was read.
  TraceContext trace;            // Not valid when there is none.
  std::uint64_t left_out_count;  // Lines dropped since the previous one.
};

class CallLog {
 public:
  // Which errors are logged.
  enum class Errors : std::uint8_t {
    none,
    of_server,  // See is_fault_of_server().
    all,
  };
  struct Options {
    Errors errors = Errors::of_server;
    // Unary calls that took longer are logged; streams have no natural duration.
    Duration slow_after = std::chrono::seconds(1);
    // Samples one in this many of the calls that have no other reason to be logged; 0 for none.
    std::uint64_t one_in = 0;
    // A rate that a person can read and a disk does not notice. A burst may take one second's
    // worth.
    std::uint32_t lines_per_second_max = 20;
  };

  // Must not suspend.
  using Write = std::function<void(const LoggedCall& call)>;

  // Outlives its observer.
  CallLog(const Options& options, Write write)
      : options_(options), write_(std::move(write)), lines_left_(options.lines_per_second_max) {}
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;

  ServerObserver server_observer() {
    return [this](Context& call, const Result<void>& outcome) { look_at(call, outcome); };
  }

  // Looks at a call that has just run.
  void look_at(Context& call, const Result<void>& outcome) {
    const bool is_of_interest = !outcome || options_.one_in > 0 || took(call) > options_.slow_after;
    if (is_of_interest) [[unlikely]]
      note(call, outcome);
  }

  // The bar below which no call is of interest.
  CallBar bar() const {
    return {.took_max = options_.one_in > 0 ? Duration::min() : options_.slow_after};
  }

  void set_options(const Options& options) { options_ = options; }

  // Total number of lines dropped by the rate limit.
  std::uint64_t left_out_count() const { return left_out_count_; }

 private:
  static Duration took(Context& call) { return call.returned_at() - call.arrived_at(); }

  void note(Context& call, const Result<void>& result);
  std::optional<LoggedCall::Reason> reason_of(Context& call, const Result<void>& result);
  void write(LoggedCall::Reason reason, Context& call, const Result<void>& result);
  bool has_line_left(TimePoint now);

  Options options_;
  const Write write_;
  std::uint64_t call_count_ = 0;  // Since the last sampled call.
  std::uint32_t lines_left_;
  TimePoint refilled_at_{};
  std::uint64_t left_out_count_ = 0;
  std::uint64_t told_left_out_count_ = 0;
};

}  // namespace corolane::rpc
