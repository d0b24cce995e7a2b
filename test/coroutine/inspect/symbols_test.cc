// SPDX-License-Identifier: MIT
#include "coroutine/inspect/symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <source_location>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/task.h"
#include "coroutine/testing/sanitizers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::uint_least32_t nap_line = std::source_location::current().line() + 3;
// Keeps its frame: the call is not a tail call.
[[gnu::noinline]] void nap() {
  EXPECT_TRUE(sleep_for(1s));
  asm volatile("");
}

[[gnu::always_inline]] inline void inlined_nap() {
  nap();
  asm volatile("");
}

template <int times>
struct Napper {
  void operator()() const {
    for (int i = 0; i < times; ++i) nap();
  }
};

// The frames of a task that has just suspended in `body`.
template <typename F>
std::vector<SourceFrame> frames_of_task(F body) {
  auto task = spawn("task", body);
  EXPECT_TRUE(yield());
  const auto trace = Scheduler::current().tasks({.traces = true}).back().trace;
  EXPECT_TRUE(task.join(Deadline::never()));
  Symbols symbols;
  return symbols.frames(trace);
}

std::vector<std::string> functions(const std::vector<SourceFrame>& frames) {
  std::vector<std::string> names;
  for (const SourceFrame& frame : frames) names.push_back(frame.function);
  return names;
}

TEST(SymbolsTest, NamesFunctionsFromThePublicSuspendingOneToTheSpawnedOne) {
  const auto frames = frames_of_task([] { nap(); });
  ASSERT_THAT(functions(frames), SizeIs(testing::Ge(3u)));
  EXPECT_THAT(frames.front().function, StartsWith("corolane::coroutine::sleep_"));
  EXPECT_THAT(functions(frames), Contains(EndsWith("nap")).Times(1));
  if (test::under_sanitizer) return;  // Built with -g1, which contains less.
  EXPECT_THAT(functions(frames), Contains("corolane::coroutine::(anonymous namespace)::nap"));
  EXPECT_THAT(frames.back().function, EndsWith("::<lambda>::operator()"));
}

TEST(SymbolsTest, BeginsWithThePublicFunctionForMutexesToo) {
  Mutex mutex;
  const std::scoped_lock held(mutex);
  const auto frames = frames_of_task([&] { static_cast<void>(mutex.try_lock_for(1s)); });
  ASSERT_FALSE(frames.empty());
  EXPECT_THAT(frames.front().function, StartsWith("corolane::coroutine::Mutex::try_lock_"));
}

TEST(SymbolsTest, NamesFilesFromTheRootAndLines) {
  for (const SourceFrame& frame : frames_of_task([] { nap(); })) {
    if (!frame.function.ends_with("nap")) continue;
    EXPECT_EQ(frame.file, "test/coroutine/inspect/symbols_test.cc");
    EXPECT_EQ(frame.line, nap_line);
  }
}

TEST(SymbolsTest, NamesInlinedFunctionsToo) {
  const auto names = functions(frames_of_task([] { inlined_nap(); }));
  EXPECT_THAT(names, Contains(EndsWith("inlined_nap")));
}

TEST(SymbolsTest, NamesFunctionsOfLibraries) {
  const auto names = functions(frames_of_task([] {
    std::array numbers{2, 1};
    std::qsort(numbers.data(), numbers.size(), sizeof(int), [](const void*, const void*) {
      nap();
      return 0;
    });
  }));
  EXPECT_THAT(names, Contains(HasSubstr("qsort")));
}

TEST(SymbolsTest, NamesMembersOfTemplates) {
  if (test::under_sanitizer) GTEST_SKIP() << "built with -g1, which omits local names";
  EXPECT_THAT(functions(frames_of_task(Napper<3>{})), Contains(EndsWith("Napper<3>::operator()")));
}

struct Outer {
  struct Inner {
    [[gnu::noinline]] static void nap_in_it() {
      nap();
      asm volatile("");
    }
  };
};

TEST(SymbolsTest, NamesMembersOfNestedAndOfLocalClasses) {
  if (test::under_sanitizer) return;  // Built with -g1, which contains less.
  struct Local {
    [[gnu::noinline]] static void nap_here() {
      Outer::Inner::nap_in_it();
      asm volatile("");
    }
  };
  EXPECT_THAT(functions(frames_of_task([] { Local::nap_here(); })),
              IsSupersetOf({EndsWith("(anonymous namespace)::Outer::Inner::nap_in_it"),
                            EndsWith("Classes_Test::TestBody::Local::nap_here")}));
}

TEST(SymbolsTest, AnUnknownAddressIsPrintedAsANumber) {
  Symbols symbols;
  EXPECT_THAT(symbols.frames({.return_addresses = {0x1234}}),
              ElementsAre(SourceFrame{.function = "0x1234", .file = {}}));
  EXPECT_THAT(symbols.frames({}), IsEmpty());
}

// The C library calls the comparison from a function that it does not export.
TEST(SymbolsTest, AFrameOfALibraryWithoutASymbolNamesTheLibrary) {
  const auto names = functions(frames_of_task([] {
    std::array numbers{2, 1};
    std::qsort(numbers.data(), numbers.size(), sizeof(int), [](const void*, const void*) {
      nap();
      return 0;
    });
  }));
  EXPECT_THAT(names, Contains(HasSubstr("nap")));
  EXPECT_THAT(names, Each(Not(StartsWith("0x"))));
}

TEST(SymbolsTest, TextHasOneLineForEachFrame) {
  EXPECT_EQ(to_text(std::vector<SourceFrame>{{.function = "inner", .file = "a/b.cc", .line = 7},
                                             {.function = "outer", .file = {}}}),
            "    at inner (a/b.cc:7)\n    at outer\n");
}

}  // namespace
}  // namespace corolane::coroutine
