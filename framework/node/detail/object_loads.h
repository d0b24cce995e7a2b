// SPDX-License-Identifier: MIT
// What the objects of a shard compute, for the balancer and for pages.
#pragma once

#include "framework/node/inspection.pb.h"

namespace corolane::framework {

class Shard;

namespace detail {

// Other tasks of the shard run meanwhile.
LoadsReply loads_of(const Shard& shard);

}  // namespace detail
}  // namespace corolane::framework
