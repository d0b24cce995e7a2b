// SPDX-License-Identifier: MIT
// EtcdClient, and the watch of EtcdDirectory on top of it, against scripted members: over the
// simulated network, in virtual time.
#include "framework/directory/detail/etcd_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "net/http/http_server.h"
#include "net/testing/network.h"
#include "test/net/http/scripted_server.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using net::HttpRequest;
using net::HttpResponse;
using test::fails_with;
using test::soon;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const EtcdRequest change{.path = "/v3/kv/txn", .body = "change", .is_repeatable = false};
const EtcdRequest question{.path = "/v3/kv/range", .body = "question"};

// Sleeps less when the task is cancelled.
void pass(Duration time) { static_cast<void>(coroutine::sleep_for(time)); }

HttpResponse refusal(unsigned status, std::string_view message, int code) {
  return {.status = status,
          .body = R"({"error":")" + std::string(message) + R"(","message":")" +
                  std::string(message) + R"(","code":)" + std::to_string(code) + "}"};
}

// Answers "1: question" and so on, or as the test says.
class Member {
 public:
  using Answer = std::function<HttpResponse(const HttpRequest& request)>;

  Member(net::Network& network, std::uint16_t number)
      : number_(number), server_(network, [this](const HttpRequest& request) {
          requests.push_back(request);
          if (answer) return answer(request);
          return HttpResponse{.body = std::to_string(number_) + ": " + request.body};
        }) {
    check(server_.listen({.address = "etcd", .port = number}).has_value(), "the port is free");
  }

  Answer answer = {};
  std::vector<HttpRequest> requests = {};

 private:
  std::uint16_t number_;
  net::HttpServer server_;
};

class EtcdClientTest : public testing::Test {
 protected:
  void SetUp() override { make_client({}); }

  // The client knows two members; the test may start only one of them.
  void make_client(EtcdClient::Options options) {
    options.endpoints = {{.host = "etcd1", .port = 1}, {.host = "etcd2", .port = 2}};
    client_.reset();
    options_ = std::move(options);
    client_ = std::make_unique<EtcdClient>(network_, options_);
  }
  void start_both() {
    first_.emplace(network_, 1);
    second_.emplace(network_, 2);
  }

  sim::SimulatedNetwork network_;
  std::optional<Member> first_;
  std::optional<Member> second_;
  EtcdClient::Options options_;
  std::unique_ptr<EtcdClient> client_;
};

TEST_F(EtcdClientTest, ACallIsAPostToTheFirstMember) {
  start_both();
  EXPECT_EQ(client_->call(question, soon()), "1: question");
  ASSERT_THAT(first_->requests, SizeIs(1));
  EXPECT_EQ(first_->requests[0].method, "POST");
  EXPECT_EQ(first_->requests[0].target, "/v3/kv/range");
  EXPECT_EQ(first_->requests[0].header("Grpc-Metadata-Hasleader"), "true");
  EXPECT_EQ(first_->requests[0].header("Authorization"), "");
}

TEST_F(EtcdClientTest, OneConnectionServesConsecutiveCalls) {
  start_both();
  for (int round = 0; round < 5; ++round) EXPECT_TRUE(client_->call(question, soon()));
  EXPECT_EQ(network_.connect_count(), 1u);
}

TEST_F(EtcdClientTest, NoMoreCallsThanConnectionsAreInFlight) {
  make_client({.connection_count_max = 3});
  start_both();
  int running_count = 0;
  int running_count_max = 0;
  first_->answer = [&](const HttpRequest&) {
    running_count_max = std::max(running_count_max, ++running_count);
    pass(10ms);
    --running_count;
    return HttpResponse{};
  };
  coroutine::TaskGroup group;
  for (int i = 0; i < 10; ++i) {
    const auto ask = [&]() -> Result<void> {
      const auto answer = client_->call(question, soon());
      if (!answer) return answer.error();
      return {};
    };
    ASSERT_TRUE(group.spawn("call", ask));
  }
  EXPECT_TRUE(group.join(soon()));
  EXPECT_EQ(running_count_max, 3);
  EXPECT_EQ(network_.connect_count(), 3u);
}

TEST_F(EtcdClientTest, AnUrgentCallDoesNotWaitForOtherCalls) {
  start_both();
  first_->answer = [&](const HttpRequest& request) {
    if (request.body == "question") pass(1s);
    return HttpResponse{.body = "done"};
  };
  coroutine::TaskGroup group;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(group.spawn("call", [&] { static_cast<void>(client_->call(question, soon())); }));
  }
  pass(100ms);
  const TimePoint start = now();
  EXPECT_EQ(client_->call_at_once({.path = "/v3/lease/keepalive", .body = ""}, soon()), "done");
  EXPECT_EQ(now() - start, 4ms);  // To connect, and to call.
  group.cancel_and_join();
}

