// SPDX-License-Identifier: MIT
// run_main() in processes of their own: command line, configuration, signals, exit status.
#include "framework/run/run_main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/loader.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/temporary_folder.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "rpc/client/client.h"
#include "test/framework/pages/pages.h"
#include "test/framework/slow_service.h"
#include "tools/processes/child_process.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::ChildProcess;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

struct Finished {
  int exit_status;
  std::string output;
  std::string errors;
};

// Runs the program until it exits.
Finished run(std::vector<std::string> arguments, std::vector<std::string> variables = {}) {
  ChildProcess child(COROLANE_FIXTURE_NODE, std::move(arguments), std::move(variables));
  std::string output = child.rest_of_output();
  const int exit_status = child.wait().exit_status;
  return {exit_status, std::move(output), child.error_output()};
}

// The same for a program that has no recorder.
Finished run_without_recorder(std::vector<std::string> arguments) {
  ChildProcess child(COROLANE_FIXTURE_CRASH, std::move(arguments));
  std::string output = child.rest_of_output();
  const int exit_status = child.wait().exit_status;
  return {exit_status, std::move(output), child.error_output()};
}

// A configuration file, deleted with this object.
class ConfigFile {
 public:
  explicit ConfigFile(std::string_view text) { std::ofstream(path_) << text; }

  const std::string& path() const { return path_; }

 private:
  const test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "node.yaml";
};

// A running node in a process of its own, and a network to reach it.
class RunningNode {
 public:
  explicit RunningNode(std::vector<std::string> more_arguments = {}, std::optional<int> errors = {})
      : child_(COROLANE_FIXTURE_NODE, with_free_ports(std::move(more_arguments)), {}, errors),
        first_line_(child_.read_line()) {
    listen_ = endpoint_between(R"(slow node "node" serves on )", ", admin ");
    admin_ = endpoint_between(", admin http://", "/");
    EXPECT_EQ(first_line_, R"(slow node "node" serves on )" + to_string(listen_) +
                               ", admin http://" + to_string(admin_) + "/")
        << error_output();
  }

  // Runs `body` as a task on a real loop, with a connected client.
  void with_client(const std::function<void(net::Network&, test::SlowClient&)>& body) {
    net::EventLoop loop;
    net::UvNetwork network(loop);
    coroutine::Scheduler scheduler(loop);
    const auto ran = scheduler.run("client", [&] {
      auto client =
          rpc::Client::connect(network, {listen_.address, listen_.port}, Deadline::after(10s));
      ASSERT_TRUE(client) << client;
      test::SlowClient slow(**client);
      body(network, slow);
    });
    EXPECT_TRUE(ran) << ran;
  }

  // Waits until a page has the expected content.
  void wait_for_page(net::Network& network, const std::string& target,
                     const std::function<bool(const net::HttpResponse&)>& is_right) {
    while (!is_right(test::fetch(network, admin_, target))) {
      ASSERT_TRUE(coroutine::yield());
    }
  }
  void wait_for_running_call(net::Network& network) {
    wait_for_page(network, "/stats", [](const net::HttpResponse& response) {
      const auto stats = nlohmann::json::parse(response.body, nullptr, false);
      return stats["rpc"]["running"] == 1;
    });
  }

  // Makes a handler block the loop for ever.
  void hang() {
    with_client([&](net::Network&, test::SlowClient& client) {
      auto call = coroutine::spawn("call", [&] {
        return client.wait(test::hang_request(0s), {.deadline = Deadline::after(1h)});
      });
      // The call leaves between two turns; the first sleep may end in the turn of the call.
      for (int turn = 0; turn < 2; ++turn) ASSERT_TRUE(coroutine::sleep_for(1ms));
      EXPECT_EQ(child_.read_line(), "hangs");
    });
  }

  const net::Endpoint& listen() const { return listen_; }
  const net::Endpoint& admin() const { return admin_; }
  ChildProcess& child() { return child_; }
  std::string error_output() { return child_.error_output(); }

