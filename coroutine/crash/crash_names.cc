// SPDX-License-Identifier: MIT
#include "coroutine/crash/crash_names.h"

#include <link.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "coroutine/crash/crash_scene.h"
#include "coroutine/inspect/folded_frames.h"
#include "coroutine/inspect/symbols.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine {
namespace {

// The load addresses of the program and its libraries in this process.
using Places = std::unordered_map<std::string, std::uintptr_t>;

Places loaded_places() {
  Places places;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        const std::string_view path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
        const std::string name(path.empty() ? "program" : path.substr(path.rfind('/') + 1));
        static_cast<Places*>(data)->emplace(name, object->dlpi_addr);
        return 0;
      },
      &places);
  return places;
}

// The address of "libc.so.6+0x2a40" in this process; nothing when no library has that name.
std::optional<std::uintptr_t> place_here(std::string_view text, const Places& places) {
  constexpr std::string_view between = "+0x";
  const std::size_t plus = text.rfind(between);
  if (plus == std::string_view::npos) return {};
  const auto place = places.find(std::string(text.substr(0, plus)));
  const std::string_view digits = text.substr(plus + between.size());
  std::uintptr_t offset = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), offset, 16);
  if (place == places.end() || read.ec != std::errc()) return {};
  return place->second + offset;
}

std::vector<SourceFrame> frames_of(std::string_view addresses, const Places& places,
                                   Symbols& symbols) {
  StackTrace trace;
  bool is_crash = false;
  while (!addresses.empty()) {
    const std::size_t end = addresses.find(' ');
    std::string_view word = addresses.substr(0, end);
    addresses.remove_prefix(end == std::string_view::npos ? addresses.size() : end + 1);
    if (word.empty()) continue;
    const bool is_exact = word.starts_with('=');
    if (is_exact) word.remove_prefix(1);
    is_crash = is_crash || is_exact;
    // Symbols looks at the code before an address: the call.
    const auto here = place_here(word, places);
    trace.return_addresses.push_back(here.value_or(0) + (is_exact ? 1 : 0));
  }
  if (!is_crash) return symbols.frames(trace);
  // One by one: in a crashed stack the scheduler's own frames are kept.
  std::vector<SourceFrame> frames;
  for (const std::uintptr_t address : trace.return_addresses) {
    auto some = symbols.frames({.return_addresses = {address}});
    frames.insert(frames.end(), std::move_iterator(some.begin()), std::move_iterator(some.end()));
  }
  return frames;
}

}  // namespace

std::string name_stacks(std::string_view report) {
  const Places places = loaded_places();
  Symbols symbols;
  std::string named;
  while (!report.empty()) {
    const std::size_t end = report.find('\n');
    const std::string_view line = report.substr(0, end);
    report.remove_prefix(end == std::string_view::npos ? report.size() : end + 1);
    if (line.starts_with(CrashScene::addresses_begin)) {
      const auto addresses = line.substr(CrashScene::addresses_begin.size());
      named.append(to_text(folded(frames_of(addresses, places, symbols))));
    }
    named.append(line).append("\n");
  }
  return named;
}

}  // namespace corolane::coroutine
