// Who is told what a simulation checks afterwards and nobody else sees: which owner has answered.
#pragma once

#include "framework/detail/object_cell.h"
#include "rpc/object_target.h"

namespace corolane::framework::detail {

class Witness {
 public:
  // A reply leaves that object now. Must not suspend.
  virtual void on_reply(const ObjectCell& cell, const rpc::RequestId& request_id) = 0;

 protected:
  ~Witness() = default;
};

}  // namespace corolane::framework::detail
