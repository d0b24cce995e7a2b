// SPDX-License-Identifier: MIT
#include "coroutine/inspect/folded_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace corolane::coroutine {
namespace {

using testing::IsEmpty;

SourceFrame own(const std::string& function) {
  return {.function = "game::" + function, .file = "game.cc", .line = 7};
}

SourceFrame runtime(const std::string& function) {
  return {.function = "corolane::" + function, .file = "somewhere.h", .line = 1};
}

SourceFrame of_std(const std::string& function) {
  return {.function = "std::" + function, .file = "/usr/include/c++/12/functional", .line = 1};
}

std::string folded_text(std::vector<SourceFrame> frames) {
  return to_text(folded(std::move(frames)));
}

TEST(FoldedFramesTest, RuntimeBetweenFramesOfTheProgramIsOneNote) {
  EXPECT_EQ(folded_text({own("inner"), runtime("rpc::a"), of_std("invoke"), runtime("rpc::b"),
                         own("outer")}),
            "    at game::inner (game.cc:7)\n"
            "    (3 frames of corolane)\n"
            "    at game::outer (game.cc:7)\n");
}

TEST(FoldedFramesTest, RuntimeBelowTheProgramIsOneNote) {
  EXPECT_EQ(folded_text({own("handler"), runtime("rpc::a"), runtime("framework::b")}),
            "    at game::handler (game.cc:7)\n"
            "    (2 frames of corolane)\n");
}

TEST(FoldedFramesTest, TheCalledFunctionOfTheInnermostRunStays) {
  EXPECT_EQ(folded_text({runtime("coroutine::detail::wait"), runtime("coroutine::detail::park"),
                         runtime("coroutine::Mutex::lock"), own("save")}),
            "    (2 frames of corolane)\n"
            "    at corolane::coroutine::Mutex::lock (somewhere.h:1)\n"
            "    at game::save (game.cc:7)\n");
  EXPECT_EQ(folded_text({runtime("coroutine::sleep_for"), own("nap")}),
            "    at corolane::coroutine::sleep_for (somewhere.h:1)\n"
            "    at game::nap (game.cc:7)\n");
}

TEST(FoldedFramesTest, ASingleFrameIsNoShorterAsANote) {
  EXPECT_EQ(folded_text({own("inner"), runtime("rpc::call"), own("outer")}),
            "    at game::inner (game.cc:7)\n"
            "    at corolane::rpc::call (somewhere.h:1)\n"
            "    at game::outer (game.cc:7)\n");
}

TEST(FoldedFramesTest, FramesOfTheStandardLibraryAloneStay) {
  const std::vector frames{own("inner"), of_std("sort"), of_std("sort_loop"), own("outer")};
  EXPECT_EQ(folded(frames), frames);
}

TEST(FoldedFramesTest, AStackOfTheRuntimeAloneStays) {
  const std::vector frames{runtime("coroutine::a"), runtime("net::b"), runtime("net::c"),
                           SourceFrame{.function = "uv_run", .file = {}}};
  EXPECT_EQ(folded(frames), frames);
}

TEST(FoldedFramesTest, ServicesInOurNamespaceAreThePrograms) {
  EXPECT_FALSE(is_of_corolane("corolane::services::chess::Game::move"));
  EXPECT_FALSE(is_of_corolane("my::corolane::coroutine::f"));
  EXPECT_TRUE(is_of_corolane("corolane::coroutine::sleep_for"));
}

TEST(FoldedFramesTest, RecursionIsToldOnceWithItsCount) {
  std::vector<SourceFrame> frames(312, own("dig"));
  frames.push_back(own("begin"));
  EXPECT_EQ(folded_text(frames),
            "    at game::dig (game.cc:7)\n"
            "    (the frame above 311 times more)\n"
            "    at game::begin (game.cc:7)\n");
}

TEST(FoldedFramesTest, RecursionThroughSeveralFunctionsIsToldOnce) {
  std::vector<SourceFrame> frames{own("leaf")};
  for (int i = 0; i < 5; ++i) {
    frames.push_back(own("even"));
    frames.push_back(own("odd"));
  }
  frames.push_back(own("begin"));
  EXPECT_EQ(folded_text(frames),
            "    at game::leaf (game.cc:7)\n"
            "    at game::even (game.cc:7)\n"
            "    at game::odd (game.cc:7)\n"
            "    (the 2 frames above 4 times more)\n"
            "    at game::begin (game.cc:7)\n");
}

TEST(FoldedFramesTest, TwoEqualFramesStay) {
  const std::vector frames{own("f"), own("f"), own("g")};
  EXPECT_EQ(folded(frames), frames);
}

TEST(FoldedFramesTest, AnEmptyStackStaysEmpty) { EXPECT_THAT(folded({}), IsEmpty()); }

}  // namespace
}  // namespace corolane::coroutine
