// SPDX-License-Identifier: MIT
// The data that a call of an object carries on its way to the node where the object lives
// (framework/objects/object.h).
//
//   if (const rpc::ObjectTarget* target = context.object()) {
//     span.attribute("object.id", target->id);
//     span.attribute("caller", target->request_id.caller);
//   }
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace corolane::rpc {

// Identifies a call, so that a repeated call takes effect once: `caller` makes calls one after the
// other, such as a player or a match; `sequence` counts them from 1.
struct RequestId {
  static constexpr std::size_t caller_bytes_max = 64;
  static constexpr std::size_t scope_bytes_max = 16;
  // An object remembers a call for this long after its end. No caller may repeat it later.
  static constexpr std::chrono::minutes memory_time{10};
  // How long object routers retry a call; the rest allows for clock differences.
  static constexpr std::chrono::minutes retry_time_max{5};

  std::string_view caller = {};  // Empty: no request id.
  std::uint64_t sequence = 0;
  // The namespace of `caller`. Empty: the cluster itself. For a client the server derives it from
  // Client::Options::requester, so that no other client can name its calls.
  std::string_view scope = {};

  explicit operator bool() const { return !caller.empty(); }
  bool operator==(const RequestId&) const = default;
};

// A call that waits for the current one.
struct ObjectCall {
  std::string_view method;  // "package.Counter/Add".
  std::string_view id;
};

// Holds views: valid during the call.
struct ObjectTarget {
  std::string_view id;
  // The epochs of the node that should serve the call, and of its ownership of the object's
  // partition, as far as the caller knows; 0: unknown, and the call may be forwarded. Always 0 from
  // a client.
  std::uint64_t node_epoch = 0;
  std::uint64_t partition_epoch = 0;
  RequestId request_id = {};
  // The calls that wait for this one, the outermost first; empty from a client.
  std::span<const ObjectCall> chain = {};
};

}  // namespace corolane::rpc
