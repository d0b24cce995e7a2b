// SPDX-License-Identifier: MIT
#include "framework/telemetry/history.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "coroutine/base/check.h"

namespace corolane::framework {
namespace {

constexpr std::int64_t seconds_per_minute = 60;
constexpr auto minutes_kept = static_cast<std::int64_t>(History::minute_count);

std::vector<History::Series> bounded(std::vector<History::Series> series) {
  if (series.size() > History::series_count_max) series.resize(History::series_count_max);
  return series;
}

}  // namespace

History::History(std::vector<Series> series)
    : series_(bounded(std::move(series))),
      samples_(series_.size() * kept_count, gap),
      this_minute_(series_.size()) {}

std::size_t History::memory_bytes() const {
  return samples_.size() * sizeof(float) + this_minute_.size() * sizeof(Folded);
}

void History::fold(Fold how, Folded& folded, float sample) {
  if (std::isnan(sample)) return;
  if (folded.count++ == 0) {
    folded.value = sample;
  } else if (how == Fold::mean) {
    folded.value += sample;
  } else {
    folded.value =
        how == Fold::max ? std::max(folded.value, sample) : std::min(folded.value, sample);
  }
}

float History::result(Fold how, const Folded& folded) {
  if (how != Fold::mean || folded.count == 0) return folded.value;
  return folded.value / static_cast<float>(folded.count);
}

void History::add(std::int64_t second, std::span<const float> samples) {
  check(second > last_, "the seconds of a history rise");
  check(samples.size() >= series_.size(), "each series has a sample");
  if (first_ < 0) {
    first_ = second;
    last_ = second - 1;
  }
  // After a long time without samples all that is kept is gaps.
  last_ = std::max(last_, second - minutes_kept * seconds_per_minute);
  while (last_ < second) {
    if ((last_ + 1) / seconds_per_minute != last_ / seconds_per_minute) end_minute();
    ++last_;
    const auto place = static_cast<std::size_t>(last_) % second_count;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const float sample = last_ == second ? samples[i] : gap;
      samples_[i * kept_count + place] = sample;
      fold(series_[i].fold, this_minute_[i], sample);
    }
  }
}

void History::end_minute() {
  const auto place = static_cast<std::size_t>(last_ / seconds_per_minute) % minute_count;
  for (std::size_t i = 0; i < series_.size(); ++i) {
    samples_[i * kept_count + second_count + place] = result(series_[i].fold, this_minute_[i]);
    this_minute_[i] = {};
  }
}

History::View History::view(std::chrono::seconds time, std::size_t count_max) const {
  if (first_ < 0 || time.count() <= 0 || count_max == 0) return {};
  const auto most = static_cast<std::int64_t>(count_max);
  if (time.count() <= static_cast<std::int64_t>(second_count)) {
    const auto count = std::min<std::int64_t>({time.count(), last_ - first_ + 1, most});
    return {.first = last_ + 1 - count, .step = 1, .count = static_cast<std::size_t>(count)};
  }
  // A young history is shown minute by minute, however much is asked for.
  const std::int64_t wanted =
      std::min({(time.count() + seconds_per_minute - 1) / seconds_per_minute, minutes_kept,
                last_ / seconds_per_minute - first_ / seconds_per_minute + 1});
  // Samples begin at multiples of their step, so that they stay the same from one look to the next.
  const std::int64_t step = (wanted + most - 1) / most * seconds_per_minute;
  const std::int64_t end = last_ / step + 1;
  const auto count = std::min<std::int64_t>(
      {(wanted * seconds_per_minute + step - 1) / step, end - first_ / step, most});
  return {.first = (end - count) * step, .step = step, .count = static_cast<std::size_t>(count)};
}

float History::second_sample(std::size_t series, std::int64_t second) const {
  const bool is_kept = second >= first_ && second <= last_ &&
                       second > last_ - static_cast<std::int64_t>(second_count);
  if (!is_kept) return gap;
  return samples_[series * kept_count + static_cast<std::size_t>(second) % second_count];
}

float History::minute_sample(std::size_t series, std::int64_t minute) const {
  const std::int64_t current = last_ / seconds_per_minute;
  if (minute == current) return result(series_[series].fold, this_minute_[series]);
  const bool is_kept =
      minute >= first_ / seconds_per_minute && minute < current && minute >= current - minutes_kept;
  if (!is_kept) return gap;
  return samples_[series * kept_count + second_count +
                  static_cast<std::size_t>(minute) % minute_count];
}

void History::read(std::size_t series, const View& view, std::span<float> samples) const {
  check(series < series_.size() && samples.size() >= view.count, "a view has room for its samples");
  const Fold how = series_[series].fold;
  for (std::size_t i = 0; i < view.count; ++i) {
    const std::int64_t begin = view.first + static_cast<std::int64_t>(i) * view.step;
    if (view.step < seconds_per_minute) {
      samples[i] = second_sample(series, begin);
      continue;
    }
    Folded folded;
    const std::int64_t end = (begin + view.step) / seconds_per_minute;
    for (std::int64_t minute = begin / seconds_per_minute; minute < end; ++minute) {
      fold(how, folded, minute_sample(series, minute));
    }
    samples[i] = result(how, folded);
  }
}

}  // namespace corolane::framework
