// SPDX-License-Identifier: MIT
// /log: the last lines of the log, and a temporary level.
#include <optional>
#include <string>
#include <utility>

#include "config/units.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/telemetry/detail/log_loan.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view example = ", as in POST /log?level=debug&for=10m";

Result<LogLevel> level_of(std::string_view text) {
  for (const auto& choice : choices(LogLevel())) {
    if (choice.name == text) return choice.value;
  }
  return Error(Code::invalid_argument,
               "level is debug, info, warning or error" + std::string(example));
}

Result<Duration> time_of(std::string_view text) {
  if (text.empty()) return LogLoan::time_default;
  // Accepts 10m for 10min.
  auto time = config::parse_duration(std::string(text) + (text.ends_with('m') ? "in" : ""));
  if (time && *time >= 1s && *time <= LogLoan::time_max) return time;
  return Error(Code::invalid_argument, "for is a time from 1s to 24h; without it " +
                                           config::format_duration(LogLoan::time_default) +
                                           std::string(example));
}

Json level_json(Node& node) {
  const LogLoan& loan = node.log_loan();
  const auto left = loan.time_left();
  return {{"level", to_string(node.log().level())},
          {"configured", to_string(loan.configured())},
          {"lent_for_seconds", left ? Json(in_seconds(*left)) : Json()}};
}

std::string level_text(const Json& page) {
  std::string text = "level " + cell_text(page.at("level"));
  const Json& left = page.at("lent_for_seconds");
  if (left.is_null()) return text + ", as configured; POST /log?level=debug&for=10m changes it\n";
  return text + " for " + seconds_text(left) + " more, then " + cell_text(page.at("configured")) +
         " as configured\n";
}

std::string log_text(const Json& page) {
  std::string text = level_text(page) + "\n";
  for (const Json& line : page.at("lines").elements()) {
    std::string level(line.at("level").text());
    level.resize(8, ' ');
    text.append(line.at("at").text()).append(" ").append(level);
    text.append(line.at("text").text()).append("\n");
  }
  return text;
}

}  // namespace

Result<net::HttpResponse> log_page(Node& node, const net::HttpRequest& request) {
  Json lines = Json::array();
  for (const LogLine& line : node.log().last_lines()) {
    lines.push_back(
        {{"at", utc_text(line.time)}, {"level", to_string(line.level)}, {"text", line.text}});
  }
  Json page = level_json(node);
  page["lines"] = std::move(lines);
  return in_format(request, page, log_text);
}

Result<net::HttpResponse> lend_log_level(Node& node, const net::HttpRequest& request) {
  const auto level = level_of(request.query("level"));
  if (!level) return bad_query(level.error());
  const auto time = time_of(request.query("for"));
  if (!time) return bad_query(time.error());
  if (!format_of(request)) return unknown_format(request);
  node.log_loan().lend(*level, *time);
  return in_format(request, level_json(node), level_text);
}

}  // namespace corolane::framework::detail
