// SPDX-License-Identifier: MIT
#include "framework/admin/admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/virtual_time.h"
#include "framework/telemetry/log.h"
#include "net/testing/network.h"
#include "test/framework/pages/pages.h"
#include "test/net/stream_pair.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::fetch;
using testing::HasSubstr;

net::HttpHandler text_page(std::string text) {
  return [text = std::move(text)](const net::HttpRequest&) {
    net::HttpResponse response;
    response.body = text;
    return response;
  };
}

class AdminTest : public testing::Test {
 protected:
  // Starts to serve and returns the endpoint to fetch from.
  net::Endpoint start() {
    auto endpoint = admin_.listen({.endpoint = {"127.0.0.1", 0}});
    EXPECT_TRUE(endpoint) << endpoint;
    return endpoint.value_or(net::Endpoint{});
  }

  AdminTest() { admin_.page("/", "the root", text_page("root")); }

  sim::SimulatedNetwork network_;
  AdminServer admin_{network_};
};

TEST_F(AdminTest, ServesEachPageAtItsPath) {
  admin_.page("/one", "the first", text_page("1"));
  admin_.page("/two", "the second", text_page("2"));
  const auto endpoint = start();
  EXPECT_EQ(fetch(network_, endpoint, "/one").body, "1");
  EXPECT_EQ(fetch(network_, endpoint, "/two?format=any").body, "2");
}

TEST_F(AdminTest, APageMayServeAllPathsBelowAFolder) {
  admin_.page("/things", "all", text_page("all"));
  admin_.page("/things/best", "the best", text_page("best"));
  admin_.page("/things/{name}", "one", [](const net::HttpRequest& request) {
    return net::HttpResponse{.body = std::string(request.path())};
  });
  const auto endpoint = start();
  EXPECT_EQ(fetch(network_, endpoint, "/things").body, "all");
  EXPECT_EQ(fetch(network_, endpoint, "/things/best").body, "best");
  EXPECT_EQ(fetch(network_, endpoint, "/things/7?format=any").body, "/things/7");
  for (const char* path : {"/things/", "/things/7/part", "/7"}) {
    EXPECT_EQ(fetch(network_, endpoint, path).status, 404) << path;
  }
}

TEST_F(AdminTest, AnUnknownPathGetsTheListOfPages) {
  admin_.page("/health", "whether it serves", text_page("ok"));
  const auto response = fetch(network_, start(), "/helth?now");
  EXPECT_EQ(response.status, 404);
  EXPECT_THAT(response.body, HasSubstr("no page /helth; the pages are:\n"));
  EXPECT_THAT(response.body, HasSubstr("/        the root\n/health  whether it serves\n"));
}

TEST_F(AdminTest, AnswersOnlyGetAndHead) {
  const auto endpoint = start();
  EXPECT_EQ(fetch(network_, endpoint, "/", "HEAD").status, 200);
  for (const char* method : {"POST", "PUT", "DELETE"}) {
    EXPECT_EQ(fetch(network_, endpoint, "/", method).status, 405) << method;
  }
}

TEST_F(AdminTest, AnActionRunsOnPostOnly) {
  int done = 0;
  admin_.page("/both", "a page", text_page("page"));
  for (const char* path : {"/both", "/things/{name}/drop"}) {
    admin_.action(path, "does it", [&](const net::HttpRequest& request) {
      ++done;
      return text_page("did " + std::string(request.path()))(request);
    });
  }
  const auto endpoint = start();
  EXPECT_EQ(fetch(network_, endpoint, "/both").body, "page");
  EXPECT_EQ(done, 0);
  EXPECT_EQ(fetch(network_, endpoint, "/both", "POST").body, "did /both");
  EXPECT_EQ(fetch(network_, endpoint, "/things/7/drop", "POST").body, "did /things/7/drop");
  EXPECT_EQ(done, 2);
  EXPECT_EQ(fetch(network_, endpoint, "/things/7/drop").status, 405);
  EXPECT_EQ(fetch(network_, endpoint, "/both", "DELETE").status, 405);
}

TEST_F(AdminTest, ARequestFromAnotherSiteRunsNoAction) {
  admin_.action("/do", "does it", text_page("did it"));
  const auto endpoint = start();
  for (const char* site : {"cross-site", "same-site"}) {
    EXPECT_EQ(fetch(network_, endpoint,
                    {.method = "POST", .target = "/do", .headers = {{"Sec-Fetch-Site", site}}})
                  .status,
              403);
  }
  EXPECT_EQ(
      fetch(network_, endpoint,
            {.method = "POST", .target = "/do", .headers = {{"Sec-Fetch-Site", "same-origin"}}})
          .body,
      "did it");
}

