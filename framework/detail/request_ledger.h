// Which calls with a request id have taken effect on an object, and what they were replied: part of
// what the object keeps, and stored with it, so that a call that is made again takes effect once.
//
// Bounds: the 64 callers that called last; of each the last sequence, which of the 64 before it
// have taken effect, and the last eight replies.
#pragma once

#include <cstdint>
#include <string>

#include "coroutine/base/result.h"
#include "framework/objects.pb.h"
#include "rpc/object_target.h"

namespace corolane::framework::detail {

class RequestLedger {
 public:
  static constexpr int caller_count_max = 64;
  static constexpr int reply_count_max = 8;

  // The first reply of a call that has taken effect; null of one that has not. Fails with
  // failed_precondition when nobody knows any more, or the reply is forgotten.
  Result<const std::string*> find(const rpc::RequestId& id) const;
  // It has taken effect now.
  void add(const rpc::RequestId& id, std::string reply);

  void load(ObjectRecord& record) { record_.mutable_callers()->Swap(record.mutable_callers()); }
  void store(ObjectRecord& record) const { *record.mutable_callers() = record_.callers(); }
  bool is_empty() const { return record_.callers().empty(); }

 private:
  ObjectRecord record_;  // Its callers alone.
};

}  // namespace corolane::framework::detail
