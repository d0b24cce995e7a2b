// SPDX-License-Identifier: MIT
// Sees the calls of objects that a program makes from outside the cluster, for example to record
// their history (ClusterClient::Options::observer).
//
//   class Retries final : public CallObserver {
//    public:
//     void on_call(const CallRecord& record, const google::protobuf::Message&,
//                  const google::protobuf::Message&) override {
//       count += record.errors.size();
//     }
//     std::size_t count = 0;
//   };
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/error.h"
#include "rpc/service.h"

namespace corolane::framework {

// A call and its outcome. Refers to texts: valid during the call.
struct CallRecord {
  const rpc::Method* method;
  std::string_view object;
  // The caller of its request id makes one call after the other.
  std::string_view caller;
  std::uint64_t sequence = 0;  // 0: it had no request id.
  TimePoint begin;
  TimePoint end;
  std::vector<Code> errors;  // The errors after which it was retried.
  std::optional<Code> failure = {};
};

class CallObserver {
 public:
  // A call has ended. `reply` is meaningless after a failure.
  virtual void on_call(const CallRecord& record, const google::protobuf::Message& request,
                       const google::protobuf::Message& reply) = 0;

 protected:
  ~CallObserver() = default;
};

}  // namespace corolane::framework
