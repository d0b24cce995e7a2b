// SPDX-License-Identifier: MIT
// Calls that are sent by a schedule, in virtual time.
#include "tools/corolane/bench/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "net/testing/network.h"
#include "rpc/reflection/reflection.h"
#include "rpc/server/server.h"
#include "test/tools/corolane/echo_service.h"

namespace corolane::tools::cli::bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Records the texts and objects of its calls, and may pause in each.
class NotingWall : public cli_test::TestWall {
 public:
  Result<cli_test::ShoutReply> shout(const cli_test::SayRequest& request,
                                     rpc::Context& context) override {
    texts.insert(request.text());
    walls.insert(std::string(context.object()->id));
    if (auto slept = coroutine::sleep_for(pause); !slept) return slept.error();
    return TestWall::shout(request, context);
  }

  Duration pause{};
  std::set<std::string> texts;
  std::set<std::string> walls;
};

class LoadTest : public testing::Test {
 protected:
  LoadTest() {
    EXPECT_TRUE(server_.add(echo_));
    EXPECT_TRUE(server_.add(wall_));
    EXPECT_TRUE(server_.add(reflection_.emplace(server_)));
    EXPECT_TRUE(server_.listen({"10.0.0.1", 8460}, {.door = rpc::Door::nodes}));
  }

  static Load load_of(const std::string& method, const std::string& request = "{}") {
    return {.peer = {"10.0.0.1", 8460},
            .method = method,
            .request = *Pattern::parse(request),
            .rate = 100,
            .duration = 1s};
  }

  std::expected<Ran, Failure> run(const Load& load) {
    return run_load(network_, load, stops_, tally_, [this](const Progress& progress) {
      seconds_told_.push_back(progress.seconds);
      if (progress.seconds >= stops_after_) stops_ = true;
    });
  }

  sim::SimulatedNetwork network_;
  cli_test::EchoService echo_;
  NotingWall wall_;
  std::optional<rpc::ReflectionService> reflection_;
  rpc::Server server_{network_};
  std::atomic<bool> stops_{false};
  double stops_after_ = 1e9;
  std::vector<double> seconds_told_;
  Tally tally_;
};

TEST_F(LoadTest, TheRateSetsTheNumberOfCalls) {
  const auto ran = run(load_of("Echo/Say", R"({"text": "hello"})"));

  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->method, "corolane.cli_test.Echo/Say");
  EXPECT_EQ(tally_.calls(), 100u);
  EXPECT_EQ(tally_.errors(), 0u);
}

TEST_F(LoadTest, ASlowServerReceivesAsManyCallsAsAFastOne) {
  wall_.pause = 500ms;
  Load load = load_of("Wall/Shout");
  load.object = *Pattern::parse("north");

  const auto ran = run(load);

  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(tally_.calls(), 100u);
  EXPECT_LT(ran->seconds, 1.6);  // The last call was sent at 0.99 s.
  EXPECT_GE(tally_.latency_us().quantile(0.5), 500'000u);
  EXPECT_LT(tally_.latency_us().max(), 520'000u);
}

TEST_F(LoadTest, ErrorsAreCountedByCode) {
  const auto ran = run(load_of("Echo/Find"));

  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(tally_.errors(), 100u);
  EXPECT_EQ(tally_.errors_of(Code::not_found), 100u);
  EXPECT_THAT(report_text(*ran, tally_), HasSubstr("\nerrors     100  not_found 100\n"));
}

TEST_F(LoadTest, ATimeoutOfACallIsAnErrorWithItsLatency) {
  Load load = load_of("Echo/Wait");
  load.timeout = 50ms;

  ASSERT_TRUE(run(load));

  EXPECT_EQ(tally_.errors_of(Code::deadline_exceeded), 100u);
  EXPECT_GE(tally_.latency_us().quantile(0.01), 46'000u);
}

TEST_F(LoadTest, EachCallHasItsNumber) {
  Load load = load_of("Wall/Shout", R"({"text": "number {i}"})");
  load.object = *Pattern::parse("wall {i%3}");
  load.connections = 4;

  ASSERT_TRUE(run(load));

  EXPECT_EQ(wall_.texts.size(), 100u);
  EXPECT_EQ(wall_.walls, (std::set<std::string>{"wall 0", "wall 1", "wall 2"}));
}

TEST_F(LoadTest, ProgressIsReportedEachSecond) {
  Load load = load_of("Echo/Say");
  load.duration = 3500ms;

  ASSERT_TRUE(run(load));

  EXPECT_EQ(seconds_told_.size(), 3u);
}

TEST_F(LoadTest, AStoppedLoadReportsWhatItMeasured) {
  Load load = load_of("Echo/Wait");
  load.timeout = 60s;
  load.duration = 60s;
  stops_after_ = 2;

  const auto ran = run(load);

  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(tally_.calls(), 0u);
  EXPECT_NEAR(static_cast<double>(ran->unanswered), 200, 2);
  EXPECT_LT(ran->seconds, 3.2);
}

TEST_F(LoadTest, ARequestThatDoesNotFitIsMisuse) {
  const auto wrong_field = run(load_of("Echo/Say", R"({"txt": 1})"));
  ASSERT_FALSE(wrong_field);
  EXPECT_EQ(wrong_field.error().kind, Failure::Kind::misused);
  EXPECT_THAT(wrong_field.error().message, HasSubstr("\n  text: string"));

  const auto no_object = run(load_of("Wall/Shout"));
  ASSERT_FALSE(no_object);
  EXPECT_THAT(no_object.error().message, HasSubstr("--object ID"));

  const auto stream = run(load_of("Echo/Repeat"));
  ASSERT_FALSE(stream);
  EXPECT_THAT(stream.error().message, HasSubstr("is a stream"));
}

TEST(TallyTest, ALatencyCountsFromTheScheduledTimeOfTheCall) {
  Tally tally;
  const TimePoint due{};

  tally.count(due, due + 30ms, due + 31ms, {});

  EXPECT_EQ(tally.latency_us().max(), 31'000u);
  EXPECT_EQ(tally.late_us().max(), 30'000u);
}

TEST(TallyTest, TheReportHasABarForEachPowerOfTwo) {
  Tally tally;
  for (int i = 0; i < 20; ++i) tally.count({}, {}, TimePoint{} + 3us, {});
  tally.count({}, {}, TimePoint{} + 9us, {});

  const std::string text = report_text({.method = "Echo/Say", .rate = 100, .seconds = 1}, tally);

  EXPECT_THAT(text, HasSubstr("calls      21 in 1.0s, 21/s\n"));
  EXPECT_THAT(text, HasSubstr("  below    4.00 us  ######################################## 20\n"
                              "  below    8.00 us  0\n"
                              "  below    16.0 us  ## 1\n"));
}

TEST(TallyTest, TheJsonReportHasTheSameFigures) {
  Tally tally;
  tally.count({}, {}, TimePoint{} + 3us, Error(Code::not_found, "x"));
  tally.count_unsent();

  const auto json = nlohmann::json::parse(
      report_json({.method = "Echo/Say", .rate = 100, .seconds = 1, .unanswered = 2}, tally));

  EXPECT_EQ(json["calls"], 1);
  EXPECT_EQ(json["errors"]["not_found"], 1);
  EXPECT_EQ(json["unsent"], 1);
  EXPECT_EQ(json["unanswered"], 2);
  EXPECT_EQ(json["latency_us"]["p99.9"], 3);
}

}  // namespace
}  // namespace corolane::tools::cli::bench