TEST_F(EtcdClientTest, AMissingMemberIsSkippedForTheNext) {
  second_.emplace(network_, 2);
  EXPECT_EQ(client_->call(change, soon()), "2: change");
  EXPECT_EQ(network_.connect_count(), 2u);
  // The first member is not tried again,
  EXPECT_EQ(client_->call(question, soon()), "2: question");
  EXPECT_EQ(network_.connect_count(), 2u);
  // until the second one has gone.
  second_.reset();
  first_.emplace(network_, 1);
  EXPECT_EQ(client_->call(question, soon()), "1: question");
}

TEST_F(EtcdClientTest, WithoutAnyMemberACallIsUnavailable) {
  const auto answer = client_->call(change, soon());
  ASSERT_THAT(answer, fails_with(Code::unavailable));
  EXPECT_FALSE(answer.error().maybe_executed());
  EXPECT_EQ(network_.connect_count(), 3u);
}

TEST_F(EtcdClientTest, ALostAnswerIsRetriedOnlyForIdempotentCalls) {
  start_both();
  first_->answer = [&](const HttpRequest&) {
    network_.reset_all();
    return HttpResponse{};
  };
  const auto answer = client_->call(change, soon());
  ASSERT_THAT(answer, fails_with(Code::unavailable));
  EXPECT_TRUE(answer.error().maybe_executed());
  EXPECT_THAT(first_->requests, SizeIs(1));
  EXPECT_THAT(second_->requests, IsEmpty());

  make_client({});
  EXPECT_EQ(client_->call(question, soon()), "2: question");
  EXPECT_THAT(first_->requests, SizeIs(2));
}

TEST_F(EtcdClientTest, AMemberWithoutALeaderHasExecutedNothing) {
  start_both();
  first_->answer = [](const HttpRequest&) { return refusal(503, "etcdserver: no leader", 14); };
  EXPECT_EQ(client_->call(change, soon()), "2: change");
}

TEST_F(EtcdClientTest, AFailureOfTheClusterIsMarkedMaybeExecuted) {
  start_both();
  first_->answer = [](const HttpRequest&) {
    return refusal(503, "etcdserver: request timed out", 14);
  };
  const auto answer = client_->call(change, soon());
  ASSERT_THAT(answer, fails_with(Code::unavailable));
  EXPECT_TRUE(answer.error().maybe_executed());
  EXPECT_THAT(second_->requests, IsEmpty());
}

TEST_F(EtcdClientTest, ARefusedCallIsNotRetried) {
  start_both();
  first_->answer = [](const HttpRequest&) {
    return refusal(404, "etcdserver: requested lease not found", 5);
  };
  const auto answer = client_->call(question, soon());
  ASSERT_THAT(answer, fails_with(Code::not_found));
  EXPECT_FALSE(answer.error().maybe_executed());
  EXPECT_THAT(first_->requests, SizeIs(1));
  EXPECT_THAT(second_->requests, IsEmpty());
}

TEST_F(EtcdClientTest, ASilentMemberIsAbandonedAfterATimeout) {
  start_both();
  network_.set_host("etcd1", {.is_silent = true});
  const TimePoint start = now();
  const auto silent = client_->call(question, Deadline::after(1h));
  ASSERT_THAT(silent, fails_with(Code::unavailable));
  EXPECT_EQ(now() - start, options_.request_time_max);
  EXPECT_EQ(client_->call(question, soon()), "2: question");
}

TEST_F(EtcdClientTest, SilenceAfterARequestIsMarkedMaybeExecuted) {
  start_both();
  first_->answer = [](const HttpRequest&) {
    pass(1h);
    return HttpResponse{};
  };
  const auto silent = client_->call(change, Deadline::never());
  ASSERT_THAT(silent, fails_with(Code::unavailable));
  EXPECT_TRUE(silent.error().maybe_executed());
  EXPECT_THAT(silent.error().message(), HasSubstr("etcd does not answer"));
  const auto late = client_->call(change, Deadline::after(10ms));
  EXPECT_EQ(late, "2: change");
}

