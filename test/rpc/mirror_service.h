// SPDX-License-Identifier: MIT
// The Mirror service: returns its request.
#pragma once

#include "test/rpc/mirror.corolane.h"

namespace corolane::test {

class MirrorService : public MirrorBase {
 public:
  Result<Everything> reflect(const Everything& request, rpc::Context&) override { return request; }
  Result<Everything> show(const Everything& request, rpc::Context&) override { return request; }
};

}  // namespace corolane::test
