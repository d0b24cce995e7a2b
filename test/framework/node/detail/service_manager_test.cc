// SPDX-License-Identifier: MIT
// The notifications that nodes in processes of their own send to a service manager, here a socket
// of the test.
#include "framework/node/detail/service_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/testing/temporary_folder.h"
#include "net/endpoint.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "rpc/client/client.h"
#include "test/framework/slow_service.h"
#include "tools/processes/child_process.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::ChildProcess;
using testing::HasSubstr;
using testing::StartsWith;

// Receives notifications at once, as systemd does: a sender blocks when a few messages are unread.
class FakeManager {
 public:
  FakeManager()
      : path_(folder_.path() / "notify"), socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    check(path_.size() < sizeof(address.sun_path), "the path is short enough for a socket");
    std::memcpy(address.sun_path, path_.c_str(), path_.size());
    check(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0,
          "the path is free");
    listener_ = std::thread([this] { listen(); });
  }
  ~FakeManager() {
    ::shutdown(socket_, SHUT_RD);
    listener_.join();
    ::close(socket_);
  }
  FakeManager(const FakeManager&) = delete;
  FakeManager& operator=(const FakeManager&) = delete;

  // The environment of the service; without a timeout it is not watched.
  std::vector<std::string> variables(std::chrono::microseconds timeout = 0us) const {
    std::vector<std::string> variables = {"NOTIFY_SOCKET=" + path_};
    if (timeout > 0us) variables.push_back("WATCHDOG_USEC=" + std::to_string(timeout.count()));
    return variables;
  }

  // Returns the next message. Blocks the thread.
  std::string hear() {
    std::unique_lock lock(mutex_);
    heard_.wait(lock, [this] { return !messages_.empty(); });
    std::string message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }
  // Returns the messages that have arrived and were not taken yet.
  std::vector<std::string> hear_all() {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> messages(messages_.begin(), messages_.end());
    messages_.clear();
    return messages;
  }
  // Returns the next message that begins like this. Blocks the thread.
  std::string hear_of(std::string_view beginning) {
    for (;;) {
      std::string message = hear();
      if (message.starts_with(beginning)) return message;
    }
  }

 private:
  void listen() {
    std::array<char, 4096> message;
    for (ssize_t size; (size = ::recv(socket_, message.data(), message.size(), 0)) > 0;) {
      const std::scoped_lock lock(mutex_);
      messages_.emplace_back(message.data(), static_cast<std::size_t>(size));
      heard_.notify_all();
    }
  }

  const test::TemporaryFolder folder_;
  const std::string path_;
  const int socket_;
  std::mutex mutex_;
  std::condition_variable heard_;
  std::deque<std::string> messages_;
  std::thread listener_;
};

ChildProcess start_node(const std::vector<std::string>& variables,
                        std::vector<std::string> arguments = {}) {
  for (const char* argument :
       {"--set", "node.clients.listen=127.0.0.1:0", "--set", "node.clients.login.anonymous=true",
        "--set", "node.admin.listen=127.0.0.1:0"}) {
    arguments.emplace_back(argument);
  }
  return {COROLANE_FIXTURE_NODE, std::move(arguments), variables};
}

// Parses the first line of a node.
net::Endpoint address_in(const std::string& line) {
  constexpr std::string_view before = R"(slow node "node" serves on )";
  EXPECT_THAT(line, StartsWith(std::string(before)));
  const std::size_t end = std::min(line.find(','), line.size());
  return net::parse_endpoint(line.substr(std::min(before.size(), end), end - before.size()))
      .value_or(net::Endpoint());
}

// Makes a handler of that node keep its loop for a while, and returns when the loop is free again.
void keep_loop(ChildProcess& node, const net::Endpoint& address, std::chrono::milliseconds time,
               const std::function<void()>& while_kept) {
  net::EventLoop loop;
  net::UvNetwork network(loop);
  coroutine::Scheduler scheduler(loop);
  const auto ran = scheduler.run("client", [&] {
    auto client =
        rpc::Client::connect(network, {address.address, address.port}, Deadline::after(10s));
    ASSERT_TRUE(client) << client;
    test::SlowClient slow(**client);
    auto busy = coroutine::spawn("busy", [&] {
      return slow.wait(test::keep_loop_request(time), {.deadline = Deadline::after(1h)});
    });
    // The call leaves between two turns; the first sleep may end in the turn of the call.
    for (int turn = 0; turn < 2; ++turn) ASSERT_TRUE(coroutine::sleep_for(1ms));
    EXPECT_EQ(node.read_line(), "keeps the loop");
    while_kept();
    EXPECT_TRUE(busy.join(Deadline::never()));
  });
  EXPECT_TRUE(ran) << ran;
}