TEST_F(EtcdClientTest, AShortDeadlineDoesNotAbandonTheMember) {
  start_both();
  first_->answer = [](const HttpRequest&) {
    pass(1h);
    return HttpResponse{};
  };
  const TimePoint start = now();
  const auto late = client_->call(change, Deadline::after(100ms));
  ASSERT_THAT(late, fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(late.error().maybe_executed());
  EXPECT_EQ(now() - start, 100ms);
  EXPECT_THAT(client_->call(change, Deadline::passed()), fails_with(Code::deadline_exceeded));
  // That was too short to conclude that the member is unreachable; this is not.
  EXPECT_THAT(client_->call(question, Deadline::after(500ms)), fails_with(Code::deadline_exceeded));
  EXPECT_THAT(second_->requests, IsEmpty());
  EXPECT_EQ(client_->call(question, soon()), "2: question");
}

TEST_F(EtcdClientTest, CancellationEndsACall) {
  start_both();
  first_->answer = [](const HttpRequest&) {
    pass(1h);
    return HttpResponse{};
  };
  auto task = coroutine::spawn("call", [&] { return client_->call(change, soon()); });
  pass(100ms);
  task.cancel();
  const auto answer = task.join(Deadline::never());
  ASSERT_THAT(answer, fails_with(Code::cancelled));
  EXPECT_TRUE(answer.error().maybe_executed());
}

TEST_F(EtcdClientTest, AnUnresolvableHostIsNotAnExpiredLease) {
  options_.endpoints = {{.host = "two words", .port = 1}};
  EXPECT_THAT(client_->call_at_once(question, soon()), fails_with(Code::unavailable));
}

TEST_F(EtcdClientTest, AMemberThatDoesNotSpeakHttpIsUnavailable) {
  net::ScriptedServer server(network_, [](net::Stream& stream, std::size_t) {
    net::say(stream, "SSH-2.0-OpenSSH\r\n\r\n");
  });
  options_.endpoints = {net::ScriptedServer::host()};
  EXPECT_THAT(client_->call(question, soon()), fails_with(Code::unavailable));
}

TEST_F(EtcdClientTest, TheSizeOfAnAnswerIsBounded) {
  make_client({.response_bytes_max = 1'000});
  start_both();
  first_->answer = [](const HttpRequest&) { return HttpResponse{.body = std::string(1'001, 'x')}; };
  EXPECT_THAT(client_->call(question, soon()), fails_with(Code::resource_exhausted));
  EXPECT_THAT(second_->requests, IsEmpty());
}

// A member that issues tokens, "token 1" and so on, and accepts only the latest.
class EtcdClientTokenTest : public EtcdClientTest {
 protected:
  void SetUp() override {
    make_client({.user = "me", .password = "secret"});
    start_both();
    first_->answer = [this](const HttpRequest& request) { return answer(request); };
  }

  HttpResponse answer(const HttpRequest& request) {
    if (request.path() == "/v3/auth/authenticate") {
      if (!authentication_) return give_token();
      return authentication_(request);
    }
    if (request.header("Authorization") == "token " + std::to_string(token_count_)) {
      return HttpResponse{.body = "well"};
    }
    return refusal(401, "etcdserver: invalid auth token", 16);
  }
  HttpResponse give_token() {
    pass(100ms);
    return {.body = R"({"token":"token )" + std::to_string(++token_count_) + R"("})"};
  }

  Member::Answer authentication_ = {};
  int token_count_ = 0;
};

TEST_F(EtcdClientTokenTest, ATokenIsFetchedBeforeTheFirstCall) {
  EXPECT_EQ(client_->call(change, soon()), "well");
  ASSERT_THAT(first_->requests, SizeIs(2));
  EXPECT_THAT(first_->requests[0].body, HasSubstr(R"("name":"me","password":"secret")"));
  EXPECT_EQ(client_->call(change, soon()), "well");
  EXPECT_EQ(token_count_, 1);
}

TEST_F(EtcdClientTokenTest, ARefusedTokenIsReplaced) {
  EXPECT_EQ(client_->call(change, soon()), "well");
  ++token_count_;  // Etcd has forgotten the first token.
  EXPECT_EQ(client_->call(change, soon()), "well");
  EXPECT_EQ(token_count_, 3);
}

TEST_F(EtcdClientTokenTest, ATokenIsFetchedOnceForAllCalls) {
  coroutine::TaskGroup group;
  for (int i = 0; i < 4; ++i) {
    const auto ask = [&]() -> Result<void> {
      const auto answer = client_->call(change, soon());
      if (!answer) return answer.error();
      return {};
    };
    ASSERT_TRUE(group.spawn("call", ask));
  }
  EXPECT_TRUE(group.join(soon()));
  EXPECT_EQ(token_count_, 1);
}

TEST_F(EtcdClientTokenTest, ATokenThatIsNeverAcceptedIsNotFetchedForEver) {
  first_->answer = [this](const HttpRequest& request) {
    if (request.path() == "/v3/auth/authenticate") return give_token();
    return refusal(401, "etcdserver: invalid auth token", 16);
  };
  EXPECT_THAT(client_->call(change, soon()), fails_with(Code::unauthenticated));
  EXPECT_EQ(token_count_, 2);
}

TEST_F(EtcdClientTokenTest, AWrongPasswordIsUnauthenticated) {
  authentication_ = [](const HttpRequest&) {
    return refusal(400, "etcdserver: authentication failed, invalid user ID or password", 3);
  };
  EXPECT_THAT(client_->call(change, soon()), fails_with(Code::unauthenticated));
  EXPECT_THAT(first_->requests, SizeIs(1));
}

TEST_F(EtcdClientTokenTest, ATokenIsNotNeededWithoutAuthentication) {
  authentication_ = [](const HttpRequest&) {
    return refusal(412, "etcdserver: authentication is not enabled", 9);
  };
  first_->answer = [this](const HttpRequest& request) {
    if (request.path() == "/v3/auth/authenticate") return authentication_(request);
    EXPECT_EQ(request.header("Authorization"), "");
    return HttpResponse{.body = "well"};
  };
  EXPECT_EQ(client_->call(change, soon()), "well");
  EXPECT_EQ(client_->call(change, soon()), "well");
  EXPECT_THAT(first_->requests, SizeIs(3));
  // An operator then enables authentication.
  authentication_ = nullptr;
  first_->answer = [this](const HttpRequest& request) {
    if (request.header("Authorization").empty() && request.path() == "/v3/kv/txn") {
      return refusal(400, "etcdserver: user name is empty", 3);
    }
    return answer(request);
  };
  EXPECT_EQ(client_->call(change, soon()), "well");
}

TEST_F(EtcdClientTokenTest, ACallWithoutATokenHasExecutedNothing) {
  authentication_ = [this](const HttpRequest&) {
    network_.reset_all();
    return HttpResponse{};
  };
  second_->answer = first_->answer;
  const auto answer = client_->call(change, soon());
  ASSERT_THAT(answer, fails_with(Code::unavailable));
  EXPECT_FALSE(answer.error().maybe_executed());
}

TEST_F(EtcdClientTokenTest, AnUrgentCallDoesNotWaitForTheTokenOfOthers) {
  authentication_ = [this, is_first = true](const HttpRequest&) mutable {
    if (std::exchange(is_first, false)) pass(1h);
    return give_token();
  };
  auto stuck = coroutine::spawn("call", [&] { return client_->call(change, soon()); });
  pass(10ms);
  const TimePoint start = now();
  EXPECT_EQ(client_->call_at_once(question, soon()), "well");
  EXPECT_LT(now() - start, 200ms);
  stuck.cancel();
  EXPECT_THAT(stuck.join(Deadline::never()), fails_with(Code::cancelled));
}

// A watch of a member that sends the lines of the test.
class EtcdWatchTest : public testing::Test {
 protected:
  static constexpr const char* beginning =
      R"({"result":{"header":{"revision":"1"},"created":true}})";

  using Say = std::function<void(net::Stream& stream, std::size_t number)>;

  void serve(Say say) {
    server_.emplace(network_, [this, say](net::Stream& stream, std::size_t number) {
      const std::string head = net::read_request(stream);
      const std::size_t at = head.find("Content-Length: ");
      const auto size = static_cast<std::size_t>(std::stoi(head.substr(at + 16)));
      bodies_.push_back(net::read_exactly(stream, size).value_or(""));
      net::say(stream, "HTTP/1.1 200 OK\r\n\r\n");
      say(stream, number);
    });
    EtcdDirectory::Options options{.endpoints = {net::ScriptedServer::host()},
                                   .response_bytes_max = 2'000,
                                   .watch_silence_max = 30s};
    directory_ = std::make_unique<EtcdDirectory>(network_, options);
  }

  Result<void> watch() {
    return directory_->watch(
        "", 5, [this](const Directory::Change& told) { heard_.push_back(told.entry.value); });
  }

  // "/corolane/a" has changed to 1 at that revision.
  static std::string event(int revision, std::string_view more = "") {
    return R"({"result":{"header":{"revision":"99"})" + std::string(more) +
           R"(,"events":[{"kv":{"key":"L2Nvcm9sYW5lL2E=","mod_revision":")" +
           std::to_string(revision) + R"(","value":"MQ=="}}]}})";
  }
  static void say_line(net::Stream& stream, std::string_view line) {
    net::say(stream, std::string(line) + "\n");
  }

  sim::SimulatedNetwork network_;
  std::optional<net::ScriptedServer> server_;
  std::unique_ptr<EtcdDirectory> directory_;
  std::vector<std::string> bodies_;
  std::vector<std::string> heard_;
};

