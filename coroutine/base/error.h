// What went wrong, as a value.
//
// Expected failures travel as Error inside a Result; bugs abort through check(). The codes are
// the canonical ones of gRPC, with the same names and numbers, so that they mean the same on the
// wire, over HTTP and in dashboards (https://grpc.io/docs/guides/status-codes/).
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

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

// "deadline_exceeded" and so on; "unknown" for a number that is no code.
std::string_view to_string(Code code);

// The code with that number, or `unknown` when there is none.
Code code_from_number(std::uint32_t number);

class [[nodiscard]] Error {
 public:
  // `message` says what was wrong, where, and what to do next; it may reach a peer.
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // "not_found: no game 17".
  std::string to_string() const;

  // True when a call came back without an answer and may have taken effect: retry it only if it
  // is idempotent.
  bool maybe_executed() const { return maybe_executed_; }
  // How long to wait before trying again; zero when the failing side did not say.
  std::chrono::milliseconds retry_after() const { return retry_after_; }

  // By value, so that `error = std::move(error).with_..()` is no move of a thing into itself.
  Error with_maybe_executed() && {
    maybe_executed_ = true;
    return std::move(*this);
  }
  Error with_retry_after(std::chrono::milliseconds delay) && {
    retry_after_ = delay;
    return std::move(*this);
  }
  // Puts "`context`: " before the message.
  Error with_context(std::string_view context) && {
    message_.insert(0, ": ").insert(0, context);
    return std::move(*this);
  }

  friend bool operator==(const Error&, const Error&) = default;

 private:
  Code code_;
  bool maybe_executed_ = false;
  std::chrono::milliseconds retry_after_{0};
  std::string message_;
};

std::ostream& operator<<(std::ostream& out, Code code);
std::ostream& operator<<(std::ostream& out, const Error& error);

}  // namespace corolane
