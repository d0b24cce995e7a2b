#include "framework/admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "coroutine/event.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/virtual_time.h"
#include "test/framework/pages.h"
#include "test/sim/network.h"

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
  // Starts to serve; the endpoint to fetch from.
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

TEST_F(AdminTest, APageMayStandForAllPathsBelowAFolder) {
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

TEST_F(AdminTest, AnUnknownPathNamesThePagesThereAre) {
  admin_.page("/health", "whether it serves", text_page("ok"));
  const auto response = fetch(network_, start(), "/helth?now");
  EXPECT_EQ(response.status, 404);
  EXPECT_THAT(response.body, HasSubstr("no page /helth; there are:\n"));
  EXPECT_THAT(response.body, HasSubstr("/        the root\n/health  whether it serves\n"));
}

TEST_F(AdminTest, AnswersToNothingButGetAndHead) {
  const auto endpoint = start();
  EXPECT_EQ(fetch(network_, endpoint, "/", "HEAD").status, 200);
  for (const char* method : {"POST", "PUT", "DELETE"}) {
    EXPECT_EQ(fetch(network_, endpoint, "/", method).status, 405) << method;
  }
}

TEST_F(AdminTest, AnActionIsDoneByPostAndByNothingElse) {
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

TEST_F(AdminTest, AnotherSiteHasNothingDone) {
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

TEST_F(AdminTest, ABrowserGetsADocumentThatAsksForTheJson) {
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

TEST_F(AdminTest, WhoShowsNoTokenIsNotLetIn) {
  admin_.page("/one", "the first", text_page("1"));
  const auto endpoint = admin_.listen({.endpoint = {"10.0.0.1", 8461}, .token = "a long secret"});
  ASSERT_TRUE(endpoint) << endpoint;
  const auto with = [&](const std::string& credentials) {
    return fetch(network_, *endpoint,
                 {.target = "/one", .headers = {{"Authorization", credentials}}});
  };
  EXPECT_EQ(with("Bearer a long secret").body, "1");
  // What a browser sends for the user "me".
  EXPECT_EQ(with("Basic bWU6YSBsb25nIHNlY3JldA==").body, "1");
  for (const char* wrong : {"Bearer a long secreT", "Bearer ", "Basic bWU6YSBsb25n", "Basic ?",
                            "Basic YSBsb25nIHNlY3JldA==", "a long secret", ""}) {
    EXPECT_EQ(with(wrong).status, 401) << wrong;
  }
  const auto without = fetch(network_, *endpoint, "/one");
  EXPECT_EQ(without.status, 401);
  EXPECT_THAT(without.body, HasSubstr("node.admin_token_file"));
  EXPECT_THAT(without.headers.find("WWW-Authenticate"), HasSubstr("Basic"));
}

TEST_F(AdminTest, RefusesToListenWhereOthersCouldReachIt) {
  for (const char* address : {"0.0.0.0", "10.0.0.1", "::", "192.168.1.127"}) {
    const auto endpoint = admin_.listen({.endpoint = {address, 8461}});
    ASSERT_FALSE(endpoint) << address;
    EXPECT_EQ(endpoint.error().code(), Code::invalid_argument);
    EXPECT_THAT(endpoint.error().message(), HasSubstr("is no loopback address"));
    EXPECT_THAT(endpoint.error().message(), HasSubstr("node.admin_token_file"));
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

TEST_F(AdminTest, AnswersWhenTheLoadHasTakenEveryStack) {
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

TEST_F(AdminTest, ASlowPageHoldsUpNoOther) {
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
  EXPECT_EQ(*slow.join(), "slow");
}

TEST_F(AdminTest, APageThatThrowsIsAnErrorOfThatPageAlone) {
  admin_.page("/bad", "throws", [](const net::HttpRequest&) -> net::HttpResponse {
    throw std::runtime_error("bad");
  });
  const auto endpoint = start();
  EXPECT_EQ(fetch(network_, endpoint, "/bad").status, 500);
  EXPECT_EQ(fetch(network_, endpoint, "/").status, 200);
}

TEST_F(AdminTest, MoreConnectionsThanItTakesWaitForTheirTurn) {
  const auto endpoint = start();
  std::vector<std::unique_ptr<net::Stream>> idle;
  for (std::size_t i = 0; i < AdminServer::connection_count_max; ++i) {
    auto stream = network_.connect(endpoint, Deadline::after(1s));
    ASSERT_TRUE(stream) << stream;
    idle.push_back(std::move(*stream));
  }
  auto late = coroutine::spawn("late", [&] { return fetch(network_, endpoint, "/").status; });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_FALSE(late.is_done());
  idle.pop_back();
  EXPECT_EQ(*late.join(), 200U);
}

TEST_F(AdminTest, StopEndsConnectionsWhateverTheyDo) {
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
  EXPECT_TRUE(caught.join());
  EXPECT_EQ(fetch(network_, endpoint, "/").status, 0U);
}

}  // namespace
}  // namespace corolane::framework
