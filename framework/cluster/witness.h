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

// Why a reply may leave its object: its node has a lease, or the store has accepted the write of
// its change, or has found the owner's seal when it was asked.
enum class Proof : std::uint8_t { lease, write, question };

// A reply that leaves its object. Valid during the call.
struct OwnerReply {
  std::string_view type;  // "package.Counter".
  std::string_view id;
  Partition partition;
  std::uint64_t epoch = 0;    // That of the ownership behind the reply.
  std::uint64_t version = 0;  // How often the object was stored.
  rpc::RequestId request_id = {};
  Proof proof = Proof::lease;
};

// A call that an object makes to another one. Valid during the call.
struct OwnerCall {
  std::string_view type;
  std::string_view id;
  Partition partition;
  std::uint64_t epoch = 0;
  bool is_proven = false;
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