TEST_F(AdminTest, ABrowserGetsADocumentThatFetchesTheJson) {
  admin_.page("/things", "all", text_page("all"));
  const auto endpoint = start();
  const net::HttpHeaders browser = {{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}};
  for (const char* path : {"/", "/things"}) {
    const auto response = fetch(network_, endpoint, {.target = path, .headers = browser});
    EXPECT_EQ(response.content_type, "text/html; charset=utf-8");
    EXPECT_THAT(response.body, testing::StartsWith("<!doctype html>"));
    EXPECT_THAT(response.headers.find("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  }
  EXPECT_EQ(fetch(network_, endpoint, {.target = "/things?format=text", .headers = browser}).body,
            "all");
  EXPECT_EQ(fetch(network_, endpoint, {.target = "/thing", .headers = browser}).status, 404);
}

// The notice of a library that is passed on goes with it.
TEST_F(AdminTest, OnlyTheDashboardCarriesTheChartsAndTheirLicence) {
  admin_.page("/things", "all", text_page("all"));
  const auto endpoint = start();
  const net::HttpHeaders browser = {{"Accept", "text/html"}};
  const auto document = [&](const char* path) {
    return fetch(network_, endpoint, {.target = path, .headers = browser}).body;
  };
  EXPECT_THAT(document("/"), HasSubstr("var uPlot="));
  EXPECT_THAT(document("/"), HasSubstr("Copyright (c) 2022 Leon Sorokin"));
  EXPECT_THAT(document("/"), HasSubstr("The above copyright notice and this permission notice"));
  EXPECT_THAT(document("/things"), testing::Not(HasSubstr("uPlot")));
  EXPECT_LT(document("/things").size(), document("/").size());
}

TEST_F(AdminTest, ARequestWithoutTheTokenIsRefused) {
  admin_.page("/one", "the first", text_page("1"));
  const auto endpoint = admin_.listen({.endpoint = {"10.0.0.1", 8461}, .token = "a long secret"});
  ASSERT_TRUE(endpoint) << endpoint;
  const auto with = [&](const std::string& credentials) {
    return fetch(network_, *endpoint,
                 {.target = "/one", .headers = {{"Authorization", credentials}}});
  };
  EXPECT_EQ(with("Bearer a long secret").body, "1");
  // A browser sends this for the user "me".
  EXPECT_EQ(with("Basic bWU6YSBsb25nIHNlY3JldA==").body, "1");
  for (const char* wrong : {"Bearer a long secreT", "Bearer ", "Basic bWU6YSBsb25n", "Basic ?",
                            "Basic YSBsb25nIHNlY3JldA==", "a long secret", ""}) {
    EXPECT_EQ(with(wrong).status, 401) << wrong;
  }
  const auto without = fetch(network_, *endpoint, "/one");
  EXPECT_EQ(without.status, 401);
  EXPECT_THAT(without.body, HasSubstr("node.admin.token_file"));
  EXPECT_THAT(without.headers.find("WWW-Authenticate"), HasSubstr("Basic"));
}

TEST_F(AdminTest, AHolderOfTheLookTokenReadsPagesAndRunsNoAction) {
  std::vector<std::string> lines;
  Log log(LogLevel::error, [&](std::string_view line) { lines.emplace_back(line); });
  int runs = 0;
  std::size_t logged_before = 0;
  admin_.page("/one", "the first", text_page("1"));
  admin_.action("/one", "changes it", [&](const net::HttpRequest&) {
    ++runs;
    logged_before = lines.size();
    return net::HttpResponse{.body = "done"};
  });
  const auto endpoint = admin_.listen({.endpoint = {"10.0.0.1", 8461},
                                       .token = "a long secret",
                                       .look_token = "another secret",
                                       .log = &log});
  ASSERT_TRUE(endpoint) << endpoint;
  const auto with = [&](const char* method, const char* credentials) {
    return fetch(network_, *endpoint,
                 {.method = method, .target = "/one", .headers = {{"Authorization", credentials}}});
  };
  EXPECT_EQ(with("GET", "Bearer another secret").body, "1");
  const auto refused = with("POST", "Bearer another secret");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("node.admin.token_file"));
  EXPECT_EQ(runs, 0);
  EXPECT_THAT(lines, testing::IsEmpty());

  // A browser sends this for the user "me".
  EXPECT_EQ(with("POST", "Basic bWU6YSBsb25nIHNlY3JldA==").body, "done");
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(logged_before, 1U) << "the action may end the process";
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], testing::AllOf(HasSubstr("admin action"), HasSubstr("action=/one"),
                                       HasSubstr("by=me"), HasSubstr("peer=")));
}

