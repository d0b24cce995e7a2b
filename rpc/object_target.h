// What a call of an object says of it, on its way to wherever the object lives
// (framework/objects/object.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace corolane::rpc {

// Names a call for good, so that one that is made again takes effect once: `caller` is whoever
// makes calls one after the other, such as a player or a match, `sequence` counts them from 1.
struct RequestId {
  static constexpr std::size_t caller_bytes_max = 64;
  static constexpr std::size_t scope_bytes_max = 16;
  // An object remembers a call for so long after its end: nobody makes it again later than that.
  static constexpr std::chrono::minutes memory_time{10};
  // For how long routers of objects try it; the rest is for clocks that differ.
  static constexpr std::chrono::minutes retry_time_max{5};

  std::string_view caller = {};  // Empty: none.
  std::uint64_t sequence = 0;
  // Whose caller that is. Empty: of the cluster itself. Of a client it is what the server makes of
  // Client::Options::requester, so that nobody else can name its calls.
  std::string_view scope = {};

  explicit operator bool() const { return !caller.empty(); }
  bool operator==(const RequestId&) const = default;
};

// A call that waits for this one.
struct ObjectCall {
  std::string_view method;  // "package.Counter/Add".
  std::string_view id;
};

// Refers to what it names: valid during the call.
struct ObjectTarget {
  std::string_view id;
  // Of the node that is to serve it, and of its ownership of the object's partition, as the caller
  // knows them; 0: it does not, and the call may be sent on. Of a client always 0.
  std::uint64_t node_epoch = 0;
  std::uint64_t partition_epoch = 0;
  RequestId request_id = {};
  // The outermost first; of a client none.
  std::span<const ObjectCall> chain = {};
};

}  // namespace corolane::rpc
