// SPDX-License-Identifier: MIT
#include "tools/benchmarks/floor/records.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coroutine/base/check.h"
#include "tools/benchmarks/order.h"

namespace corolane::bench {
namespace {

constexpr std::size_t record_count = 1'000'000;

// Has the size of a coroutine::Timer.
struct Record {
  std::uint64_t touch_count = 0;
  std::uint64_t rest[3] = {};
};

}  // namespace

Result<Measurement> floor_random_record() {
  std::vector<Record> records(record_count);
  const std::vector<std::size_t> order = turn_order(record_count, /*random=*/true);
  std::size_t next = 0;
  std::uint64_t expected_count = 0;
  auto measured = time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
    watch.start();
    for (std::size_t index = 0; index < op_count; ++index) {
      ++records[order[next]].touch_count;
      if (++next == record_count) next = 0;
    }
    watch.stop();
    expected_count += op_count;
    return op_count;
  });
  std::uint64_t touch_count = 0;
  for (const Record& record : records) touch_count += record.touch_count;
  check(touch_count == expected_count, "every record of a batch was touched");
  return measured;
}

}  // namespace corolane::bench
