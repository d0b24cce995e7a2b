// Says which calls an operator should know of: those that failed by the server's fault, those that
// took too long, and a share of all others.
//
//   rpc::CallLog calls({.slow_after = 500ms}, [&](const rpc::LoggedCall& call) {
//     log.warning("call failed", {{"method", call.method}, {"code", to_string(call.code)}});
//   });
//   server.add_observer(calls.server_observer());
//
// A log must not become the load that it reports: above a rate, lines are counted and left out, and
// the next one says how many. Calls that nobody is told of cost no allocation; their time is read
// off the same clock reading that the server counts them with.
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

// Refers to texts: lives no longer than the call it is handed to.
struct LoggedCall {
  enum class Reason : std::uint8_t { failed, slow, sampled };

  Reason reason;
  std::string_view method;  // "package.Service/Method".
  std::string_view peer;
  std::optional<Code> code;      // Nothing for a success.
  std::string_view error;        // What the caller was told; it may hold what the caller sent.
  Duration duration;             // From when the request was read.
  TraceContext trace;            // Not valid when there is none.
  std::uint64_t left_out_count;  // Calls like this, since the last one that was told.
};

class CallLog {
 public:
  // Which errors are reasons.
  enum class Errors : std::uint8_t {
    none,
    of_server,  // See is_fault_of_server().
    all,
  };
  struct Options {
    Errors errors = Errors::of_server;
    // Unary calls that took longer; streams have no end of their own.
    Duration slow_after = std::chrono::seconds(1);
    // Of the calls that there is no other reason for: one in so many; 0 for none.
    std::uint64_t one_in = 0;
    // As many as a person can read, and a disk does not notice; a burst may have those of a second.
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

  // A call that has just run.
  void look_at(Context& call, const Result<void>& outcome) {
    const bool is_of_interest = !outcome || options_.one_in > 0 || took(call) > options_.slow_after;
    if (is_of_interest) [[unlikely]]
      note(call, outcome);
  }

  // Below which there is nothing to be seen.
  CallBar bar() const {
    return {.took_max = options_.one_in > 0 ? Duration::min() : options_.slow_after};
  }

  void set_options(const Options& options) { options_ = options; }

  // Lines that the rate has left out, ever.
  std::uint64_t left_out_count() const { return left_out_count_; }

 private:
  static Duration took(Context& call) { return call.returned_at() - call.arrived_at(); }

  void note(Context& call, const Result<void>& result);
  std::optional<LoggedCall::Reason> reason_of(Context& call, const Result<void>& result);
  void write(LoggedCall::Reason reason, Context& call, const Result<void>& result);
  bool has_line_left(TimePoint now);

  Options options_;
  const Write write_;
  std::uint64_t call_count_ = 0;  // Since the last sampled one.
  std::uint32_t lines_left_;
  TimePoint refilled_at_{};
  std::uint64_t left_out_count_ = 0;
  std::uint64_t told_left_out_count_ = 0;
};

}  // namespace corolane::rpc
