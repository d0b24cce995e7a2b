// SPDX-License-Identifier: MIT
// Nodes in processes of their own die of every signal, and leave a report behind.
#include "framework/diagnostics/crash_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/testing/sanitizers.h"
#include "coroutine/testing/temporary_folder.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "rpc/client/client.h"
#include "test/framework/crash.corolane.h"
#include "tools/processes/child_process.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::ChildProcess;
using test::CrashRequest;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Crash {
  int signal;
  std::string errors;
  std::vector<std::string> names;  // The files in the folder.
  std::string report;              // The text of the only report, if any.
};

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return std::move(text).str();
}

// The endpoint after "serves on ".
net::Endpoint listen_endpoint(const std::string& line) {
  const std::size_t begin = line.find("serves on ") + std::string_view("serves on ").size();
  return net::parse_endpoint(line.substr(begin, line.find(',') - begin)).value_or(net::Endpoint());
}

class CrashReportTest : public testing::Test {
 protected:
  void SetUp() override {
    // The sanitizer prints a report of its own instead.
    if (test::under_sanitizer) GTEST_SKIP() << "the sanitizer handles these signals";
  }

  std::vector<std::string> arguments(std::vector<std::string> more) const {
    for (const std::string& setting :
         {std::string("node.clients.listen=127.0.0.1:0"),
          std::string("node.clients.login.anonymous=true"),
          std::string("node.admin.listen=127.0.0.1:0"), std::string("node.name=arena"),
          std::string("node.store.kind=memory"), "node.crash.folder=" + folder_.path().string()}) {
      more.insert(more.begin(), {"--set", setting});
    }
    return more;
  }

  // Runs a node, asks it to crash, and waits for its end.
  Crash crash(const CrashRequest& request, std::vector<std::string> more_arguments = {}) const {
    ChildProcess node(COROLANE_FIXTURE_CRASH, arguments(std::move(more_arguments)));
    const auto listen = listen_endpoint(node.read_line());
    net::EventLoop loop;
    net::UvNetwork network(loop);
    coroutine::Scheduler scheduler(loop);
    const auto ran = scheduler.run("client", [&] {
      auto client =
          rpc::Client::connect(network, {listen.address, listen.port}, Deadline::after(30s));
      ASSERT_TRUE(client) << client;
      const auto reply =
          test::CrasherClient(**client).crash(request, {.deadline = Deadline::after(60s)});
      EXPECT_FALSE(reply);
    });
    EXPECT_TRUE(ran) << ran;
    Crash crash{
        .signal = node.wait().signal, .errors = node.error_output(), .names = {}, .report = {}};
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      crash.names.push_back(entry.path().filename());
      crash.report = text_of(entry.path());
    }
    return crash;
  }

  const test::TemporaryFolder folder_;
};

CrashRequest request(CrashRequest::Way way, CrashRequest::Place place = CrashRequest::HANDLER) {
  CrashRequest request;
  request.set_way(way);
  request.set_place(place);
  return request;
}

struct Way {
  CrashRequest::Way way;
  int signal;
  const char* signal_text;
  const char* function;
};

class CrashWayTest : public CrashReportTest, public testing::WithParamInterface<Way> {};

TEST_P(CrashWayTest, IsReportedAndEndsTheProcessByItsSignal) {
  const Way way = GetParam();
  const Crash crash = this->crash(request(way.way));
  EXPECT_EQ(crash.signal, way.signal);
  ASSERT_EQ(crash.names.size(), 1u) << crash.errors;
  EXPECT_THAT(crash.names[0],
              testing::MatchesRegex("crasher-arena-[0-9]{8}T[0-9]{6}Z-[0-9]+\\.crash"));
  EXPECT_THAT(crash.report, StartsWith("corolane crash report\n"));
  EXPECT_THAT(crash.report, HasSubstr(std::string("signal    ") + way.signal_text));
  EXPECT_THAT(crash.report, HasSubstr("program   crasher, corolane "));
  EXPECT_THAT(crash.report, ContainsRegex("build     [0-9a-f]{40}\n"));
  EXPECT_THAT(crash.report, HasSubstr("node      \"arena\"\n"));
  EXPECT_THAT(crash.report,
              ContainsRegex("task      [0-9]+ \"corolane.test.Crasher/Crash\", spawned at .*rpc/"));
  EXPECT_THAT(crash.report, ContainsRegex("stack     [0-9]+ bytes, [0-9]+ of them in use\n"));
  EXPECT_THAT(crash.report, HasSubstr("registers "));
  EXPECT_THAT(crash.report, HasSubstr(way.function));
  EXPECT_THAT(crash.report, HasSubstr("    addresses: "));
  EXPECT_THAT(crash.report, HasSubstr("CrasherService::crash (test/framework/fixture_crash.cc:"));
  EXPECT_THAT(crash.report, HasSubstr("waits for what never comes"));
  EXPECT_THAT(crash.report, HasSubstr("\nend of the report\n"));
  EXPECT_THAT(crash.report, Not(HasSubstr("broken")));
  EXPECT_THAT(crash.errors, HasSubstr(" error   the node has crashed signal=SIG"));
  EXPECT_THAT(crash.errors, HasSubstr(" report=\"" + (folder_.path() / crash.names[0]).string()));
}

