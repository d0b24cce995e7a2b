// SPDX-License-Identifier: MIT
#include "coroutine/inspect/folded_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace corolane::coroutine {
namespace {

using testing::IsEmpty;

SourceFrame of_program(const std::string& function) {
  return {.function = "game::" + function, .file = "game.cc", .line = 7};
}

SourceFrame of_runtime(const std::string& function) {
  return {.function = "corolane::" + function, .file = "somewhere.h", .line = 1};
}

SourceFrame of_std(const std::string& function) {
  return {.function = "std::" + function, .file = "/usr/include/c++/12/functional", .line = 1};
}

std::string folded_text(std::vector<SourceFrame> frames) {
  return to_text(folded(std::move(frames)));
}

TEST(FoldedFramesTest, RuntimeBetweenFramesOfTheProgramIsOneNote) {
  EXPECT_EQ(folded_text({of_program("inner"), of_runtime("rpc::a"), of_std("invoke"),
                         of_runtime("rpc::b"), of_program("outer")}),
            "    at game::inner (game.cc:7)\n"
            "    (3 frames of corolane)\n"
            "    at game::outer (game.cc:7)\n");
}

TEST(FoldedFramesTest, RuntimeBelowTheProgramIsOneNote) {
  EXPECT_EQ(folded_text({of_program("handler"), of_runtime("rpc::a"), of_runtime("framework::b")}),
            "    at game::handler (game.cc:7)\n"
            "    (2 frames of corolane)\n");
}

TEST(FoldedFramesTest, TheCalledFunctionOfTheInnermostRunStays) {
  EXPECT_EQ(
      folded_text({of_runtime("coroutine::detail::wait"), of_runtime("coroutine::detail::park"),
                   of_runtime("coroutine::Mutex::lock"), of_program("save")}),
      "    (2 frames of corolane)\n"
      "    at corolane::coroutine::Mutex::lock (somewhere.h:1)\n"
      "    at game::save (game.cc:7)\n");
  EXPECT_EQ(folded_text({of_runtime("coroutine::sleep_for"), of_program("nap")}),
            "    at corolane::coroutine::sleep_for (somewhere.h:1)\n"
            "    at game::nap (game.cc:7)\n");
}

TEST(FoldedFramesTest, ASingleFrameIsNoShorterAsANote) {
  EXPECT_EQ(folded_text({of_program("inner"), of_runtime("rpc::call"), of_program("outer")}),
            "    at game::inner (game.cc:7)\n"
            "    at corolane::rpc::call (somewhere.h:1)\n"
            "    at game::outer (game.cc:7)\n");
}

TEST(FoldedFramesTest, FramesOfTheStandardLibraryAloneStay) {
  const std::vector frames{of_program("inner"), of_std("sort"), of_std("sort_loop"),
                           of_program("outer")};
  EXPECT_EQ(folded(frames), frames);
}

TEST(FoldedFramesTest, AStackOfTheRuntimeAloneStays) {
  const std::vector frames{of_runtime("coroutine::a"), of_runtime("net::b"), of_runtime("net::c"),
                           SourceFrame{.function = "uv_run", .file = {}}};
  EXPECT_EQ(folded(frames), frames);
}

TEST(FoldedFramesTest, ServicesInOurNamespaceAreThePrograms) {
  EXPECT_FALSE(is_of_corolane("corolane::services::chess::Game::move"));
  EXPECT_FALSE(is_of_corolane("my::corolane::coroutine::f"));
  EXPECT_TRUE(is_of_corolane("corolane::coroutine::sleep_for"));
}

TEST(FoldedFramesTest, FunctionsAndClassesDirectlyInOurNamespaceAreTheRuntimes) {
  for (const char* function :
       {"corolane::now", "corolane::now()", "corolane::quote[abi:cxx11]",
        "corolane::escaped(std::basic_string_view<char>)", "corolane::check<game::Room>",
        "corolane::Deadline::has_passed", "corolane::Result<game::Room>::value",
        "corolane::SplitMix64::next", "corolane::(anonymous namespace)::read"}) {
    EXPECT_TRUE(is_of_corolane(function)) << function;
  }
}

TEST(FoldedFramesTest, RecursionIsToldOnceWithItsCount) {
  std::vector<SourceFrame> frames(312, of_program("dig"));
  frames.push_back(of_program("begin"));
  EXPECT_EQ(folded_text(frames),
            "    at game::dig (game.cc:7)\n"
            "    (the frame above 311 times more)\n"
            "    at game::begin (game.cc:7)\n");
}

TEST(FoldedFramesTest, RecursionThroughSeveralFunctionsIsToldOnce) {
  std::vector<SourceFrame> frames{of_program("leaf")};
  for (int i = 0; i < 5; ++i) {
    frames.push_back(of_program("even"));
    frames.push_back(of_program("odd"));
  }
  frames.push_back(of_program("begin"));
  EXPECT_EQ(folded_text(frames),
            "    at game::leaf (game.cc:7)\n"
            "    at game::even (game.cc:7)\n"
            "    at game::odd (game.cc:7)\n"
            "    (the 2 frames above 4 times more)\n"
            "    at game::begin (game.cc:7)\n");
}

TEST(FoldedFramesTest, TwoEqualFramesStay) {
  const std::vector frames{of_program("f"), of_program("f"), of_program("g")};
  EXPECT_EQ(folded(frames), frames);
}

TEST(FoldedFramesTest, AnEmptyStackStaysEmpty) { EXPECT_THAT(folded({}), IsEmpty()); }

}  // namespace
}  // namespace corolane::coroutine
