// SPDX-License-Identifier: MIT
// Four tasks for two directions, which end together.
#include "net/testing/chaos_link.h"

#include <utility>

namespace corolane::test {

using Kind = ChaosEvent::Kind;

// Each direction draws from its own random source, so their interleaving changes nothing.
ChaosLink::ChaosLink(Surroundings surroundings, std::unique_ptr<net::Stream> client,
                     std::unique_ptr<net::Stream> target, const ChaosPlan& plan, Random& random)
    : surroundings_(surroundings),
      client_(std::move(client)),
      target_(std::move(target)),
      to_target_(way(ChaosDirection::to_target), plan.to_target, Random(random.any())),
      to_client_(way(ChaosDirection::to_client), plan.to_client, Random(random.any())) {}

void ChaosLink::run() {
  for (ChaosLane* const lane : {&to_target_, &to_client_}) {
    const auto taking = tasks_.spawn("chaos take in", [lane] { lane->take_in(); });
    const auto handing = tasks_.spawn("chaos hand on", [lane] { lane->hand_on(); });
    if (!taking || !handing) end(Kind::broken, ChaosDirection::to_target);
  }
  static_cast<void>(tasks_.join(Deadline::never()));
  tasks_.cancel_and_join();
}

void ChaosLink::inject(ChaosFault fault) {
  if (fault == ChaosFault::reset || fault == ChaosFault::close) {
    end(fault == ChaosFault::reset ? Kind::reset : Kind::closed, ChaosDirection::to_target);
  } else {
    to_target_.inject_after(fault, 0);
    to_client_.inject_after(fault, 0);
  }
}

void ChaosLink::resume() {
  to_target_.resume();
  to_client_.resume();
}

void ChaosLink::heal() {
  const bool to_target_is_whole = to_target_.heal();
  const bool to_client_is_whole = to_client_.heal();
  if (!to_target_is_whole || !to_client_is_whole) end(Kind::reset, ChaosDirection::to_target);
}

ChaosLane::Way ChaosLink::way(ChaosDirection direction) {
  const bool to_target = direction == ChaosDirection::to_target;
  return {.trace = surroundings_.trace,
          .connection = surroundings_.number,
          .direction = direction,
          .source = to_target ? *client_ : *target_,
          .destination = to_target ? *target_ : *client_,
          .end_connection = [this, direction](Kind kind) { end(kind, direction); }};
}

void ChaosLink::end(Kind kind, ChaosDirection direction) {
  if (std::exchange(ended_, true)) return;
  surroundings_.trace.record(kind, surroundings_.number, direction);
  for (net::Stream* const stream : {client_.get(), target_.get()}) {
    if (kind == Kind::closed) {
      stream->close();
    } else {
      surroundings_.break_off(*stream);
    }
  }
  tasks_.cancel();
}

}  // namespace corolane::test