INSTANTIATE_TEST_SUITE_P(
    All, CrashWayTest,
    testing::Values(
        Way{CrashRequest::NULL_POINTER, SIGSEGV, "SIGSEGV (11), code 1, at address 0x0: there is",
            "write_to_nothing"},
        Way{CrashRequest::NULL_FUNCTION, SIGSEGV, "SIGSEGV (11), code 1, at address 0x0",
            "call_nothing"},
        Way{CrashRequest::DIVISION, SIGFPE, "SIGFPE (8), code 1, at address 0x", "divide_by_zero"},
        Way{CrashRequest::INSTRUCTION, SIGILL, "SIGILL (4), code 2, at address 0x", "run_nonsense"},
        Way{CrashRequest::BUS, SIGBUS, "SIGBUS (7), code 2, at address 0x", "read_behind_the_end"},
        Way{CrashRequest::ABORT, SIGABRT, "SIGABRT (6), raised by the process itself", "abort"},
        Way{CrashRequest::CHECK, SIGABRT, "SIGABRT (6), raised by the process itself",
            "check     \"a victim is healthy\" failed at "},
        Way{CrashRequest::TERMINATE, SIGABRT, "SIGABRT (6), raised by the process itself",
            "terminate"}),
    [](const auto& way) { return CrashRequest::Way_Name(way.param.way); });

TEST_F(CrashReportTest, AnOverflowNamesItsHandlerAndTheRecursion) {
  const Crash crash = this->crash(request(CrashRequest::OVERFLOW));
  EXPECT_EQ(crash.signal, SIGSEGV);
  for (const std::string& text : {crash.report, crash.errors}) {
    EXPECT_THAT(text, ContainsRegex("stack overflow: task [0-9]+ \"corolane.test.Crasher/Crash\" "
                                    "needs more than its 65536 bytes of stack\n"));
    EXPECT_THAT(text, HasSubstr("  it is a recursion: the same 1 call repeats down the stack\n"));
    EXPECT_THAT(text, HasSubstr("give it 128 KiB:\n"));
    EXPECT_THAT(text, HasSubstr("option (corolane.method).stack_size = \"128KiB\";\n"));
    EXPECT_THAT(text, HasSubstr("{.stack_size_bytes = 128 * 1024}\n"));
  }
  EXPECT_THAT(crash.report, HasSubstr("recurse (test/framework/fixture_crash.cc:"));
}

TEST_F(CrashReportTest, NamesTheObjectWhoseMethodHasCrashed) {
  const Crash crash = this->crash(request(CrashRequest::NULL_POINTER, CrashRequest::OBJECT));
  EXPECT_EQ(crash.signal, SIGSEGV);
  EXPECT_THAT(crash.report, HasSubstr("object    corolane.test.Victim/Crash(\"bob\")\n"));
  EXPECT_THAT(crash.report, HasSubstr("Victim::crash (test/framework/fixture_crash.cc:"));
}

TEST_F(CrashReportTest, NamesTheObjectThatHasSpawnedTheTask) {
  const Crash crash =
      this->crash(request(CrashRequest::NULL_POINTER, CrashRequest::CHILD_OF_OBJECT));
  EXPECT_THAT(crash.report, ContainsRegex("task      [0-9]+ \"child\", spawned at "));
  EXPECT_THAT(crash.report,
              HasSubstr("object    none; on behalf of corolane.test.Victim/Crash(\"bob\")\n"));
}

TEST_F(CrashReportTest, ReportsAllThreadsWhicheverCrashes) {
  const Crash crash = this->crash(request(CrashRequest::NULL_POINTER, CrashRequest::SECOND_SHARD),
                                  {"--set", "node.shards=2"});
  EXPECT_EQ(crash.signal, SIGSEGV);
  EXPECT_THAT(crash.report, ContainsRegex("task      [0-9]+ \"on the second shard\", spawned at"));
  EXPECT_THAT(crash.report, ContainsRegex("\nthread [0-9]+ \"[a-z0-9_ ]+\""));
  EXPECT_THAT(crash.report, HasSubstr("\"shard 1\""));
  EXPECT_THAT(crash.report, HasSubstr("waits for what never comes")) << "on the other one";
  EXPECT_THAT(crash.report, Not(HasSubstr("does not answer")));
}

TEST_F(CrashReportTest, TwoThreadsThatCrashTogetherAreOneReport) {
  const Crash crash = this->crash(request(CrashRequest::NULL_POINTER, CrashRequest::TWO_SHARDS),
                                  {"--set", "node.shards=2"});
  EXPECT_EQ(crash.signal, SIGSEGV);
  ASSERT_EQ(crash.names.size(), 1u);
  EXPECT_THAT(crash.report, HasSubstr("\nend of the report\n"));
}

