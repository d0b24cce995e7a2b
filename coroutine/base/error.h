// SPDX-License-Identifier: MIT
// An error as a value.
//
//   if (!games.contains(id)) return Error(Code::not_found, "no game " + std::to_string(id));
//   if (is_full) {
//     return Error(Code::resource_exhausted, "the lobby is full").with_retry_after(2s);
//   }
//
// Expected failures travel as Error inside a Result; bugs abort through check(). The codes are
// the canonical ones of gRPC, with the same names and numbers, so that they mean the same on the
// wire, over HTTP and in dashboards (https://grpc.io/docs/guides/status-codes/).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "coroutine/base/detail/debug_mode.h"

namespace corolane {

enum class Code : std::uint8_t {
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

// One more than the largest number of a code: the size of a table indexed by code.
inline constexpr std::size_t code_count = 17;

// "deadline_exceeded" and so on; "unknown" for a number that has no code.
std::string_view to_string(Code code);

// The code with that number, or `unknown` when there is none.
Code code_from_number(std::uint32_t number);

// Which side has made an error.
enum class Origin : std::uint8_t {
  unknown,
  runtime,  // The network, admission, the cluster, a store, a deadline: the same for any program.
  handler,  // The handler of a call: what it means is up to its program.
};

// One pointer, so that a Result<void> is two words: a success, the usual case, carries no room for
// an error. A moved-from Error may only be assigned to or destroyed.
class [[nodiscard]] Error {
 public:
  // `message` says what was wrong, where, and what to do next; it may reach a peer.
  Error(Code code, std::string message);
  Error(const Error& other);
  Error(Error&& other) noexcept = default;
  Error& operator=(const Error& other) { return *this = Error(other); }
  Error& operator=(Error&& other) noexcept = default;
  ~Error() = default;

  Code code() const { return details_->code; }
  const std::string& message() const { return details_->message; }

  // "not_found: no game 17".
  std::string to_string() const;

  // True when a call came back without an answer and may have taken effect: retry it only if it
  // is idempotent.
  bool maybe_executed() const { return details_->maybe_executed; }
  // True when the call has surely not begun executing, so that any call may be retried. Only the
  // layers between a caller and a handler say so; a handler that passes such an error on makes no
  // such claim about itself.
  bool not_executed() const { return details_->not_executed; }
  // How long to wait before a retry; zero when the failing side did not say.
  std::chrono::milliseconds retry_after() const { return details_->retry_after; }
  // True when the handler of a call has made this error, which its callers see, however far away
  // and through however many handlers that pass it on. False: it is an error of corolane's own, or
  // was not returned by a call.
  bool is_from_handler() const { return details_->origin == Origin::handler; }
  Origin origin() const { return details_->origin; }
  // For programs; the creator of the error defines its meaning. Mostly empty. Reaches the caller of
  // a remote call as well.
  const std::string& detail() const { return details_->detail; }

  // On rvalues only, and by value, so that `error = std::move(error).with_..()` is no self-move.
  Error with_maybe_executed() &&;
  // Does nothing to an error that is marked maybe executed.
  Error with_not_executed() &&;
  Error without_not_executed() &&;
  // For a retried call whose earlier attempt failed with `earlier`: the marks then cover all
  // attempts. One attempt that may have been executed is enough; not_executed needs all of them.
  Error with_attempt(const Error& earlier) &&;
  Error with_retry_after(std::chrono::milliseconds delay) &&;
  Error with_detail(std::string detail) &&;
  // Does nothing to an error whose origin is known.
  Error with_origin(Origin origin) &&;
  // Puts "`context`: " before the message.
  Error with_context(std::string_view context) &&;

  // Does not compare their origins.
  friend bool operator==(const Error& a, const Error& b) { return *a.details_ == *b.details_; }

 private:
  struct Details {
    Code code;
    bool maybe_executed = false;
    bool not_executed = false;
    Origin origin = Origin::unknown;
    std::chrono::milliseconds retry_after{0};
    std::string message;
    std::string detail = {};

    bool operator==(const Details& other) const;
  };
  // Keeps the destructor out of line, so that not every function that can fail inlines it.
  struct Delete {
    void operator()(const Details* details) const;
  };

  std::unique_ptr<Details, Delete> details_;
};

std::ostream& operator<<(std::ostream& out, Code code);
std::ostream& operator<<(std::ostream& out, const Error& error);

}  // namespace corolane
