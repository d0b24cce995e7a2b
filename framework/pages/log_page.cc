// /log: the last lines of the log, and a temporary level.
#include <optional>
#include <string>
#include <utility>

#include "config/units.h"
#include "coroutine/base/text.h"
#include "framework/pages/detail/page.h"
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

std::string level_text(const Log& log, const LogLoan& loan) {
  std::string text = "level " + std::string(to_string(log.level()));
  const auto left = loan.time_left();
  if (!left) return text + ", as configured; POST /log?level=debug&for=10m changes it\n";
  return text + " for " + seconds_text(*left) + " more, then " +
         std::string(to_string(loan.configured())) + " as configured\n";
}

Json level_json(const Log& log, const LogLoan& loan) {
  const auto left = loan.time_left();
  return {{"level", to_string(log.level())},
          {"configured", to_string(loan.configured())},
          {"lent_for_seconds", left ? Json(in_seconds(*left)) : Json()}};
}

}  // namespace

Result<net::HttpResponse> log_page(Node& node, const net::HttpRequest& request) {
  const LogLoan& loan = node.log_loan();
  const auto lines = node.log().last_lines();
  return in_format(
      request,
      [&] {
        Json rows = Json::array();
        for (const LogLine& line : lines) {
          rows.push_back(
              {{"at", utc_text(line.time)}, {"level", to_string(line.level)}, {"text", line.text}});
        }
        Json json = level_json(node.log(), loan);
        json["lines"] = std::move(rows);
        return json_response(json);
      },
      [&] {
        std::string text = level_text(node.log(), loan) + "\n";
        for (const LogLine& line : lines) {
          std::string level(to_string(line.level));
          level.resize(8, ' ');
          text.append(utc_text(line.time)).append(" ").append(level);
          text.append(line.text).append("\n");
        }
        return net::HttpResponse{.body = std::move(text)};
      });
}

Result<net::HttpResponse> lend_log_level(Node& node, const net::HttpRequest& request) {
  const auto level = level_of(request.query("level"));
  if (!level) return bad_query(level.error());
  const auto time = time_of(request.query("for"));
  if (!time) return bad_query(time.error());
  const auto format = request.query("format");
  if (!format.empty() && format != "text" && format != "json") return unknown_format(request);
  node.log_loan().lend(*level, *time);
  return in_format(
      request, [&] { return json_response(level_json(node.log(), node.log_loan())); },
      [&] { return net::HttpResponse{.body = level_text(node.log(), node.log_loan())}; });
}

}  // namespace corolane::framework::detail
