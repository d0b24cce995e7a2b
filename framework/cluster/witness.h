// SPDX-License-Identifier: MIT
// Reports the replies of owners to the checkers of a simulation.
//
//   class ReplyCount final : public Witness {
//    public:
//     void on_reply(const OwnerReply& reply) override { ++counts_[std::string(reply.type)]; }
//
//    private:
//     std::map<std::string, int> counts_;
//   };
#pragma once

#include <cstdint>
#include <string_view>

#include "framework/wire/partition.h"
#include "rpc/object_target.h"

namespace corolane::framework {

// A reply that leaves its object. Valid during the call.
struct OwnerReply {
  std::string_view type;  // "package.Counter".
  std::string_view id;
  Partition partition;
  std::uint64_t epoch = 0;    // That of the ownership behind the reply.
  std::uint64_t version = 0;  // How often the object was stored.
  rpc::RequestId request_id = {};
};

// A call that an object makes to another one. Valid during the call.
struct OwnerCall {
  std::string_view type;
  std::string_view id;
  Partition partition;
  std::uint64_t epoch = 0;
};

// Its functions must not suspend.
class Witness {
 public:
  virtual void on_reply(const OwnerReply& reply) = 0;
  virtual void on_call(const OwnerCall&) {}

 protected:
  ~Witness() = default;
};

}  // namespace corolane::framework
