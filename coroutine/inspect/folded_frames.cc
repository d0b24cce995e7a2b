// SPDX-License-Identifier: MIT
#include "coroutine/inspect/folded_frames.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <utility>

namespace corolane::coroutine {
namespace {

constexpr std::size_t group_size_max = 4;

bool is_of_standard_library(const SourceFrame& frame) {
  return frame.function.starts_with("std::") || frame.function.starts_with("__gnu_cxx::");
}

SourceFrame note(std::string text) {
  return {.function = std::move(text), .file = {}, .line = 0, .is_note = true};
}

// How often the first `size` frames stand one behind the other.
std::size_t repetitions(std::span<const SourceFrame> frames, std::size_t size) {
  std::size_t count = 1;
  const auto first = frames.first(size);
  while (frames.size() >= (count + 1) * size &&
         std::ranges::equal(frames.subspan(count * size, size), first)) {
    ++count;
  }
  return count;
}

std::vector<SourceFrame> without_repetitions(std::vector<SourceFrame> frames) {
  std::vector<SourceFrame> kept;
  const std::span all(frames);
  for (std::size_t at = 0; at < all.size();) {
    std::size_t size = 1;
    std::size_t count = 1;
    for (; size <= std::min(group_size_max, all.size() - at); ++size) {
      count = repetitions(all.subspan(at), size);
      // A frame that stands there twice is shorter than a note about it.
      if (count * size >= size + 2) break;
      count = 1;
    }
    if (count == 1) size = 1;
    std::ranges::move(all.subspan(at, size), std::back_inserter(kept));
    at += count * size;
    if (count == 1) continue;
    const std::string which =
        size == 1 ? "the frame above " : "the " + std::to_string(size) + " frames above ";
    kept.push_back(
        note(which + std::to_string(count - 1) + (count == 2 ? " time more" : " times more")));
  }
  return kept;
}

// The end of the frames from `at` on that belong together: of corolane, and of the standard library
// behind or between them.
std::size_t end_of_run(const std::vector<SourceFrame>& frames, std::size_t at) {
  std::size_t end = at;
  for (std::size_t i = at; i < frames.size(); ++i) {
    if (is_of_corolane(frames[i].function)) {
      end = i + 1;
    } else if (!is_of_standard_library(frames[i])) {
      break;
    }
  }
  return end;
}

std::vector<SourceFrame> without_runs(std::vector<SourceFrame> frames) {
  std::vector<SourceFrame> kept;
  const auto keep = [&](std::size_t i) { kept.push_back(std::move(frames[i])); };
  for (std::size_t at = 0; at < frames.size();) {
    const std::size_t end = end_of_run(frames, at);
    // The program calls the last one of the innermost run.
    const std::size_t note_end = at == 0 && end > 0 && end < frames.size() ? end - 1 : end;
    const std::size_t size = note_end - at;
    if (note_end > at && size >= 2) {
      kept.push_back(note(std::to_string(size) + " frames of corolane"));
    } else {
      for (std::size_t i = at; i < note_end; ++i) keep(i);
    }
    for (std::size_t i = note_end; i < std::max(end, at + 1); ++i) keep(i);
    at = std::max(end, at + 1);
  }
  return kept;
}

}  // namespace

bool is_of_corolane(std::string_view function) {
  constexpr std::string_view root = "corolane::";
  if (!function.starts_with(root)) return false;
  function.remove_prefix(root.size());
  const std::string_view first = function.substr(0, function.find_first_of(":<(["));
  const bool is_class = first >= "A" && first < "[";  // It begins with a capital letter.
  const bool is_namespace = !is_class && function.substr(first.size()).starts_with("::");
  constexpr std::array<std::string_view, 6> rooms = {"coroutine", "net",    "rpc",
                                                     "framework", "config", "detail"};
  return !is_namespace || std::ranges::find(rooms, first) != rooms.end();
}

std::vector<SourceFrame> folded(std::vector<SourceFrame> frames) {
  const bool has_own = std::ranges::any_of(frames, [](const SourceFrame& frame) {
    return !is_of_corolane(frame.function) && !is_of_standard_library(frame) && !frame.file.empty();
  });
  if (has_own) frames = without_runs(std::move(frames));
  return without_repetitions(std::move(frames));
}

}  // namespace corolane::coroutine
