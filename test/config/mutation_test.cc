// SPDX-License-Identifier: MIT
// Loading survives any change of a file: it never crashes, and each of its messages names a line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "config/loader.h"
#include "coroutine/testing/random.h"
#include "test/config/sample_config.h"
#include "test/fixtures/mutate_text.h"

namespace corolane::config {
namespace {

using sample::NodeConfig;

constexpr std::string_view original = R"(# A node of the chess cluster.
name: north
port: 7001
drain: false
log_level: "error"
slow_after: 250ms
hosts: [a, b, "c d"]
retry_delays:
  - 10ms
  - 1.5s
peers:
  - address: 10.0.0.1:7000
    weight: 0.5
  - {address: "10.0.0.2:7000"}
backup:
  address: 'localhost:7000'
chess:
  rooms_max: 5
  clock: 3min   # Blitz.
  scratch: 1MiB
)";

constexpr std::string_view splinters[] = {
    "\n",    "\n  ",   ":",     ": ",     "- ",   "[",    "]",   "{",
    "}",     ",",      "#",     "'",      "\"",   "\\",   "&a ", "*a",
    "!t ",   "%",      "@",     "|\n",    ">",    "? ",   "---", "\n---\n",
    "...",   "\t",     "~",     "null",   "<<",   "0",    "-1",  "99999999999999999999",
    "1e999", "ms",     "\r",    "\x01",   "\xff", "\xc3", "ü",   "\xef\xbb\xbf",
    "\\x",   "\n\n\n", "peers", "chess:",
};

class Mutator {
 public:
  std::string mutate(std::string text) {
    for (std::size_t count = 1 + below(6); count > 0; --count) mutate_once(text);
    return text;
  }

 private:
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_.below(end)); }

  void mutate_once(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        text.insert(at, std::string(below(12), ' '));
        break;
      case 1:
        text.resize(at);
        break;
      default:
        test::mutate_text(random_, text, splinters);
    }
  }

  test::Random random_;
};

// Expects "node.yaml:12: message" in every line, with a line number inside the file.
void expect_places(const std::string& message, std::ptrdiff_t line_count) {
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view name = "node.yaml:";
    ASSERT_TRUE(line.starts_with(name)) << line;
    std::size_t digits = 0;
    const int number = std::stoi(line.substr(name.size()), &digits);
    EXPECT_GE(number, 1) << line;
    EXPECT_LE(number, line_count) << line;
    EXPECT_EQ(line.substr(name.size() + digits, 2), ": ") << line;
    EXPECT_GT(line.size(), name.size() + digits + 2) << line;
  }
}

TEST(MutationTest, EveryMutatedFileLoadsOrItsErrorsNameALine) {
  Mutator mutator;
  int failure_count = 0;
  for (int round = 0; round < 2'000; ++round) {
    const std::string text = mutator.mutate(std::string(original));
    SCOPED_TRACE(text);
    const auto loaded = load_text<NodeConfig>(text, "node.yaml");
    if (loaded) {
      const auto again = load_text<NodeConfig>(print(loaded->value, loaded->origins), "again.yaml");
      ASSERT_TRUE(again) << again;
      EXPECT_EQ(again->value, loaded->value);
    } else {
      ++failure_count;
      expect_places(loaded.error().message(), std::ranges::count(text, '\n') + 1);
    }
  }
  EXPECT_GT(failure_count, 500) << "the mutations have too little effect";
  EXPECT_LT(failure_count, 2'000) << "the mutations have too much effect";
}

}  // namespace
}  // namespace corolane::config
