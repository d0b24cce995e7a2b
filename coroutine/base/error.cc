// SPDX-License-Identifier: MIT
#include "coroutine/base/error.h"

#include <array>
#include <utility>

namespace corolane {
namespace {

constexpr std::array<std::string_view, 17> code_names = {
    "unknown",
    "cancelled",
    "unknown",
    "invalid_argument",
    "deadline_exceeded",
    "not_found",
    "already_exists",
    "permission_denied",
    "resource_exhausted",
    "failed_precondition",
    "aborted",
    "out_of_range",
    "unimplemented",
    "internal",
    "unavailable",
    "data_loss",
    "unauthenticated",
};

}  // namespace

std::string_view to_string(Code code) {
  const auto number = static_cast<std::size_t>(code);
  return number < code_names.size() ? code_names[number] : "unknown";
}

Code code_from_number(std::uint32_t number) {
  return number >= 1 && number < code_names.size() ? static_cast<Code>(number) : Code::unknown;
}

Error::Error(Code code, std::string message)
    : details_(new Details{.code = code, .message = std::move(message)}) {}

Error::Error(const Error& other) : details_(new Details(*other.details_)) {}

void Error::Delete::operator()(const Details* details) const { delete details; }

Error Error::with_maybe_executed() && {
  details_->maybe_executed = true;
  details_->not_executed = false;
  return std::move(*this);
}

Error Error::with_not_executed() && {
  details_->not_executed = !details_->maybe_executed;
  return std::move(*this);
}

Error Error::without_not_executed() && {
  details_->not_executed = false;
  return std::move(*this);
}

Error Error::with_attempt(const Error& earlier) && {
  details_->maybe_executed = details_->maybe_executed || earlier.maybe_executed();
  details_->not_executed = details_->not_executed && earlier.not_executed();
  return std::move(*this);
}

Error Error::with_retry_after(std::chrono::milliseconds delay) && {
  details_->retry_after = delay;
  return std::move(*this);
}

Error Error::with_detail(std::string detail) && {
  details_->detail = std::move(detail);
  return std::move(*this);
}

Error Error::with_origin(Origin origin) && {
  if (details_->origin == Origin::unknown) details_->origin = origin;
  return std::move(*this);
}

bool Error::Details::operator==(const Details& other) const {
  return code == other.code && maybe_executed == other.maybe_executed &&
         not_executed == other.not_executed && retry_after == other.retry_after &&
         message == other.message && detail == other.detail;
}

Error Error::with_context(std::string_view context) && {
  details_->message.insert(0, ": ").insert(0, context);
  return std::move(*this);
}

std::string Error::to_string() const {
  std::string text(corolane::to_string(code()));
  if (!message().empty()) text.append(": ").append(message());
  return text;
}

std::ostream& operator<<(std::ostream& out, Code code) { return out << to_string(code); }

std::ostream& operator<<(std::ostream& out, const Error& error) { return out << error.to_string(); }

}  // namespace corolane