TEST_F(AdminTest, AnEmptyTokenOpensNothingWhereOnlyTheLookTokenIsSet) {
  admin_.action("/one", "changes it", text_page("done"));
  const auto endpoint =
      admin_.listen({.endpoint = {"10.0.0.1", 8461}, .look_token = "another secret"});
  ASSERT_TRUE(endpoint) << endpoint;
  for (const char* credentials : {"Bearer ", "Basic Og=="}) {
    EXPECT_EQ(
        fetch(network_, *endpoint,
              {.method = "POST", .target = "/one", .headers = {{"Authorization", credentials}}})
            .status,
        401)
        << credentials;
  }
}

// The status that a browser gets for the first page under this host name.
unsigned status_for_host(net::Network& network, const net::Endpoint& endpoint,
                         const std::string& host, std::string_view rest = "") {
  auto stream = network.connect(endpoint, Deadline::after(1s));
  if (!stream) return 0;
  std::string request = "GET / HTTP/1.1\r\nHost: " + host + "\r\n";
  request.append(rest).append("Connection: close\r\n\r\n");
  EXPECT_TRUE((*stream)->try_write(net::bytes_of(request)));
  const std::string answer = net::read_all(**stream).value_or("");
  return answer.starts_with("HTTP/1.1 ") ? static_cast<unsigned>(std::stoi(answer.substr(9))) : 0;
}

TEST_F(AdminTest, ServesOnlyLocalHostNamesWithoutAToken) {
  const auto endpoint = start();
  for (const char* host : {"localhost", "localhost:8461", "LocalHost", "127.0.0.1",
                           "127.0.0.1:8461", "127.1.2.3:1", "[::1]", "[::1]:8461"}) {
    EXPECT_EQ(status_for_host(network_, endpoint, host), 200U) << host;
  }
  for (const char* host : {"evil.example", "evil.example:8461", "127.0.0.1.evil.example",
                           "127.evil.example:8461", "localhost.evil.example", "notlocalhost",
                           "10.0.0.1", "[::2]:8461", "0.0.0.0", "[::]", "", ":8461", "unix:8461"}) {
    EXPECT_EQ(status_for_host(network_, endpoint, host), 403U) << host;
  }
}

TEST_F(AdminTest, ARefusalNamesTheServedHosts) {
  admin_.action("/drain", "stops", text_page("stopped"));
  const auto endpoint = start();
  // DNS rebinding: the attacker's host name resolves to this machine, so all of its fields agree.
  auto stream = network_.connect(endpoint, Deadline::after(1s));
  ASSERT_TRUE(stream) << stream;
  EXPECT_TRUE((*stream)->try_write(
      net::bytes_of("POST /drain HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n"
                    "Sec-Fetch-Site: same-origin\r\nConnection: close\r\n\r\n")));
  const std::string answer = net::read_all(**stream).value_or("");
  EXPECT_THAT(answer, testing::StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(answer, HasSubstr("as localhost or by a loopback address"));
}

TEST_F(AdminTest, ServesAnyHostOverAUnixSocket) {
  const auto endpoint = admin_.listen({.endpoint = {"unix:@admin", 0}});
  ASSERT_TRUE(endpoint) << endpoint;
  EXPECT_EQ(status_for_host(network_, *endpoint, "node-7"), 200U);
}

TEST_F(AdminTest, LogsAFewWrongTokensAMinute) {
  std::vector<std::string> lines;
  Log log(LogLevel::info, [&](std::string_view line) { lines.emplace_back(line); });
  const auto endpoint =
      admin_.listen({.endpoint = {"10.0.0.1", 8461}, .token = "a long secret", .log = &log});
  ASSERT_TRUE(endpoint) << endpoint;
  const auto guess = [&] {
    return fetch(network_, *endpoint, {.headers = {{"Authorization", "Bearer a wrong one"}}});
  };
  EXPECT_EQ(fetch(network_, *endpoint, "/").status, 401U);
  EXPECT_TRUE(lines.empty());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(guess().status, 401U);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines.front(), HasSubstr("shows a wrong token peer="));
  EXPECT_THAT(lines.front(), testing::Not(HasSubstr("a wrong one")));
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_EQ(guess().status, 401U);
  EXPECT_THAT(lines.back(), HasSubstr("not_told_before=15"));
}

