// SPDX-License-Identifier: MIT
// /history: the figures of the last minutes or days.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/text.h"
#include "coroutine/task.h"
#include "framework/node/detail/node_history.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_seconds.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/telemetry/history.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

constexpr Duration history_time_default = 10min;
constexpr Duration history_time_max = 48h;
// More would not be seen in a chart; a page of all series then has about half a megabyte.
constexpr std::size_t sample_count_max = 720;

// Whether a series is asked for: by its name, or by the part of it before the slash.
bool is_asked_for(std::string_view series, std::string_view name) {
  return series == name || (series.starts_with(name) && series.substr(name.size())[0] == '/');
}

std::string names_of(const History& history) {
  std::string text;
  for (const History::Series& series : history.series()) {
    text.append(text.empty() ? "" : ", ").append(series.name);
  }
  return text;
}

// The numbers of the series of "calls,objects", each once; all of them for an empty text.
Result<std::vector<std::size_t>> asked_series(const History& history, std::string_view text) {
  std::vector<std::size_t> numbers;
  const auto& all = history.series();
  if (text.empty()) {
    for (std::size_t i = 0; i < all.size(); ++i) numbers.push_back(i);
    return numbers;
  }
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(std::min(name.size() + 1, text.size()));
    bool is_known = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (name.empty() || !is_asked_for(all[i].name, name)) continue;
      is_known = true;
      if (std::ranges::find(numbers, i) == numbers.end()) numbers.push_back(i);
    }
    if (is_known) continue;
    return Error(Code::invalid_argument, "series " + quote(name) + " is unknown; there are " +
                                             names_of(history) + "; as in ?series=calls,objects");
  }
  return numbers;
}

// Samples are written as they are, without a value of the JSON library for each.
void append_sample(std::string& text, float sample) {
  if (!std::isfinite(sample)) {
    text.append("null");
    return;
  }
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), sample,
                                 std::chars_format::general, 5);
  text.append(digits.data(), end.ptr);
}

// The time of day at which the seconds begin to count, as seconds since 1970.
std::string start_text(const Node& node) {
  const auto start = time_of_day() - (now() - node.created_at());
  return fixed_text(in_seconds(start.time_since_epoch()), 3);
}

std::string history_json(const Node& node, const History::View& view,
                         const std::vector<std::size_t>& numbers) {
  const History& history = node.history()->history();
  std::string text = "{\"start\": " + start_text(node) +
                     ", \"first\": " + std::to_string(view.first) +
                     ", \"step\": " + std::to_string(view.step) +
                     ", \"count\": " + std::to_string(view.count) + ", \"series\": [";
  std::vector<float> samples(view.count);
  for (const std::size_t number : numbers) {
    const History::Series& series = history.series()[number];
    history.read(number, view, samples);
    text.append(number == numbers.front() ? "\n" : ",\n");
    text.append("{\"name\": ").append(quoted_ascii(series.name));
    text.append(", \"unit\": ").append(quoted_ascii(series.unit)).append(", \"samples\": [");
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (i > 0) text.push_back(',');
      append_sample(text, samples[i]);
    }
    text.append("]}");
    static_cast<void>(coroutine::yield());  // The loop is held for one series.
  }
  return text + "]}\n";
}

std::string sample_text(float sample) {
  if (!std::isfinite(sample)) return "-";
  if (std::abs(sample) >= 1'000) return fixed_text(sample, 0);
  std::string text;
  append_sample(text, sample);
  return text;
}

std::string history_text(const History& history, const History::View& view,
                         const std::vector<std::size_t>& numbers) {
  std::vector<std::vector<std::string>> lines = {
      {"SERIES", "UNIT", "LAST", "LEAST", "MEAN", "MOST"}};
  std::vector<float> samples(view.count);
  for (const std::size_t number : numbers) {
    history.read(number, view, samples);
    float least = History::gap;
    float most = History::gap;
    double sum = 0;
    std::size_t count = 0;
    for (const float sample : samples) {
      if (std::isnan(sample)) continue;
      least = std::fmin(least, sample);
      most = std::fmax(most, sample);
      sum += sample;
      ++count;
    }
    const auto mean =
        count == 0 ? History::gap : static_cast<float>(sum / static_cast<double>(count));
    const History::Series& series = history.series()[number];
    lines.push_back({series.name, series.unit.empty() ? "-" : std::string(series.unit),
                     sample_text(samples.empty() ? History::gap : samples.back()),
                     sample_text(least), sample_text(mean), sample_text(most)});
  }
  return aligned_text(lines) + std::to_string(view.count) + " samples, one for " +
         std::to_string(view.step) + " s; ?seconds= up to " +
         std::to_string(
             std::chrono::duration_cast<std::chrono::seconds>(history_time_max).count()) +
         ", ?series=calls,objects, ?format=json\n";
}

}  // namespace

Result<net::HttpResponse> history_page(Node& node, const net::HttpRequest& request) {
  const auto format = format_of(request);
  if (!format) return unknown_format(request);
  if (node.history() == nullptr) {
    return net::HttpResponse{.status = 404,
                             .body =
                                 "this node keeps no history: it is recorded, or replays what was "
                                 "recorded\n"};
  }
  const auto time = page_seconds(request, history_time_default, history_time_max);
  if (!time) return bad_query(time.error());
  const History& history = node.history()->history();
  const auto numbers = asked_series(history, request.query("series"));
  if (!numbers) return bad_query(numbers.error());
  const auto view = history.view(std::chrono::ceil<std::chrono::seconds>(*time), sample_count_max);
  if (*format == Format::text) {
    return net::HttpResponse{.body = history_text(history, view, *numbers)};
  }
  return net::HttpResponse{.content_type = "application/json",
                           .body = history_json(node, view, *numbers)};
}

}  // namespace corolane::framework::detail