TEST_F(EtcdWatchTest, ASilentWatchResumesWhereItStopped) {
  serve([](net::Stream& stream, std::size_t number) {
    say_line(stream, beginning);
    if (number == 1) say_line(stream, event(17));
    // Nothing has changed up to revision 40.
    if (number == 2) say_line(stream, R"({"result":{"header":{"revision":"40"}}})");
    if (number == 3) return;
    pass(1h);
  });
  const TimePoint start = now();
  EXPECT_THAT(watch(), fails_with(Code::unavailable));
  EXPECT_EQ(now() - start, 3 * 30s + 4 * 4ms);  // To connect and to get an answer, four times.
  ASSERT_THAT(bodies_, SizeIs(4));
  EXPECT_THAT(bodies_[0], HasSubstr(R"("start_revision":"5")"));
  EXPECT_THAT(bodies_[1], HasSubstr(R"("start_revision":"5")"));
  EXPECT_THAT(bodies_[2], HasSubstr(R"("start_revision":"18")"));
  EXPECT_THAT(bodies_[3], HasSubstr(R"("start_revision":"41")"));
  EXPECT_THAT(heard_, ElementsAre("1"));
}

TEST_F(EtcdWatchTest, AWatchThatIsSilentWithinARevisionFails) {
  serve([](net::Stream& stream, std::size_t) {
    say_line(stream, beginning);
    say_line(stream, event(17, R"(,"fragment":true)"));
    pass(1h);
  });
  EXPECT_THAT(watch(), fails_with(Code::unavailable));
  EXPECT_THAT(bodies_, SizeIs(1));
}

