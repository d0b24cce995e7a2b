// SPDX-License-Identifier: MIT
#include "rpc/observe/call_outcome.h"

namespace corolane::rpc {

std::optional<Code> outcome_of(Context& call, const Result<void>& result) {
  if (result) return std::nullopt;
  const Code code = result.error().code();
  const bool is_late = code == Code::cancelled && call.deadline().time() <= call.returned_at();
  return is_late ? Code::deadline_exceeded : code;
}

std::string_view to_string(const std::optional<Code>& outcome) {
  return outcome ? to_string(*outcome) : "ok";
}

bool is_fault_of_server(Code code) {
  switch (code) {
    case Code::unknown:
    case Code::deadline_exceeded:
    case Code::unimplemented:
    case Code::internal:
    case Code::unavailable:
    case Code::data_loss:
      return true;
    default:
      return false;
  }
}

}  // namespace corolane::rpc
