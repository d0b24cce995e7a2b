// SPDX-License-Identifier: MIT
// Runs a test twice: as a recorded node over the real network, and replayed from the recording
// without a network.
//
//   TEST(InboxNetworkTest, Echoes) {
//     live_twice([](net::Network& network) {
//       auto listener = network.listen({"127.0.0.1", 0});
//       ...
//     });
//   }
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/testing/temporary_folder.h"
#include "framework/recording/detail/file_feed.h"
#include "framework/recording/detail/inbox.h"
#include "framework/recording/detail/inbox_network.h"
#include "framework/recording/detail/live_feed.h"
#include "framework/recording/detail/outside.h"
#include "framework/recording/detail/recording_file.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"

namespace corolane::framework::recording {

using Body = std::function<void(net::Network& network, Inbox& inbox)>;

// Disables the measurements, which differ in each run.
inline coroutine::Scheduler::Options without_samples() {
  return {.switch_sample_interval = 0,
          .create_sample_interval = 0,
          .stack_sample_interval = 0,
          .cpu_sample_interval = Duration::zero()};
}

// A hash of all requests and arrivals.
inline std::uint64_t live(Feed& feed, const Body& body) {
  Inbox inbox(feed);
  coroutine::Scheduler scheduler(inbox, without_samples());
  const auto ran = scheduler.run("test in an inbox", [&] {
    InboxNetwork network(inbox);
    body(network, inbox);
  });
  EXPECT_TRUE(ran) << ran;
  EXPECT_EQ(scheduler.stacks().statistics().in_use_count, 0u) << "stacks left behind";
  return inbox.hash();
}

inline std::uint64_t record(const std::string& path, const Body& body,
                            const Outside::OpenStore& open_store = nullptr) {
  Header header;
  header.set_version("of a test");
  auto file = RecordingWriter::create(path, 64 << 20, header);
  EXPECT_TRUE(file) << file;
  Log log(LogLevel::error);
  net::EventLoop loop;
  std::uint64_t hash = 0;
  {
    net::UvNetwork network(loop);
    coroutine::Scheduler scheduler(loop);
    const auto ran = scheduler.run("outside of a test", [&] {
      LiveFeed feed(**file, log);
      Outside outside(network, open_store,
                      [&feed](Arrival arrival) { feed.push(std::move(arrival)); });
      feed.set_outside(outside);
      coroutine::Event ended;
      std::thread node([&] {
        hash = live(feed, body);
        feed.end();
        scheduler.post([&ended] { ended.set(); });
      });
      EXPECT_TRUE(ended.wait(Deadline::never()));
      node.join();
    });
    EXPECT_TRUE(ran) << ran;
  }
  EXPECT_EQ(loop.open_handle_count(), 0u) << "handles left behind";
  return hash;
}

inline std::uint64_t replay(const std::string& path, const Body& body) {
  auto file = RecordingReader::open(path);
  EXPECT_TRUE(file) << file;
  FileFeed feed(*std::move(file), [](const std::string& how, bool) { check(false, how); });
  const std::uint64_t hash = live(feed, body);
  feed.end();
  return hash;
}

inline void live_twice(const Body& body) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "recording";
  const std::uint64_t recorded = record(path, body);
  EXPECT_EQ(replay(path, body), recorded);
}

}  // namespace corolane::framework::recording