TEST_F(EtcdWatchTest, AWatchEndsWithTheErrorOfEtcd) {
  struct Case {
    std::string last;
    Code code;
  };
  for (const auto& [last, code] : std::vector<Case>{
           {R"({"result":{"canceled":true}})", Code::unavailable},
           {R"({"error":{"grpc_code":14,"message":"etcdserver: no leader"}})", Code::unavailable},
           {R"({"error":{"code":7,"message":"etcdserver: no"}})", Code::permission_denied},
           {R"({"result":{"header":{},"canceled":true,"compact_revision":"20"}})",
            Code::out_of_range},
           {"no json", Code::internal},
           {std::string(2'001, 'x'), Code::resource_exhausted},
       }) {
    heard_.clear();
    serve([last](net::Stream& stream, std::size_t) {
      say_line(stream, beginning);
      say_line(stream, event(17));
      say_line(stream, last);
      pass(1h);
    });
    EXPECT_THAT(watch(), fails_with(code)) << last;
    EXPECT_THAT(heard_, ElementsAre("1"));
    server_.reset();
  }
}

TEST_F(EtcdWatchTest, ABrokenWatchIsUnavailable) {
  serve([this](net::Stream& stream, std::size_t) {
    say_line(stream, beginning);
    pass(1s);
    network_.reset_all();
  });
  EXPECT_THAT(watch(), fails_with(Code::unavailable));
}

TEST_F(EtcdWatchTest, ARefusedWatchReportsTheReason) {
  serve([](net::Stream& stream, std::size_t) {
    say_line(stream, R"({"result":{"header":{"revision":"1"},"created":true,"canceled":true,)"
                     R"("cancel_reason":"rpc error: code = PermissionDenied desc = etcdserver: )"
                     R"(permission denied"}})");
  });
  EXPECT_THAT(watch(), fails_with(Code::permission_denied));
}

TEST_F(EtcdWatchTest, AWatchThatDoesNotBeginIsUnavailable) {
  serve([](net::Stream&, std::size_t) { pass(1h); });
  const TimePoint start = now();
  EXPECT_THAT(watch(), fails_with(Code::unavailable));
  EXPECT_EQ(now() - start, 2s);
}

}  // namespace
}  // namespace corolane::framework::detail
