// SPDX-License-Identifier: MIT
#include "rpc/observe/call_outcome.h"

namespace corolane::rpc {
namespace {

bool ended_late(Context& call, const Error& error) {
  return error.code() == Code::cancelled && call.deadline().time() <= call.returned_at();
}

}  // namespace

std::optional<Code> outcome_of(Context& call, const Result<void>& result) {
  if (result) return std::nullopt;
  return ended_late(call, result.error()) ? Code::deadline_exceeded : result.error().code();
}

std::string_view to_string(const std::optional<Code>& outcome) {
  return outcome ? to_string(*outcome) : "ok";
}

bool is_fault_of_server(const Error& error, bool is_late) {
  switch (error.code()) {
    case Code::unknown:
    case Code::deadline_exceeded:
    case Code::unimplemented:
    case Code::internal:
    case Code::unavailable:
    case Code::data_loss:
      return true;
    case Code::cancelled:
      return is_late;
    case Code::resource_exhausted:
      return error.origin() == Origin::runtime;
    case Code::invalid_argument:
    case Code::not_found:
    case Code::already_exists:
    case Code::permission_denied:
    case Code::failed_precondition:
    case Code::aborted:
    case Code::out_of_range:
    case Code::unauthenticated:
      break;
  }
  return false;
}

bool is_fault_of_server(Context& call, const Result<void>& result) {
  return !result && is_fault_of_server(result.error(), ended_late(call, result.error()));
}

}  // namespace corolane::rpc
