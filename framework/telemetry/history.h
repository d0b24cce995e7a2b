// SPDX-License-Identifier: MIT
// Figures of the last ten minutes by the second, and of the last two days by the minute, so that a
// page that is opened now shows what has been.
//
//   History history({{.name = "calls", .unit = "1/s"}, {.name = "memory", .unit = "bytes"}});
//   history.add(/*second=*/1'700, std::array{1'250.0F, 3.1e7F});  // Once a second.
//   const History::View view = history.view(120s, 720);
//   std::vector<float> calls(view.count);
//   history.read(0, view, calls);
//
// A sample is a float, and a gap is NaN. All memory is taken by the constructor: 13,928 bytes for
// each series, 1.8 MB at most. Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corolane::framework {

class History {
 public:
  static constexpr std::size_t second_count = 600;
  static constexpr std::size_t minute_count = 2 * 24 * 60;
  // As many as a node of 16 shards and 50 types of objects has.
  static constexpr std::size_t series_count_max = 128;
  static constexpr float gap = std::numeric_limits<float>::quiet_NaN();

  // What stands for several samples: of a rate their mean, of a latency or a state the worst.
  enum class Fold : std::uint8_t { mean, max, min };

  struct Series {
    std::string name;
    std::string_view unit;  // Base units: "s", "bytes", "1/s"; empty for a plain number.
    Fold fold = Fold::mean;
  };

  // Keeps the first series_count_max of them.
  explicit History(std::vector<Series> series);
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // Appends the samples of all series, in their order. `second` counts on a clock that is not set,
  // and rises; seconds that were left out are gaps. Never allocates.
  void add(std::int64_t second, std::span<const float> samples);

  const std::vector<Series>& series() const { return series_; }
  std::size_t memory_bytes() const;

  // Samples at equal distances. Each stands for the `step` seconds from its own second on.
  struct View {
    std::int64_t first = 0;  // The second of the first sample.
    std::int64_t step = 1;
    std::size_t count = 0;
  };
  // The last `time`, as far as it is kept: by the second up to ten minutes, beyond by as many whole
  // minutes as make at most `count_max` samples, the last of which may not have ended. Begins no
  // earlier than the first sample does.
  View view(std::chrono::seconds time, std::size_t count_max) const;
  // Writes the samples of a view, the oldest first; `samples` has room for them.
  void read(std::size_t series, const View& view, std::span<float> samples) const;

 private:
  static constexpr std::size_t kept_count = second_count + minute_count;

  // What is known of the minute that has not ended.
  struct Folded {
    float value = gap;
    std::uint32_t count = 0;
  };

  static void fold(Fold how, Folded& folded, float sample);
  static float result(Fold how, const Folded& folded);
  void end_minute();
  float second_sample(std::size_t series, std::int64_t second) const;
  float minute_sample(std::size_t series, std::int64_t minute) const;

  const std::vector<Series> series_;
  std::vector<float> samples_;  // Of each series its seconds, then its minutes, as rings.
  std::vector<Folded> this_minute_;
  std::int64_t first_ = -1;  // The first second; -1: there is none.
  std::int64_t last_ = -1;
};

}  // namespace corolane::framework
