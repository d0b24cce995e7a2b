// SPDX-License-Identifier: MIT
// Calls over HTTP pass the admission of the server before they cost anything: without sockets, one
// request after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "rpc/http/http_face.h"
#include "rpc/server/detail/admission.h"
#include "test/rpc/ranked_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// A request as a face gets it from an HttpServer.
class Asked final : public net::HttpExchange {
 public:
  Asked(const std::string& method, const std::string& text, net::HttpHeaders headers = {})
      : request_{.method = "POST",
                 .target = "/corolane.test.Ranked/" + method,
                 .body = "{\"text\":\"" + text + "\"}",
                 .headers = std::move(headers),
                 .peer = "10.0.0.1:5000"} {
    request_.headers.add("Content-Type", "application/json");
  }
  bool is_answered() const { return answer_count_ == 1; }
  const net::HttpResponse& answered() const { return response_; }
  // A server does this when the peer has gone.
  void leave() {
    if (watcher_ != nullptr) watcher_->client_left();
  }

 private:
  const net::HttpRequest& request() const override { return request_; }
  net::HttpResponse& response() override { return response_; }
  const net::Endpoint& peer_endpoint() const override { return peer_; }
  void bind(coroutine::TaskRef) override {}
  void watch(Watcher& watcher) override { watcher_ = &watcher; }
  Result<void> write(std::string_view, Deadline) override { return {}; }
  Result<void> try_write(std::string_view) override { return {}; }
  void answer() override { answer_at_once(); }
  void answer_at_once() override {
    ++answer_count_;
    watcher_ = nullptr;
  }

  net::HttpRequest request_;
  net::HttpResponse response_;
  net::Endpoint peer_{"10.0.0.1", 5000};
  Watcher* watcher_ = nullptr;
  int answer_count_ = 0;
};

class HttpAdmissionTest : public testing::Test {
 protected:
  explicit HttpAdmissionTest(const rpc::Server::Options& options = {})
      : server_(network_, options) {
    check(server_.add(ranked_).has_value(), "the service can be added");
  }
  ~HttpAdmissionTest() override {
    static_cast<void>(coroutine::sleep_for(1s));
    for (const auto& asked : asked_) EXPECT_TRUE(asked->is_answered());
    EXPECT_EQ(server_.statistics().running_count, 0u);
    EXPECT_EQ(server_.statistics().waiting_count, 0u);
    EXPECT_EQ(server_.call_shares().statistics().count, 0u);
  }

  // Hands a request to the face; a task for it does not run yet.
  Asked& ask(const std::string& method, const std::string& text, net::HttpHeaders headers = {}) {
    if (face_ == nullptr) face_ = std::make_unique<rpc::HttpFace>(server_, options_);
    asked_.push_back(std::make_unique<Asked>(method, text, std::move(headers)));
    face_->begin(*asked_.back());
    return *asked_.back();
  }
  // So many calls that further ones wait.
  void fill() {
    const std::size_t count = rpc::detail::Admission({}).beginning_max();
    for (std::size_t i = 0; i < count; ++i) ask("InSession", "before");
  }
  static std::uint64_t created_task_count() {
    return coroutine::Scheduler::current().statistics().created_count;
  }
  static void settle() { EXPECT_TRUE(coroutine::sleep_for(2ms)); }

  sim::SimulatedNetwork network_;
  RankedService ranked_;
  rpc::Server server_;
  rpc::HttpFace::Options options_ = {.door = rpc::Door::clients};
  std::vector<std::unique_ptr<Asked>> asked_;
  std::unique_ptr<rpc::HttpFace> face_;
};

TEST_F(HttpAdmissionTest, RequestsWaitWithoutATaskAndBeginByPriority) {
  fill();
  const std::uint64_t before = created_task_count();
  ask("Background", "background");
  ask("Login", "login");
  ask("InSession", "in session");
  ask("Control", "control");
  EXPECT_EQ(created_task_count(), before);
  EXPECT_EQ(server_.statistics().waiting_count, 4u);
  settle();
  ASSERT_GE(ranked_.begun.size(), 4u);
  EXPECT_EQ((std::vector(ranked_.begun.end() - 4, ranked_.begun.end())),
            (std::vector<std::string>{"control", "in session", "login", "background"}));
}

TEST_F(HttpAdmissionTest, AClientThatLeavesWhileItWaitsIsNeverServed) {
  fill();
  Asked& gone = ask("InSession", "gone");
  ask("InSession", "last");
  gone.leave();
  EXPECT_TRUE(gone.is_answered());
  EXPECT_EQ(gone.answered().status, 499u);
  EXPECT_EQ(gone.answered().headers.find("Corolane-Executed"), "no");
  settle();
  EXPECT_THAT(ranked_.begun, Not(testing::Contains("gone")));
  EXPECT_EQ(ranked_.begun.back(), "last");
}