TEST_F(CrashReportTest, EqualStacksOfManyTasksAreGrouped) {
  CrashRequest many = request(CrashRequest::NULL_POINTER);
  many.set_suspended_count(1000);
  const Crash crash = this->crash(many);
  EXPECT_EQ(crash.signal, SIGSEGV);
  EXPECT_THAT(
      crash.report,
      ContainsRegex("\n(1000|9[0-9]{2}) tasks suspended, waits for what never comes, for up to "
                    "[0-9]+\\.[0-9]{3} s \\(task [0-9]+\\): \"waiter\"\n"));
  EXPECT_THAT(crash.report, Not(HasSubstr("more tasks have other stacks")));
}

TEST_F(CrashReportTest, ABrokenTaskRecordCostsThatTaskOnly) {
  CrashRequest damaged = request(CrashRequest::NULL_POINTER);
  damaged.set_damage(CrashRequest::TASK);
  damaged.set_suspended_count(3);
  const Crash crash = this->crash(damaged);
  EXPECT_EQ(crash.signal, SIGSEGV);
  EXPECT_THAT(crash.report, HasSubstr("(the data of these tasks is corrupt)"));
  EXPECT_THAT(crash.report, ContainsRegex("\n3 tasks suspended, waits for what never comes"));
  EXPECT_THAT(crash.report, HasSubstr("\nend of the report\n"));
}

TEST_F(CrashReportTest, ABrokenStackCostsThatTaskOnly) {
  CrashRequest damaged = request(CrashRequest::ABORT);
  damaged.set_damage(CrashRequest::STACK);
  damaged.set_suspended_count(3);
  const Crash crash = this->crash(damaged);
  EXPECT_EQ(crash.signal, SIGABRT);
  EXPECT_THAT(crash.report, HasSubstr("    its stack is broken\n"));
  EXPECT_THAT(crash.report, ContainsRegex("\n3 tasks suspended, waits for what never comes"));
  EXPECT_THAT(crash.report, HasSubstr("\nend of the report\n"));
}

TEST_F(CrashReportTest, ABrokenListOfTasksCostsItsRestOnly) {
  CrashRequest damaged = request(CrashRequest::DIVISION);
  damaged.set_damage(CrashRequest::LIST);
  damaged.set_suspended_count(3);
  const Crash crash = this->crash(damaged);
  EXPECT_EQ(crash.signal, SIGFPE);
  EXPECT_THAT(crash.report, HasSubstr("(the list of tasks is broken: there may be more of them)"));
  EXPECT_THAT(crash.report, ContainsRegex("\n3 tasks suspended, waits for what never comes"));
  EXPECT_THAT(crash.report, HasSubstr("divide_by_zero"));
  EXPECT_THAT(crash.report, HasSubstr("\nend of the report\n"));
}

TEST_F(CrashReportTest, WithoutAFolderTheReportIsOnStderr) {
  const Crash crash = this->crash(request(CrashRequest::NULL_POINTER),
                                  {"--set", "node.crash.folder=/nowhere/at/all"});
  EXPECT_EQ(crash.signal, SIGSEGV);
  EXPECT_TRUE(crash.names.empty());
  EXPECT_THAT(crash.errors, HasSubstr(" warning crash reports will go to stderr; "));
  EXPECT_THAT(crash.errors, HasSubstr("corolane crash report\n"));
  EXPECT_THAT(crash.errors, HasSubstr("\nend of the report\n"));
}

TEST_F(CrashReportTest, AnEmptyFolderNameDisablesReports) {
  const Crash crash =
      this->crash(request(CrashRequest::NULL_POINTER), {"--set", "node.crash.folder="});
  EXPECT_EQ(crash.signal, SIGSEGV);
  EXPECT_TRUE(crash.names.empty());
  EXPECT_THAT(crash.errors, Not(HasSubstr("crash report")));
}

TEST_F(CrashReportTest, OldReportsOfThisNodeAreDeleted) {
  for (const char* name :
       {"crasher-arena-20200101T000000Z-1.crash", "crasher-arena-20210101T000000Z-1.crash",
        "crasher-arena-b-20190101T000000Z-1.crash", "crasher-arena-notes.crash"}) {
    std::ofstream(folder_.path() / name) << "old";
  }
  const Crash crash =
      this->crash(request(CrashRequest::NULL_POINTER), {"--set", "node.crash.reports_max=2"});
  EXPECT_THAT(crash.names, testing::UnorderedElementsAre("crasher-arena-20210101T000000Z-1.crash",
                                                         "crasher-arena-b-20190101T000000Z-1.crash",
                                                         "crasher-arena-notes.crash",
                                                         testing::Not(HasSubstr("20200101"))));
}

TEST_F(CrashReportTest, AReportOfAnotherBuildIsNotExplained) {
  const auto path = folder_.path() / "report";
  std::ofstream(path) << "corolane crash report\n\nbuild     0123\n";
  ChildProcess other(COROLANE_FIXTURE_CRASH, {"--explain-crash", path});
  EXPECT_EQ(other.wait().exit_status, 1);
  EXPECT_THAT(other.error_output(), HasSubstr("comes from another build of this program"));
  EXPECT_FALSE(explain_crash(folder_.path() / "none"));
}

}  // namespace
}  // namespace corolane::framework
