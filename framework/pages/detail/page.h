// SPDX-License-Identifier: MIT
// Helpers for the pages of a node.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/inspect/symbols.h"
#include "coroutine/task_info.h"
#include "framework/admin/json.h"
#include "framework/node/detail/site_text.h"
#include "framework/node/node.h"
#include "net/http/http.h"

namespace corolane::framework::detail {

// Names may have any bytes: invalid UTF-8 is shown as a replacement character.
net::HttpResponse json_response(const Json& json);

net::HttpResponse unknown_format(const net::HttpRequest& request);
net::HttpResponse bad_query(const Error& error);

enum class Format : std::uint8_t { text, json };

// The requested format; nullopt when it is neither.
std::optional<Format> format_of(const net::HttpRequest& request);

// A line for each shard that the page was built without: see silent_shards.h.
std::string silent_shards_text(const Json& page);

// Answers with a page's JSON, or with text(json), as the request asks.
template <typename F>
net::HttpResponse in_format(const net::HttpRequest& request, const Json& json, F text) {
  const auto format = format_of(request);
  if (!format) return unknown_format(request);
  return *format == Format::json ? json_response(json)
                                 : net::HttpResponse{.body = silent_shards_text(json) + text(json)};
}

double in_seconds(Duration duration);
std::string seconds_text(Duration duration);                 // "1.500s".
std::string utc_text(std::chrono::sys_time<Duration> time);  // "2026-02-01T12:00:00.123Z".
// With that many digits after the point.
std::string fixed_text(double value, int digits);
// Rounded to one part in `parts`.
double rounded(double value, double parts);

// The id of a task in /tasks/: 17, or "1.17" for a shard other than the first.
Json address_json(const coroutine::TaskAddress& address);
Json frames_json(const std::vector<coroutine::SourceFrame>& frames);

}  // namespace corolane::framework::detail