TEST(ServiceManagerTest, ANodeReportsReadinessLivenessAndItsStop) {
  FakeManager manager;
  ChildProcess node = start_node(manager.variables(60ms), {"--set", "node.stop_time_max=3s"});
  const std::string listen = to_string(address_in(node.read_line()));
  EXPECT_EQ(manager.hear(), "READY=1\nSTATUS=serves on " + listen);
  EXPECT_EQ(manager.hear(), "WATCHDOG=1\nSTATUS=serves on " + listen + ", 0 calls running");
  EXPECT_EQ(manager.hear(), "WATCHDOG=1\nSTATUS=serves on " + listen + ", 0 calls running");
  node.send_signal(SIGTERM);
  EXPECT_EQ(node.wait().exit_status, 0);
  EXPECT_EQ(manager.hear_of("STOPPING=1\n"),
            "STOPPING=1\nEXTEND_TIMEOUT_USEC=5000000\nSTATUS=stops, within 5 s");
}

TEST(ServiceManagerTest, AHangingLoopSendsNoLiveness) {
  for (const char* shards : {"node.shards=1", "node.shards=3"}) {
    FakeManager manager;
    ChildProcess node = start_node(manager.variables(60ms), {"--set", shards});
    const net::Endpoint address = address_in(node.read_line());
    keep_loop(node, address, 1s, [&] { manager.hear_all(); });
    // A separate thread would have sent fifty; a few were already in flight.
    EXPECT_LE(manager.hear_all().size(), 10) << shards;
    EXPECT_THAT(manager.hear(), StartsWith("WATCHDOG=1\n")) << "it continues";
  }
}

TEST(ServiceManagerTest, AManagerWithoutAWatchdogIsNotifiedOfReadiness) {
  FakeManager manager;
  ChildProcess node = start_node(manager.variables());
  node.read_line();
  EXPECT_THAT(manager.hear(), StartsWith("READY=1\n"));
  node.send_signal(SIGTERM);
  EXPECT_EQ(node.wait().exit_status, 0);
  EXPECT_THAT(manager.hear_of("STOPPING=1\n"), HasSubstr("\nSTATUS=stops, within "));
}

TEST(ServiceManagerTest, TheReasonOfAFailedStartIsItsStatus) {
  FakeManager manager;
  ChildProcess node = start_node(manager.variables());
  const std::string listen = to_string(address_in(node.read_line()));
  ChildProcess second(
      COROLANE_FIXTURE_NODE,
      {"--set", "node.admin.listen=127.0.0.1:0", "--set", "node.clients.login.anonymous=true",
       "--set", "node.clients.listen=" + listen},
      manager.variables());
  EXPECT_EQ(second.wait().exit_status, 1);
  EXPECT_EQ(manager.hear_of("STATUS=cannot"),
            "STATUS=cannot listen on " + listen +
                ": address in use; another node? change node.clients.listen");
}

TEST(ServiceManagerTest, AMissingManagerIsNotAFailure) {
  ChildProcess node = start_node({"NOTIFY_SOCKET=/nobody/is/here", "WATCHDOG_USEC=3000"});
  node.read_line();
  node.send_signal(SIGTERM);
  EXPECT_EQ(node.wait().exit_status, 0);
  EXPECT_THAT(node.error_output(), HasSubstr(" warning the service manager does not hear error="));
}

TEST(ServiceManagerTest, LivenessMessagesAreReplayed) {
  FakeManager manager;
  const test::TemporaryFolder folder;
  const std::string file = folder.path() / "recording";
  ChildProcess node = start_node(manager.variables(3ms),
                                 {"--set", "node.shards=1", "--set", "node.record.file=" + file});
  node.read_line();
  for (int i = 0; i < 10; ++i) manager.hear();
  node.send_signal(SIGTERM);
  EXPECT_EQ(node.wait().exit_status, 0);

  FakeManager another;
  ChildProcess replay(COROLANE_FIXTURE_NODE, {"--replay", file}, another.variables());
  const std::string output = replay.rest_of_output();
  EXPECT_EQ(replay.wait().exit_status, 0) << output << replay.error_output();
  EXPECT_THAT(output, HasSubstr(": the same trace, "));
  EXPECT_EQ(another.hear_all().size(), 0) << "nobody is told what was once";
}

}  // namespace
}  // namespace corolane::framework::detail
