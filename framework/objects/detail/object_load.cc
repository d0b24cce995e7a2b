// SPDX-License-Identifier: MIT
// The CPU time of each object, and of each partition.
#include "coroutine/task.h"
#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/detail/object_turn.h"
#include "framework/wire/detail/call_chain.h"

namespace corolane::framework::detail {

void ObjectHost::charge_running_object(std::uint64_t nanoseconds) {
  const CallChain* const chain = CallChain::peek();
  if (chain == nullptr || chain->frame() == nullptr || chain->frame()->turn() == nullptr) return;
  ObjectCell& cell = static_cast<const Turn*>(chain->frame()->turn())->cell();
  cell.cpu.add(nanoseconds);
  cell.type().loads.charge(cell.partition(), nanoseconds);
}

void ObjectHost::measure_loads() {
  TimePoint last = now();
  while (coroutine::sleep_for(load_interval)) {
    const TimePoint time = now();
    for (const auto& type : types_) type->loads.look(time - last);
    last = time;
  }
}

}  // namespace corolane::framework::detail