TEST_F(HttpAdmissionTest, ARequestThatWaitsPastItsDeadlineNeverBegins) {
  ranked_.work_time = 1ms;
  fill();
  Asked& late = ask("InSession", "late", {{"Connect-Timeout-Ms", "10"}});
  EXPECT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(late.answered().status, 504u);
  EXPECT_EQ(late.answered().headers.find("Corolane-Executed"), "no");
  EXPECT_THAT(ranked_.begun, Not(testing::Contains("late")));
}

TEST_F(HttpAdmissionTest, ARefusedRequestCostsNeitherATaskNorALogin) {
  int login_count = 0;
  options_.login = [&](std::string_view, const rpc::LoginPeer&) -> Result<rpc::Principal> {
    ++login_count;
    return rpc::Principal{.id = "player"};
  };
  EXPECT_TRUE(server_.stop(Deadline::after(1s)));
  const std::uint64_t before = created_task_count();
  const Asked& refused = ask("InSession", "refused");
  EXPECT_TRUE(refused.is_answered());
  EXPECT_EQ(refused.answered().status, 503u);
  EXPECT_EQ(refused.answered().headers.find("Corolane-Executed"), "no");
  EXPECT_EQ(created_task_count(), before);
  EXPECT_EQ(login_count, 0);
}

TEST_F(HttpAdmissionTest, ALoginThatThrowsIsAnInternalError) {
  options_.login = [](std::string_view, const rpc::LoginPeer&) -> Result<rpc::Principal> {
    throw "no";
  };
  const Asked& asked = ask("InSession", "not begun");
  settle();
  EXPECT_EQ(asked.answered().status, 500u);
  EXPECT_THAT(asked.answered().body, HasSubstr("the login has thrown an exception"));
  EXPECT_TRUE(ranked_.begun.empty());
}

TEST(HttpAdmissionWithFewStacksTest, ARequestWithoutAStackIsRefused) {
  coroutine::VirtualTime time;
  coroutine::Scheduler scheduler(time, {.stacks = {.stack_count_max = 2}});
  const auto ran = scheduler.run("main", [] {
    sim::SimulatedNetwork network;
    RankedService ranked;
    rpc::Server server(network);
    ASSERT_TRUE(server.add(ranked));
    rpc::HttpFace face(server, {.door = rpc::Door::nodes});
    auto other = coroutine::spawn("other", [] { return coroutine::sleep_for(1h); });
    Asked asked("InSession", "no stack");
    static_cast<net::HttpService&>(face).begin(asked);
    EXPECT_TRUE(asked.is_answered());
    EXPECT_EQ(asked.answered().status, 429u);
    EXPECT_EQ(asked.answered().headers.find("Corolane-Executed"), "no");
    EXPECT_NE(asked.answered().headers.find("Retry-After"), "");
    EXPECT_TRUE(ranked.begun.empty());
  });
  EXPECT_TRUE(ran);
}

class FewCallsTest : public HttpAdmissionTest {
 protected:
  FewCallsTest() : HttpAdmissionTest({.calls_per_method_max = 3}) {}
};

TEST_F(FewCallsTest, AMethodHasItsBoundOverHttpToo) {
  for (int i = 0; i < 3; ++i) ask("InSession", "fine");
  const Asked& refused = ask("InSession", "too many");
  EXPECT_EQ(refused.answered().status, 429u);
  EXPECT_THAT(refused.answered().body, HasSubstr("3 calls of corolane.test.Ranked/InSession"));
  EXPECT_NE(refused.answered().headers.find("Retry-After"), "");
}

class OverloadedTest : public HttpAdmissionTest {
 protected:
  OverloadedTest() : HttpAdmissionTest({.admission = {.delay_target = 5ms, .delay_max = 20ms}}) {}
};

TEST_F(OverloadedTest, RequestsAboveTheCapacityAreRefusedAtOnce) {
  ranked_.work_time = 1ms;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 500; ++i) ask("InSession", "work");
    EXPECT_TRUE(coroutine::sleep_for(100ms));
  }
  EXPECT_TRUE(coroutine::sleep_for(1s));
  const auto is_refused = [](const auto& asked) { return asked->answered().status == 429; };
  const auto refused = std::ranges::count_if(asked_, is_refused);
  EXPECT_GT(refused, 1'000);
  EXPECT_EQ(ranked_.begun.size() + static_cast<std::size_t>(refused), asked_.size());
  EXPECT_EQ(server_.statistics().shed_counts[1], static_cast<std::uint64_t>(refused));
}

}  // namespace
}  // namespace corolane::test
