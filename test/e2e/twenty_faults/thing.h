// SPDX-License-Identifier: MIT
// A thing of a game that is broken in one way by each of its methods (thing.proto).
#pragma once

#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "test/e2e/twenty_faults/faults_config.h"
#include "test/e2e/twenty_faults/thing.corolane.h"

namespace faults {

using corolane::Result;
using corolane::rpc::Context;

class Thing : public ThingObject {
 public:
  // `config` outlives it.
  explicit Thing(const FaultsConfig& config) : config_(config) {}

  Result<void> on_reminder(const corolane::framework::Reminder& reminder) override;

  Result<ThingAnswer> overflow(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> recurse(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> use_null(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> fail_check(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> free_twice(const ThingAsk& ask, Context& context) override;

  Result<ThingAnswer> throw_range(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> throw_number(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> remind(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> keep(const ThingAsk& ask, Context& context) override;

  Result<ThingAnswer> spin(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> compute(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> sleep(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> poll(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> hold_std_mutex(const ThingAsk& ask, Context& context) override;

  Result<ThingAnswer> hold_turn(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> add(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> call_round(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> call_back(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> cross(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> keep_mutex(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> take_mutex(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> miss_bell(const ThingAsk& ask, Context& context) override;

  Result<ThingAnswer> leak(const ThingAsk& ask, Context& context) override;
  Result<ThingAnswer> dig(const ThingAsk& ask, Context& context) override;

 private:
  const FaultsConfig& config_;
  corolane::coroutine::Event bell_{"the bell"};
  corolane::coroutine::TaskGroup followers_;
};

}  // namespace faults
