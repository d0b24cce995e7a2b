// SPDX-License-Identifier: MIT
// Shards that hang, on the real loop.
#include "framework/node/detail/shard_pulse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "framework/cluster/cluster.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/counter.h"
#include "test/framework/directory/faulty_directory.h"
#include "test/framework/test_node.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

// NodeLines that any thread may write.
class NodeLines {
 public:
  Log log() {
    return Log(LogLevel::error, [this](std::string_view line) {
      const std::scoped_lock lock(mutex_);
      all_.emplace_back(line);
    });
  }
  std::vector<std::string> with(std::string_view text) const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> found;
    std::ranges::copy_if(all_, std::back_inserter(found),
                         [&](const std::string& line) { return line.contains(text); });
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

template <typename F>
void wait_until(F&& is_so) {
  const Deadline deadline = test::soon();
  while (!is_so() && !deadline.has_passed()) ASSERT_TRUE(coroutine::sleep_for(1ms));
  ASSERT_TRUE(is_so());
}

// A tenth of the times of a real node. Its clock keeps the watchdog from ending the test.
Node::Parts parts(std::shared_ptr<Directory> directory) {
  Node::Parts parts{.directory = std::move(directory), .clock = now};
  parts.cluster.membership.keepalive_interval = 150ms;
  parts.cluster.membership.shard_silence_max = 300ms;
  parts.cluster.membership.fence_after = 1s;
  return parts;
}

void hang_costs_partitions(std::size_t its_number, bool has_control_loop) {
  const std::string number = std::to_string(its_number);
  NodeLines lines;
  LocalDirectory table(1'000);
  test::run_on_real_loop([&](test::RealLoop& real) {
    NodeConfig config = test::node_config("two");
    config.shards = 2;
    auto its_parts = parts(std::make_shared<test::FaultyDirectory>(table));
    its_parts.has_control_loop = has_control_loop;
    Node node(config, real.network, lines.log(), std::move(its_parts));
    node.host<test::Counter>();
    ASSERT_TRUE(node.start());
    ASSERT_TRUE(coroutine::sleep_for(2s));
    EXPECT_EQ(node.cluster()->statistics().fence_count, 0U);

    std::promise<void> end;
    auto hanging = coroutine::spawn("hang", [&] {
      return node.on_each_shard([&](Shard& shard) -> Result<void> {
        if (shard.index() == its_number) end.get_future().wait();  // Blocks the thread.
        return {};
      });
    });
    wait_until([&] { return !node.fence().is_in_time(); });
    EXPECT_THAT(lines.with("a shard hangs"), ElementsAre(HasSubstr("shard=" + number)));
    // The fence falls by the clock, before the first shard tells and drops anything.
    wait_until([&] { return !lines.with("the node is fenced").empty(); });
    EXPECT_THAT(lines.with("the node is fenced"),
                ElementsAre(HasSubstr("shard " + number + " hangs")));
    wait_until([&] { return node.fence().drop().has_value(); });

    // It turns again: the node has dropped all, and comes back.
    end.set_value();
    EXPECT_TRUE(hanging.join(Deadline::never()));
    wait_until([&] { return node.cluster()->statistics().join_count == 2; });
    wait_until([&] { return node.cluster()->statistics().owned_count == partition_count_min; });
    EXPECT_TRUE(node.stop(Deadline::after(5s)));
  });
}

TEST(ShardPulseTest, AShardThatHangsCostsTheNodeItsPartitions) {
  hang_costs_partitions(1, /*has_control_loop=*/false);
}

TEST(ShardPulseTest, WithAControlLoopSoDoesEveryShardThatHangs) {
  hang_costs_partitions(0, /*has_control_loop=*/true);
  hang_costs_partitions(1, /*has_control_loop=*/true);
}

}  // namespace
}  // namespace corolane::framework::detail
