// SPDX-License-Identifier: MIT
// A running node reloads ten thousand damaged files: it never crashes, takes over all live keys or
// none, and each error names its place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/keys.h"
#include "config/loader.h"
#include "coroutine/testing/random.h"
#include "coroutine/testing/sanitizers.h"
#include "test/fixtures/mutate_text.h"
#include "test/framework/fort.h"

namespace corolane::framework {
namespace {

using test::Fort;

constexpr std::string_view fort_file = R"(# A fort.
node:
  name: fort
  log_level: error
  stop_time_max: 5s
  clients: {connections_max: 100, calls_per_connection_max: 10, request_size_max: 64KiB}
  call_log:
    errors: true
    slow_after: 250ms
    one_in: 0
  tracing: {sample_ratio: 0.5}
  objects:
    mailbox_max: 64
    idle_time_max: 5min
    memory_max: 64MiB
  store: {kind: memory, redis: {user: "mellon"}}
  cluster:
    roles: [wall, gate]
fort:
  guards: 4
  guards_max: 9
  watch: 1.5h
  gates: [north, "south gate"]
  password: 'friend'
)";

constexpr std::string_view splinters[] = {
    "\n",   "\n  ", ":",       ": ",    "- ",  "[",     "]",    "{",    "}",
    ",",    "#",    "'",       "\"",    "\\",  "&a ",   "*a",   "!t ",  "%",
    "|\n",  "? ",   "\n---\n", "\t",    "~",   "null",  "0",    "-1",   "1e99",
    "ms",   "\r",   "\x01",    "\xff",  "ü",   "fort:", "7",    "10s",  "debug",
    "true", "2KiB", "guards",  "node:", "[a]", "100",   "info", "5min", "0.25"};

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (std::size_t count = 1 + below(3); count > 0; --count) mutate_once(text);
    return text;
  }

 private:
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_.below(end)); }

  // A third of the mutations damage the text, the others mostly keep a configuration.
  void mutate_once(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t kind = below(12);
    if (kind < 4) {
      test::mutate_text(random_, text, splinters);
    } else if (kind == 4) {
      mutate_line(text, at);
    } else if (kind < 7) {
      mutate_value(text, at);
    } else {
      mutate_digit(text, at);
    }
  }

  // Deletes or duplicates a whole line.
  void mutate_line(std::string& text, std::size_t at) {
    const std::size_t begin = text.rfind('\n', at) + 1;
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1);
    if (begin > end) return;
    const std::string line = text.substr(begin, end + 1 - begin);
    if (random_.one_in(2)) {
      text.erase(begin, line.size());
    } else {
      text.insert(begin, line);
    }
  }

  // Replaces the value after the next colon.
  void mutate_value(std::string& text, std::size_t at) {
    const std::size_t colon = text.find(": ", at);
    if (colon == std::string::npos) return;
    const std::size_t end = text.find_first_of(",}\n", colon);
    if (end == std::string::npos) return;
    text.replace(colon + 2, end - colon - 2, splinters[below(std::size(splinters))]);
  }

  // Replaces a digit: the result usually is a number, and sometimes within its limits.
  void mutate_digit(std::string& text, std::size_t at) {
    const std::size_t digit = text.find_first_of("0123456789", at);
    if (digit != std::string::npos) text[digit] = static_cast<char>('0' + below(10));
  }

  test::Random random_;
};

// Expects "fort.yaml:12: something" in every line, with a line number of the file. An error of a
// command-line setting for which the file has no place begins with the setting: "--set a.b: "a" ...
// from fort.yaml:16".
void expect_places(const std::string& message, std::ptrdiff_t line_count) {
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view name = "fort.yaml:";
    const std::size_t at = line.starts_with("--set ") ? line.find(name) : 0;
    ASSERT_TRUE(at != std::string::npos && line.substr(at).starts_with(name)) << line;
    const int number = std::stoi(line.substr(at + name.size()));
    EXPECT_GE(number, 1) << line;
    EXPECT_LE(number, line_count) << line;
  }
}

// All values in effect, as one text: those of the program, of the node and of its services.
std::string in_effect(Fort& fort) {
  std::string text;
  for (const config::Key& key : fort.program().keys()) text += key.path + "=" + key.value + "\n";
  return text + config::print(fort.node().config(), {}, config::Secrets::shown) +
         config::print(fort.seen(), {}, config::Secrets::shown);
}

TEST(ReloadMutationTest, EveryMutatedFileIsTakenOverWholeOrNotAtAll) {
  const std::uint64_t seed_count = test::under_slow_watch() ? 1'000 : 10'000;
  Fort fort(fort_file);
  std::uint64_t reloaded_count = 0;
  std::uint64_t changed_count = 0;
  std::string before = in_effect(fort);
  for (std::uint64_t seed = 1; seed <= seed_count; ++seed) {
    const std::string text = Mutator(seed).mutate(std::string(fort_file));
    SCOPED_TRACE("seed " + std::to_string(seed) + ":\n" + text);
    fort.write(text);
    const auto changes = fort.reload();
    std::string after = in_effect(fort);
    if (!changes) {
      ASSERT_EQ(after, before);
      expect_places(fort.without_folder(changes.error().message()),
                    std::ranges::count(text, '\n') + 1);
    } else {
      ++reloaded_count;
      // Live keys now have the values of the file; reloading it again changes nothing.
      const auto again = fort.reload();
      ASSERT_TRUE(again) << again;
      for (const config::Change& change : *again) EXPECT_FALSE(change.is_live) << change.path;
      EXPECT_EQ(in_effect(fort), after);
      bool has_live_change = false;
      for (const config::Change& change : *changes) has_live_change |= change.is_live;
      EXPECT_EQ(has_live_change, after != before);
      changed_count += has_live_change ? 1 : 0;
    }
    if (HasFailure()) return;
    before = std::move(after);
  }
  EXPECT_GT(reloaded_count, seed_count / 10) << "the mutations do too much";
  EXPECT_LT(reloaded_count, seed_count * 9 / 10) << "the mutations do too little";
  EXPECT_GT(changed_count, seed_count / 50) << "nothing that is live is hit";
}

}  // namespace
}  // namespace corolane::framework
