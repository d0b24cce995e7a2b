// SPDX-License-Identifier: MIT
#include "framework/pages/detail/page.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "coroutine/base/text.h"

namespace corolane::framework::detail {

net::HttpResponse json_response(const Json& json) {
  return {.content_type = "application/json", .body = json.to_text() + "\n"};
}

net::HttpResponse unknown_format(const net::HttpRequest& request) {
  return {
      .status = 400,
      .body = "format is text or json, as in " + std::string(request.path()) + "?format=json\n"};
}

std::optional<Format> format_of(const net::HttpRequest& request) {
  const auto format = request.query("format");
  if (format == "json") return Format::json;
  if (format.empty() || format == "text") return Format::text;
  return std::nullopt;
}

net::HttpResponse bad_query(const Error& error) {
  return {.status = 400, .body = error.message() + "\n"};
}

std::string silent_shards_text(const Json& page) {
  std::string text;
  for (const Json& shard : page.at("silent_shards").elements()) {
    text.append(escaped(shard.at("text").text())).append("; what it knows is missing here\n");
  }
  return text;
}

double in_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string seconds_text(Duration duration) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3fs", in_seconds(duration));
  return text.data();
}

std::string utc_text(std::chrono::sys_time<Duration> time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::milliseconds>(time - day));
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02ld:%02ld:%02ld.%03ldZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<long>(clock.hours().count()),
                static_cast<long>(clock.minutes().count()),
                static_cast<long>(clock.seconds().count()),
                static_cast<long>(clock.subseconds().count()));
  return text.data();
}

std::string fixed_text(double value, int digits) {
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

double rounded(double value, double parts) { return std::round(value * parts) / parts; }

Json address_json(const coroutine::TaskAddress& address) {
  return address.scheduler == 0 ? Json(address.id) : Json(to_string(address));
}

Json frames_json(const std::vector<coroutine::SourceFrame>& frames) {
  Json json = Json::array();
  for (const coroutine::SourceFrame& frame : frames) {
    json.push_back({{"function", frame.function}, {"file", frame.file}, {"line", frame.line}});
  }
  return json;
}

}  // namespace corolane::framework::detail