 private:
  static std::vector<std::string> with_free_ports(std::vector<std::string> arguments) {
    for (const char* argument :
         {"--set", "node.clients.listen=127.0.0.1:0", "--set", "node.clients.login.anonymous=true",
          "--set", "node.admin.listen=127.0.0.1:0"}) {
      arguments.emplace_back(argument);
    }
    return arguments;
  }

  // The endpoint between these texts in the first line; empty when they do not occur.
  net::Endpoint endpoint_between(std::string_view before, std::string_view after) const {
    const std::size_t found = first_line_.find(before);
    if (found == std::string::npos) return {};
    const std::size_t begin = found + before.size();
    const std::size_t end = first_line_.find(after, begin);
    return net::parse_endpoint(first_line_.substr(begin, end - begin)).value_or(net::Endpoint());
  }

  ChildProcess child_;
  std::string first_line_;
  net::Endpoint listen_;
  net::Endpoint admin_;
};

TEST(RunMainTest, HelpListsTheOptions) {
  const Finished finished = run({"--help"});
  EXPECT_EQ(finished.exit_status, 0);
  EXPECT_THAT(finished.output, StartsWith("Usage: slow [OPTION]...\n"));
  EXPECT_EQ(finished.errors, "");
}

TEST(RunMainTest, VersionNamesProgramAndRuntime) {
  const Finished finished = run({"--version"});
  EXPECT_EQ(finished.exit_status, 0);
  EXPECT_THAT(finished.output, MatchesRegex("slow, corolane [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(RunMainTest, AnUnknownOptionIsWrongUsage) {
  const Finished finished = run({"--confg", "x.yaml"});
  EXPECT_EQ(finished.exit_status, 2);
  EXPECT_EQ(finished.output, "");
  EXPECT_EQ(finished.errors, "slow: unknown option \"--confg\"; see slow --help\n");
}

TEST(RunMainTest, AWrongConfigurationIsReportedByFileAndLine) {
  const ConfigFile file("node:\n  name: x\nslow:\n  wieght: 3\n");
  const Finished finished = run({"--config", file.path()});
  EXPECT_EQ(finished.exit_status, 2);
  EXPECT_THAT(finished.errors, HasSubstr(file.path() + ":4: "));
  EXPECT_THAT(finished.errors, HasSubstr("weight"));
  EXPECT_THAT(finished.errors, HasSubstr("slow --print-config shows every key"));
}

TEST(RunMainTest, AnExposedAdminAddressIsAConfigurationError) {
  const ConfigFile file("node:\n  admin:\n    listen: 0.0.0.0:0\n");
  const Finished finished = run({"--config", file.path()});
  EXPECT_EQ(finished.exit_status, 2);
  EXPECT_THAT(finished.errors,
              HasSubstr(file.path() + ":3: node.admin.listen: 0.0.0.0:0 is no loopback address"));
}

TEST(RunMainTest, AMissingFileIsAConfigurationError) {
  const Finished finished = run({"--config", "no/such/file.yaml"});
  EXPECT_EQ(finished.exit_status, 2);
  EXPECT_THAT(finished.errors, HasSubstr("no/such/file.yaml"));
}

TEST(RunMainTest, CheckConfigReportsAValidConfiguration) {
  const ConfigFile file("slow:\n  weight: 3\n");
  const Finished finished = run({"--check-config", "--config", file.path()});
  EXPECT_EQ(finished.exit_status, 0);
  EXPECT_EQ(finished.output, "slow: the configuration is valid\n");
}

TEST(RunMainTest, PrintConfigShowsEveryValueWithItsOrigin) {
  const ConfigFile file("node:\n  name: lobby\nslow:\n  weight: 3\n");
  const Finished finished =
      run({"--print-config", "--config", file.path(), "--set", "slow.refuse=true"},
          {"COROLANE_NODE__CLIENTS__LISTEN=127.0.0.1:7"});
  EXPECT_EQ(finished.exit_status, 0);
  EXPECT_THAT(finished.output, HasSubstr("name: \"lobby\""));
  EXPECT_THAT(finished.output, HasSubstr(file.path() + ":2"));
  EXPECT_THAT(finished.output, HasSubstr("weight: 3"));
  EXPECT_THAT(finished.output, HasSubstr("refuse: true"));
  EXPECT_THAT(finished.output, HasSubstr("--set slow.refuse"));
  EXPECT_THAT(finished.output, HasSubstr("listen: \"127.0.0.1:7\""));
  EXPECT_THAT(finished.output, HasSubstr("COROLANE_NODE__CLIENTS__LISTEN"));
  EXPECT_THAT(finished.output, HasSubstr("stop_time_max: 5s"));
}

TEST(RunMainTest, TheOutputOfPrintConfigIsAConfiguration) {
  const Finished printed = run({"--print-config", "--set", "slow.weight=3"});
  const ConfigFile file(printed.output);
  const Finished again = run({"--print-config", "--config", file.path()});
  EXPECT_EQ(again.exit_status, 0);
  EXPECT_THAT(again.output, HasSubstr("weight: 3"));
}

TEST(RunMainTest, AServiceThatCannotBeConstructedFailsTheNode) {
  const Finished finished = run({"--set", "slow.refuse=true"});
  EXPECT_EQ(finished.exit_status, 1);
  EXPECT_EQ(finished.output, "");
  EXPECT_EQ(finished.errors, "slow: no weights are available\n");
}

TEST(RunMainTest, AnAddressInUseFailsTheNodeAndNamesTheKey) {
  const RunningNode node;
  const std::string listen = to_string(node.listen());
  const Finished finished =
      run({"--set", "node.admin.listen=127.0.0.1:0", "--set", "node.clients.login.anonymous=true",
           "--set", "node.clients.listen=" + listen});
  EXPECT_EQ(finished.exit_status, 1);
  EXPECT_EQ(finished.errors, "slow: cannot listen on " + listen +
                                 ": address in use; another node? change node.clients.listen\n");
}

TEST(RunMainTest, TooFewDescriptorsForItsClientsAreLogged) {
  RunningNode node({"--set", "node.clients.connections_max=4000000000"});
  node.child().send_signal(SIGTERM);
  EXPECT_EQ(node.child().wait().exit_status, 0);
  EXPECT_THAT(node.error_output(), HasSubstr(" warning few file descriptors; "));
  EXPECT_THAT(node.error_output(), HasSubstr(" or lower node.clients.connections_max limit="));
  EXPECT_THAT(node.error_output(), HasSubstr(" wanted=4000000256"));
}

TEST(RunMainTest, SigtermLetsARunningCallFinishAndExitsWithZero) {
  RunningNode node;
  node.with_client([&](net::Network& network, test::SlowClient& client) {
    auto call = coroutine::spawn("call", [&] { return client.wait(test::wait_request(500ms)); });
    node.wait_for_running_call(network);
    node.child().send_signal(SIGTERM);
    const auto reply = call.join(Deadline::never());
    EXPECT_TRUE(reply) << reply;
  });
  EXPECT_EQ(node.child().wait().exit_status, 0);
  EXPECT_EQ(node.child().rest_of_output(), "") << "one line on stdout";
  EXPECT_THAT(node.error_output(), HasSubstr(" node stopped "));
}

TEST(RunMainTest, ARequestedDrainEndsItLikeSigterm) {
  RunningNode node;
  node.with_client([&](net::Network& network, test::SlowClient& client) {
    auto call = coroutine::spawn("call", [&] { return client.wait(test::wait_request(500ms)); });
    node.wait_for_running_call(network);
    const auto first = test::fetch(network, node.admin(), "/drain", "POST");
    EXPECT_EQ(first.status, 202U);
    EXPECT_THAT(first.body, HasSubstr("calls that run longer than 5s (node.stop_time_max)"));
    const auto second = test::fetch(network, node.admin(), "/drain", "POST");
    EXPECT_EQ(second.status, 202U);
    EXPECT_EQ(second.body, "the node is stopping already\n");
    const auto reply = call.join(Deadline::never());
    EXPECT_TRUE(reply) << reply;
  });
  EXPECT_EQ(node.child().wait().exit_status, 0);
  EXPECT_THAT(node.error_output(), HasSubstr(" asked to stop by POST /drain"));
  EXPECT_THAT(node.error_output(), HasSubstr(" node stopped "));
}

TEST(RunMainTest, PagesShowTheCallsOfAllThreads) {
  static constexpr std::size_t client_count = 8;
  RunningNode node({"--set", "node.shards=3", "--set", "node.stop_time_max=100ms"});
  node.with_client([&](net::Network& network, test::SlowClient&) {
    std::vector<std::unique_ptr<rpc::Client>> clients;
    coroutine::TaskGroup calls;
    for (std::size_t i = 0; i < client_count; ++i) {
      auto connected = rpc::Client::connect(network, {node.listen().address, node.listen().port},
                                            Deadline::after(10s));
      ASSERT_TRUE(connected) << connected;
      clients.push_back(*std::move(connected));
      ASSERT_TRUE(calls.spawn("call", [&client = *clients.back()] {
        static_cast<void>(test::SlowClient(client).wait(test::wait_request(1h),
                                                        {.deadline = Deadline::after(1h)}));
      }));
    }
    node.wait_for_page(network, "/stats", [](const net::HttpResponse& response) {
      const auto stats = nlohmann::json::parse(response.body, nullptr, false);
      std::size_t running_count = 0;
      for (const auto& shard : stats["shards"]) {
        running_count += shard["running_calls"].get<std::size_t>();
      }
      return stats["shards"].size() == 3 && running_count == client_count &&
             stats["rpc"]["running"] == client_count;
    });
    node.wait_for_page(network, "/metrics", [](const net::HttpResponse& response) {
      return response.body.contains(
          "\ncorolane_rpc_calls_running{method=\"corolane.test.Slow/Wait\"} 8\n");
    });
    node.child().send_signal(SIGTERM);
    EXPECT_TRUE(calls.join(Deadline::never()));
  });
  EXPECT_EQ(node.child().wait().exit_status, 0);
}

TEST(RunMainTest, ACallThatTakesTooLongDoesNotKeepItFromExitingWithZero) {
  RunningNode node({"--set", "node.stop_time_max=100ms"});
  node.with_client([&](net::Network& network, test::SlowClient& client) {
    auto call = coroutine::spawn("call", [&] {
      return client.wait(test::wait_request(1h), {.deadline = Deadline::after(1h)});
    });
    node.wait_for_running_call(network);
    node.child().send_signal(SIGINT);
    EXPECT_FALSE(call.join(Deadline::never()));
  });
  EXPECT_EQ(node.child().wait().exit_status, 0);
  EXPECT_THAT(node.error_output(), HasSubstr("running calls did not finish in time"));
}

TEST(RunMainTest, AHandlerThatIgnoresItsCancellationDoesNotKeepItFromExitingWithZero) {
  RunningNode node({"--set", "node.stop_time_max=100ms"});
  node.with_client([&](net::Network& network, test::SlowClient& client) {
    auto call = coroutine::spawn("call", [&] {
      return client.wait(test::hang_request(1h), {.deadline = Deadline::after(1h)});
    });
    node.wait_for_running_call(network);
    node.child().send_signal(SIGTERM);
    EXPECT_FALSE(call.join(Deadline::never()));
  });
  EXPECT_EQ(node.child().read_line(), "hangs");
  EXPECT_EQ(node.child().wait().exit_status, 0);
  EXPECT_THAT(node.error_output(), HasSubstr(" error   the node does not stop"));
}

TEST(RunMainTest, TheTimeToStopCountsFromTheSignalEvenWhenTheLoopIsBusy) {
  RunningNode node({"--set", "node.stop_time_max=2s"});
  node.with_client([&](net::Network& network, test::SlowClient& client) {
    auto call = coroutine::spawn("call", [&] {
      return client.wait(test::wait_request(1h), {.deadline = Deadline::after(1h)});
    });
    node.wait_for_running_call(network);
    auto busy = coroutine::spawn("busy", [&] {
      return client.wait(test::keep_loop_request(1500ms), {.deadline = Deadline::after(1h)});
    });
    // The call leaves between two turns; the first sleep may end in the turn of the call.
    for (int turn = 0; turn < 2; ++turn) ASSERT_TRUE(coroutine::sleep_for(1ms));
    EXPECT_EQ(node.child().read_line(), "keeps the loop");
    node.child().send_signal(SIGTERM);
    EXPECT_TRUE(busy.join(Deadline::never()));
    EXPECT_FALSE(call.join(Deadline::never()));
  });
  EXPECT_EQ(node.child().wait().exit_status, 0);
  EXPECT_THAT(node.error_output(), HasSubstr("running calls did not finish in time"));
  EXPECT_THAT(node.error_output(), Not(HasSubstr("the node does not stop")));
}

TEST(RunMainTest, PagesAnswerWhileTheOnlyShardHangs) {
  RunningNode node({"--set", "node.shards=1"});
  node.with_client([&](net::Network& network, test::SlowClient& client) {
    bool is_busy = true;
    auto busy = coroutine::spawn("busy", [&] {
      auto kept = client.wait(test::keep_loop_request(5s), {.deadline = Deadline::after(1h)});
      is_busy = false;
      return kept;
    });
    for (int turn = 0; turn < 2; ++turn) ASSERT_TRUE(coroutine::sleep_for(1ms));
    EXPECT_EQ(node.child().read_line(), "keeps the loop");
    const auto names_it = [&](const net::HttpResponse& response) {
      return !is_busy || response.body.contains("shard 0 has not turned for ");
    };
    for (const char* page : {"/ready", "/stats", "/tasks"}) {
      node.wait_for_page(network, page, names_it);
      EXPECT_TRUE(is_busy) << page << " waits for the shard";
    }
    EXPECT_TRUE(busy.join(Deadline::never()));
    node.wait_for_page(network, "/ready", [](const net::HttpResponse& response) {
      return response.body == "ready\n";
    });
  });
}

TEST(RunMainTest, AFullStderrDoesNotKeepItFromExitingWithZero) {
  test::UnreadPipe errors;
  RunningNode node({"--set", "node.stop_time_max=100ms"}, errors.entry());
  errors.fill();
  node.child().send_signal(SIGTERM);  // The loop blocks in the log line for the signal.
  EXPECT_EQ(node.child().wait().exit_status, 0);
}

TEST(RunMainTest, ALoopThatNeverTurnsAgainDoesNotKeepItFromExitingWithZero) {
  RunningNode node({"--set", "node.stop_time_max=100ms"});
  node.hang();
  node.child().send_signal(SIGTERM);
  EXPECT_EQ(node.child().wait().exit_status, 0);
  EXPECT_THAT(node.error_output(), HasSubstr(" error   the node does not stop"));
}

TEST(RunMainTest, ASecondSignalEndsEvenALoopThatNeverTurnsAgain) {
  RunningNode node({"--set", "node.stop_time_max=1h"});
  node.hang();
  // A second SIGTERM would merge with the pending one, so the second signal differs.
  node.child().send_signal(SIGTERM);
  node.child().send_signal(SIGINT);
  EXPECT_EQ(node.child().wait().exit_status, 130);
}

TEST(RunMainTest, InconsistentValuesAreConfigurationErrors) {
  const ConfigFile file("node:\n  clients:\n    tls:\n      key_file: x.pem\n");
  const Finished finished = run({"--check-config", "--config", file.path()});
  EXPECT_EQ(finished.exit_status, 2);
  EXPECT_THAT(finished.errors,
              HasSubstr(file.path() + ":4: node.clients.tls.key_file: a key or a CA is "));
}

TEST(RunMainTest, PrintConfigShowsNoSecret) {
  const Finished finished = run({"--print-config", "--set", "slow.password=sesame"});
  EXPECT_EQ(finished.exit_status, 0);
  EXPECT_THAT(finished.output, Not(HasSubstr("sesame")));
  EXPECT_THAT(finished.output, HasSubstr("# password: not shown, from --set slow.password"));
}

TEST(RunMainTest, TheReferenceHasAllKeysAndNeedsNoConfiguration) {
  const Finished finished = run({"--config-reference", "--config", "no/such/file.yaml"});
  EXPECT_EQ(finished.exit_status, 0);
  EXPECT_THAT(finished.output, HasSubstr("\n## `node.clients`\n"));
  EXPECT_THAT(finished.output, HasSubstr("\n| `weight` | integer | `7` | between 0 and 100 | | "));
}

TEST(RunMainTest, AHangupReloadsTheFile) {
  const ConfigFile file("node:\n  log_level: info\n");
  RunningNode node({"--config", file.path()});
  std::ofstream(file.path()) << "node:\n  log_level: debug\n  name: other\n";
  node.child().send_signal(SIGHUP);
  node.with_client([&](net::Network& network, test::SlowClient&) {
    node.wait_for_page(network, "/config", [](const net::HttpResponse& response) {
      return response.body.contains("node.log_level  ") && response.body.contains("\"debug\"");
    });
  });
  node.child().send_signal(SIGTERM);
  EXPECT_EQ(node.child().wait().exit_status, 0);
  EXPECT_THAT(node.error_output(), HasSubstr(" info    configuration reloaded changed="));
  EXPECT_THAT(node.error_output(), HasSubstr("at_next_start=\"node.name: "));
}

TEST(RunMainTest, WithoutAFileAHangupEndsTheProcess) {
  RunningNode node;
  node.child().send_signal(SIGHUP);
  EXPECT_EQ(node.child().wait().signal, SIGHUP);
}

TEST(RunMainTest, ASecondSignalEndsItAtOnce) {
  RunningNode node({"--set", "node.stop_time_max=1h"});
  node.with_client([&](net::Network& network, test::SlowClient& client) {
    auto call = coroutine::spawn("call", [&] {
      return client.wait(test::wait_request(1h), {.deadline = Deadline::after(1h)});
    });
    node.wait_for_running_call(network);
    node.child().send_signal(SIGINT);
    node.wait_for_page(network, "/health",
                       [](const net::HttpResponse& response) { return response.status == 503; });
    node.child().send_signal(SIGINT);
    EXPECT_FALSE(call.join(Deadline::never()));
  });
  EXPECT_EQ(node.child().wait().exit_status, 130);
}

TEST(RunMainTest, AProgramWithoutARecorderNeitherRecordsNorReplays) {
  const Finished recording =
      run_without_recorder({"--set", "node.record.file=never.recording", "--set", "node.shards=1"});
  EXPECT_EQ(recording.exit_status, 2);
  EXPECT_THAT(recording.errors, HasSubstr("node.record.file: this program cannot record; link "
                                          "corolane::framework_recording"));
  const Finished replay = run_without_recorder({"--replay", "never.recording"});
  EXPECT_EQ(replay.exit_status, 2);
  EXPECT_THAT(replay.errors, HasSubstr("--replay: this program cannot record; link"));
}

}  // namespace
}  // namespace corolane::framework
