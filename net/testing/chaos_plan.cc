// SPDX-License-Identifier: MIT
// How fates and whole plans are drawn.
#include "net/testing/chaos_plan.h"

#include <utility>

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

bool happens(Random& random, ChaosPlan::OneIn one_in) {
  return one_in != 0 && random.one_in(one_in);
}

// Between one in `most` and one in four times `most`, or none.
ChaosPlan::OneIn random_frequency(Random& random, ChaosPlan::OneIn most) {
  return random.one_in(2) ? 0 : static_cast<ChaosPlan::OneIn>(most * (1 + random.below(4)));
}

ChaosPlan::Lane random_lane(Random& random) {
  ChaosPlan::Lane lane;
  if (random.one_in(2)) lane.delay = random.up_to(20ms);
  if (random.one_in(2)) lane.jitter = random.up_to(20ms);
  if (random.one_in(2)) lane.slice_bytes_max = 1 + random.below(random.one_in(2) ? 8 : 4096);
  if (random.one_in(4)) lane.bytes_per_second = 4096 + random.below(1 << 20);
  lane.pause_one_in = random_frequency(random, 10);
  lane.pause_max = random.up_to(500ms);
  lane.overtake_one_in = random_frequency(random, 3);
  return lane;
}

}  // namespace

std::string_view to_string(ChaosDirection direction) {
  return direction == ChaosDirection::to_target ? "to the target" : "to the client";
}

std::string_view to_string(ChaosFault fault) {
  switch (fault) {
    case ChaosFault::reset:
      return "reset";
    case ChaosFault::close:
      return "close";
    case ChaosFault::half_close:
      return "half-close";
    case ChaosFault::drop:
      return "drop";
    case ChaosFault::hang:
      return "hang";
  }
  std::unreachable();
}

ChaosPlan ChaosPlan::random(Random& random) {
  ChaosPlan plan;
  plan.reset_one_in = random_frequency(random, 2);
  plan.close_one_in = random_frequency(random, 3);
  plan.half_close_one_in = random_frequency(random, 4);
  plan.drop_one_in = random_frequency(random, 4);
  plan.hang_one_in = random_frequency(random, 4);
  plan.fault_bytes_max = random.one_in(4) ? 64 : 16 * 1024;
  plan.refuse_one_in = random_frequency(random, 4);
  if (random.one_in(3)) plan.connect_delay_max = random.up_to(300ms);
  plan.to_target = random_lane(random);
  plan.to_client = random_lane(random);
  return plan;
}

ChaosFate ChaosFate::draw(const ChaosPlan& plan, Random& random) {
  ChaosFate fate;
  fate.refused = happens(random, plan.refuse_one_in);
  fate.connect_delay = random.up_to(plan.connect_delay_max);
  fate.direction = random.one_in(2) ? ChaosDirection::to_target : ChaosDirection::to_client;
  fate.fault_at = random.below(plan.fault_bytes_max + 1);
  const std::pair<ChaosFault, ChaosPlan::OneIn> faults[] = {
      {ChaosFault::reset, plan.reset_one_in},
      {ChaosFault::close, plan.close_one_in},
      {ChaosFault::half_close, plan.half_close_one_in},
      {ChaosFault::drop, plan.drop_one_in},
      {ChaosFault::hang, plan.hang_one_in},
  };
  for (const auto& [fault, one_in] : faults) {
    // All are drawn, so that another kind of fault leaves the other fates unchanged.
    if (happens(random, one_in) && !fate.fault) fate.fault = fault;
  }
  return fate;
}

}  // namespace corolane::test
