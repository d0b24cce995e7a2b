// SPDX-License-Identifier: MIT
// Two chains of calls that wait for each other: a call of one waits for an object that the other
// one holds, and the other way around. One of them is failed at once, instead of both at their
// deadlines. A chain that waits for itself is found before (call_chain.h).
#include <chrono>
#include <string>
#include <string_view>
#include <tuple>

#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/detail/object_turn.h"
#include "framework/wire/detail/method_name.h"

namespace corolane::framework::detail {
namespace {

Error waits_for_each_other(const std::string& ours, const std::string& theirs) {
  return Error(Code::aborted, "two chains of calls would wait for each other: " + ours +
                                  ", which waits for " + theirs)
      .with_not_executed();
}

// The innermost call that holds its turn.
const CallChain::Link* last_of(const CallChain::Link* link) {
  while (link != nullptr && !link->has_ended && link->is_outside) link = link->parent.get();
  return link;
}

// The rest of the chain of a visitor that makes that call.
std::string text_of(const ObjectVisitor& visitor, const ObjectCell& cell, std::string_view method,
                    std::string_view id) {
  return text_of_calls(visitor.facts().callers.get(), visitor.facts().what, cell.id()) + " -> " +
         text_of_calls(nullptr, method, id);
}

}  // namespace

// The caller gets the error. The operator is told, too: it is a mistake of the service.
Error ObjectHost::refused_cycle(Error error) const {
  constexpr Duration told_interval = std::chrono::seconds(10);
  ++refused_cycle_count_;
  const TimePoint time = now();
  if (cycle_told_at_ == TimePoint{} || time - cycle_told_at_ >= told_interval) {
    cycle_told_at_ = time;
    log_.warning("a call that would close a cycle of waiting objects is refused",
                 {{"cycle", error.message()}, {"refused_so_far", refused_cycle_count_}});
  }
  return error;
}

// Calls that only read share the turns of their objects. True for a method that this node does not
// know: its call may be one of them.
bool ObjectHost::shares_turns(std::string_view method) const {
  const rpc::Method* const known = find_method(method);
  return known == nullptr || known->read_only;
}

// The call has arrived here, and waits for its turn. A visitor that has one may wait, in its turn,
// for an object of the call's own chain.
Result<void> ObjectHost::check_may_wait(const Turn& turn, const rpc::Method& method,
                                        bool is_shared) const {
  const ObjectCell& cell = turn.cell();
  const CallChain::Link* const callers = turn.facts().callers.get();
  for (const auto* holder = cell.visitors(); holder != nullptr; holder = holder->next()) {
    if (holder == &turn.visitor() || holder->stage() != ObjectVisitor::Stage::inside) continue;
    if (is_shared && holder->is_shared()) continue;
    for (const auto* out = holder->out_calls(); out != nullptr; out = out->next()) {
      // A stream may have brought already what its reader waits for.
      if (out->method().server_streaming) continue;
      const CallChain::Link* const held = find_call(callers, out->type(), out->id());
      if (held == nullptr || (out->method().read_only && shares_turns(held->method))) continue;
      // When two objects call each other, both find it. The one with the larger name tells.
      const bool is_told_there = held == last_of(callers) && !method.server_streaming &&
                                 std::tuple(cell.type().name(), std::string_view(cell.id())) <
                                     std::tuple(out->type(), out->id());
      if (is_told_there) continue;
      return refused_cycle(
          waits_for_each_other(text_of_calls(callers, method.full_name, cell.id()),
                               text_of(*holder, cell, out->method().full_name, out->id())));
    }
  }
  return {};
}

// The object that calls, in the task of its handler or in one that the handler has spawned; null
// when it is not here.
const ObjectCell* ObjectHost::cell_of(const CallChain::Link& caller) const {
  const CallChain::Frame* const frame = CallChain::current()->frame();
  if (frame != nullptr && frame->turn() != nullptr) {
    return &static_cast<const Turn*>(frame->turn())->cell();
  }
  const HostedType* const type = find_type(type_of(caller.method));
  return type == nullptr ? nullptr : type->find(caller.id);
}

// The caller is about to call another object. A call whose chain holds that one may be waiting for
// the caller's own turn.
Result<void> ObjectHost::check_call_out(const CallChain::Link& caller, const rpc::Method& method,
                                        std::string_view type, std::string_view id) const {
  const ObjectCell* const cell = cell_of(caller);
  // Most have no other visitor.
  if (cell == nullptr || cell->visitors() == nullptr || cell->visitors()->next() == nullptr) {
    return {};
  }
  if (caller.is_outside || method.server_streaming) return {};
  const bool is_shared = shares_turns(caller.method);
  for (const auto* waiter = cell->visitors(); waiter != nullptr; waiter = waiter->next()) {
    if (waiter->stage() != ObjectVisitor::Stage::waiting) continue;
    if (is_shared && waiter->is_shared()) continue;
    const CallChain::Link* const held = find_call(waiter->facts().callers.get(), type, id);
    if (held == nullptr || (method.read_only && shares_turns(held->method))) continue;
    return refused_cycle(waits_for_each_other(
        text_of_calls(&caller, method.full_name, id),
        text_of_calls(waiter->facts().callers.get(), waiter->facts().what, cell->id())));
  }
  return {};
}

}  // namespace corolane::framework::detail
