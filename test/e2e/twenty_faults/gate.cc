// SPDX-License-Identifier: MIT
// Callers that do what a single client of a test cannot do at once.
#include "test/e2e/twenty_faults/gate.h"

#include <chrono>
#include <memory>
#include <string>

#include "coroutine/base/try.h"
#include "coroutine/sync/event.h"
#include "framework/routing/router.h"
#include "test/e2e/twenty_faults/thing.corolane.h"

namespace faults {

using namespace std::chrono_literals;
using corolane::Deadline;
using corolane::Result;
using corolane::rpc::Context;
namespace coroutine = corolane::coroutine;

Result<GateAnswer> Gate::crowd(const GateAsk& ask, Context& context) {
  // The callers outlast this call.
  struct Refusals {
    GateAnswer answer;
    coroutine::Event one{"the first refusal"};
  };
  const auto refusals = std::make_shared<Refusals>();
  for (std::uint32_t i = 0; i < ask.number(); ++i) {
    COROLANE_TRY(crowd_.spawn("player", [this, refusals, thing = ask.thing()] {
      auto held = ThingClient(router_, thing).hold_turn({}, {.deadline = Deadline::after(1min)});
      if (held) return;
      refusals->answer.set_refused(refusals->answer.refused() + 1);
      if (refusals->answer.text().empty()) refusals->answer.set_text(held.error().to_string());
      refusals->one.set();
    }));
  }
  COROLANE_TRY(refusals->one.wait(context.deadline()));
  return refusals->answer;
}

Result<GateAnswer> Gate::dig_often(const GateAsk& ask, Context&) {
  constexpr std::uint32_t shallow = 48 * 1024;
  constexpr std::uint32_t deep = 4 * 1024;  // A sixteenth of the stack.
  ThingClient thing(router_, ask.thing());
  for (std::uint32_t i = 0; i <= ask.number(); ++i) {
    ThingAsk dig;
    dig.set_number(i < ask.number() ? shallow : deep);
    COROLANE_TRY(thing.dig(dig));
  }
  return GateAnswer();
}

Result<GateAnswer> Gate::tell(const GateAsk&, Context&) {
  GateAnswer answer;
  answer.set_text(std::string(60'000, 'x'));
  return answer;
}

}  // namespace faults
