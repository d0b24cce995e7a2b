// SPDX-License-Identifier: MIT
// Errors of calls that are not served here: another node owns the object (step 10 of the protocol
// in framework/cluster/README.md), or its id is invalid.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "framework/wire/partition.h"
#include "rpc/object_target.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

struct Moved {
  Partition partition = 0;
  // The owner, as known to the node that reports it; 0: unknown.
  std::uint64_t node_epoch = 0;
  std::uint64_t partition_epoch = 0;
};

// The code is aborted.
Error moved_error(std::string_view type, std::string_view id, const Moved& moved);
// Nothing for any other error.
std::optional<Moved> moved_of(const Error& error);

Error object_id_too_long(std::string_view type, std::string_view id);
// Fails with invalid_argument when the id is longer than object_id_bytes_max.
inline Result<void> check_object_id(std::string_view type, std::string_view id) {
  if (id.size() <= object_id_bytes_max) [[likely]]
    return {};
  return object_id_too_long(type, id);
}

// The error of a call that replies with a stream and has a request id. Nothing was executed.
Error stream_is_not_remembered(const rpc::Method& method);

// Whether a call may be retried although it may have been executed.
inline bool is_repeatable(const rpc::Method& method, const rpc::RequestId& request_id) {
  return method.idempotent || method.read_only || request_id;
}

}  // namespace corolane::framework::detail