TEST_F(AdminTest, DelaysTheAnswersToAFewWrongTokens) {
  const auto endpoint = admin_.listen({.endpoint = {"10.0.0.1", 8461}, .token = "a long secret"});
  ASSERT_TRUE(endpoint) << endpoint;
  const auto time_of = [&](const char* credentials, unsigned status) {
    const TimePoint begin = now();
    EXPECT_EQ(fetch(network_, *endpoint, {.headers = {{"Authorization", credentials}}}).status,
              status);
    return now() - begin;
  };
  EXPECT_GE(time_of("Bearer a wrong one", 401), 1s);
  EXPECT_LT(time_of("Bearer a long secret", 200), 1s);
  int held_back_count = 0;
  coroutine::TaskGroup guesses;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(guesses.spawn("guess", [&] {
      if (time_of("Bearer a wrong one", 401) >= 1s) ++held_back_count;
    }));
  }
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_LT(time_of("Bearer a long secret", 200), 1s);
  EXPECT_TRUE(guesses.join(Deadline::never()));
  EXPECT_EQ(held_back_count, 8);
}

TEST_F(AdminTest, DelaysTheAnswerAlthoughThePeerHasFinishedSending) {
  const auto endpoint = admin_.listen({.endpoint = {"10.0.0.1", 8461}, .token = "a long secret"});
  ASSERT_TRUE(endpoint) << endpoint;
  auto stream = network_.connect(*endpoint, Deadline::after(1s));
  ASSERT_TRUE(stream) << stream;
  const TimePoint begin = now();
  EXPECT_TRUE((*stream)->try_write(
      net::bytes_of("GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer a wrong one\r\n\r\n")));
  (*stream)->finish_writing();
  EXPECT_THAT(net::read_all(**stream).value_or(""), testing::StartsWith("HTTP/1.1 401 "));
  EXPECT_GE(now() - begin, 1s);
}

TEST_F(AdminTest, ServesAnyHostToAClientWithTheToken) {
  const auto endpoint = admin_.listen({.endpoint = {"10.0.0.1", 8461}, .token = "a long secret"});
  ASSERT_TRUE(endpoint) << endpoint;
  EXPECT_EQ(status_for_host(network_, *endpoint, "node-7.example:8461",
                            "Authorization: Bearer a long secret\r\n"),
            200U);
}

TEST_F(AdminTest, RefusesTwoHostsAndTwoOrigins) {
  const auto endpoint = start();
  EXPECT_EQ(status_for_host(network_, endpoint, "localhost", "Host: localhost\r\n"), 400U);
  EXPECT_EQ(status_for_host(network_, endpoint, "localhost",
                            "Origin: http://localhost\r\nOrigin: http://evil.example\r\n"),
            400U);
}

TEST_F(AdminTest, RefusesToListenOnAnExposedAddress) {
  for (const char* address : {"0.0.0.0", "10.0.0.1", "::", "192.168.1.127"}) {
    const auto endpoint = admin_.listen({.endpoint = {address, 8461}});
    ASSERT_FALSE(endpoint) << address;
    EXPECT_EQ(endpoint.error().code(), Code::invalid_argument);
    EXPECT_THAT(endpoint.error().message(), HasSubstr("is no loopback address"));
    EXPECT_THAT(endpoint.error().message(), HasSubstr("node.admin.token_file"));
  }
}

TEST_F(AdminTest, DoesNotListenWithoutAStackToListenOn) {
  coroutine::VirtualTime time;
  coroutine::Scheduler full(time, {.stacks = {.stack_count_max = 1}});
  const auto ran = full.run("main", [&] {
    const auto endpoint = admin_.listen({.endpoint = {"127.0.0.1", 0}});
    ASSERT_FALSE(endpoint);
    EXPECT_EQ(endpoint.error().code(), Code::resource_exhausted);
  });
  EXPECT_TRUE(ran) << ran;
}

