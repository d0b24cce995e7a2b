// SPDX-License-Identifier: MIT
// The way in for many players at once.
#pragma once

#include "coroutine/task_group.h"
#include "test/e2e/twenty_faults/gate.corolane.h"

namespace corolane::framework {
class Router;
}

namespace faults {

class Gate : public GateBase {
 public:
  // `router` outlives it.
  explicit Gate(corolane::framework::Router& router) : router_(router) {}

  corolane::Result<GateAnswer> crowd(const GateAsk& ask, corolane::rpc::Context& context) override;
  corolane::Result<GateAnswer> dig_often(const GateAsk& ask,
                                         corolane::rpc::Context& context) override;
  corolane::Result<GateAnswer> tell(const GateAsk& ask, corolane::rpc::Context& context) override;

 private:
  corolane::framework::Router& router_;
  corolane::coroutine::TaskGroup crowd_;
};

}  // namespace faults
