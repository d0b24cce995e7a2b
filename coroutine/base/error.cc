#include "coroutine/base/error.h"

#include <array>

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

std::string Error::to_string() const {
  std::string text(corolane::to_string(code_));
  if (!message_.empty()) text.append(": ").append(message_);
  return text;
}

std::ostream& operator<<(std::ostream& out, Code code) { return out << to_string(code); }

std::ostream& operator<<(std::ostream& out, const Error& error) { return out << error.to_string(); }

}  // namespace corolane