TEST_F(AdminTest, AnswersWhenLoadHasTakenEveryStack) {
  coroutine::VirtualTime time;
  coroutine::Scheduler full(time, {.stacks = {.stack_count_max = 32, .control_count = 4}});
  const auto ran = full.run("main", [&] {
    const auto endpoint = start();
    coroutine::TaskGroup load;
    while (load.spawn("load", [] { static_cast<void>(coroutine::sleep_for(1h)); })) continue;
    EXPECT_GT(load.size(), 20u);
    EXPECT_EQ(fetch(network_, endpoint, "/").status, 200);
    load.cancel_and_join();
    admin_.stop();
  });
  EXPECT_TRUE(ran) << ran;
}

TEST_F(AdminTest, LoopbackAndUnixSocketsAreLocal) {
  EXPECT_TRUE(is_local({"127.0.0.1", 1}));
  EXPECT_TRUE(is_local({"127.8.8.8", 1}));
  EXPECT_TRUE(is_local({"::1", 1}));
  EXPECT_TRUE(is_local({"unix:/run/admin.sock", 0}));
}

TEST_F(AdminTest, ASlowPageDelaysNoOtherPage) {
  coroutine::Event release;
  admin_.page("/slow", "takes its time", [&](const net::HttpRequest& request) {
    static_cast<void>(release.wait(Deadline::never()));
    return text_page("slow")(request);
  });
  admin_.page("/fast", "does not", text_page("fast"));
  const auto endpoint = start();
  auto slow = coroutine::spawn("slow", [&] { return fetch(network_, endpoint, "/slow").body; });
  EXPECT_EQ(fetch(network_, endpoint, "/fast").body, "fast");
  release.set();
  EXPECT_EQ(*slow.join(Deadline::never()), "slow");
}

TEST_F(AdminTest, AnExceptionIsAnErrorOfItsPageAlone) {
  admin_.page("/bad", "throws", [](const net::HttpRequest&) -> net::HttpResponse {
    throw std::runtime_error("bad");
  });
  const auto endpoint = start();
  EXPECT_EQ(fetch(network_, endpoint, "/bad").status, 500);
  EXPECT_EQ(fetch(network_, endpoint, "/").status, 200);
}

TEST_F(AdminTest, ServesTheNewestProbeWhileOthersHoldAllConnections) {
  const auto endpoint = start();
  std::vector<std::unique_ptr<net::Stream>> idle;
  for (std::size_t i = 0; i < 2 * AdminServer::connection_count_max; ++i) {
    auto stream = network_.connect(endpoint, Deadline::after(1s));
    ASSERT_TRUE(stream) << stream;
    if (i % 2 == 0) {
      EXPECT_TRUE((*stream)->try_write(net::bytes_of("GET / HTTP/1.1\r\nHost:")));
    }
    idle.push_back(std::move(*stream));
  }
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  const TimePoint begin = now();
  EXPECT_EQ(fetch(network_, endpoint, "/").status, 200U);
  EXPECT_LT(now() - begin, 1s);
  std::size_t count = 0;
  admin_.for_each_connection([&](const auto&) { ++count; });
  EXPECT_LE(count, AdminServer::connection_count_max);
}

TEST_F(AdminTest, ClosesAConnectionThatIsIdleForTenSeconds) {
  const auto endpoint = start();
  auto idle = network_.connect(endpoint, Deadline::after(1s));
  ASSERT_TRUE(idle) << idle;
  const TimePoint begin = now();
  EXPECT_EQ(net::read_all(**idle).value_or("lost"), "");
  EXPECT_GE(now() - begin, 10s);
  EXPECT_LT(now() - begin, 11s);
}

TEST_F(AdminTest, StopEndsAllConnectionsAtOnce) {
  admin_.page("/never", "never answers", [](const net::HttpRequest& request) {
    static_cast<void>(coroutine::sleep_for(24h));
    return text_page("at last")(request);
  });
  const auto endpoint = start();
  auto idle = network_.connect(endpoint, Deadline::after(1s));
  ASSERT_TRUE(idle) << idle;
  auto caught = coroutine::spawn("caught", [&] { return fetch(network_, endpoint, "/never"); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const auto start_of_stop = now();
  admin_.stop();
  EXPECT_EQ(now(), start_of_stop);
  EXPECT_TRUE(caught.join(Deadline::never()));
  EXPECT_EQ(fetch(network_, endpoint, "/").status, 0U);
}

}  // namespace
}  // namespace corolane::framework
