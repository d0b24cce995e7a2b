// SPDX-License-Identifier: MIT
// /slow: the slowest calls of the last minutes, and the last ones that failed.
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "framework/node/each_shard.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"
#include "framework/telemetry/slow_calls.h"
#include "framework/telemetry/telemetry.h"
#include "framework/time/wall_clock.h"
#include "rpc/observe/call_outcome.h"

namespace corolane::framework::detail {
namespace {

using Call = SlowCalls::Call;

// For each table: as many rows as a person may look through.
constexpr std::size_t row_count_max = 200;

struct Calls {
  std::vector<Call> slowest;
  std::vector<Call> errors;
};

void add_calls(Calls& calls, const Calls& more) {
  std::ranges::copy(more.slowest, std::back_inserter(calls.slowest));
  std::ranges::copy(more.errors, std::back_inserter(calls.errors));
}

void arrange(Calls& calls) {
  std::ranges::sort(calls.slowest, std::greater(), &Call::took);
  if (calls.slowest.size() > row_count_max) calls.slowest.resize(row_count_max);
  // Errors that are the server's fault come first; within each kind the latest.
  std::ranges::sort(calls.errors, std::greater(), [](const Call& call) {
    return std::pair(call.is_fault_of_server, call.ended_at);
  });
  if (calls.errors.size() > row_count_max) calls.errors.resize(row_count_max);
}

std::optional<std::size_t> minutes_of(std::string_view text) {
  if (text.empty()) return SlowCalls::minute_count;
  std::size_t minutes = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), minutes);
  const bool is_number = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (!is_number || minutes == 0 || minutes > SlowCalls::minute_count) return std::nullopt;
  return minutes;
}

std::string at_text(const Call& call, TimePoint time) {
  return utc_text(WallClock().now() - (time - call.ended_at));
}

Json call_json(const Call& call, TimePoint time) {
  return {{"at", at_text(call, time)},
          {"seconds_ago", in_seconds(time - call.ended_at)},
          {"method", call.method},
          {"object", call.object},
          {"caller", call.caller},
          {"took_seconds", in_seconds(call.took())},
          {"queue_seconds", in_seconds(call.waited)},
          {"run_seconds", in_seconds(call.ran)},
          {"code", rpc::to_string(call.code)},
          {"error", call.error},
          {"is_fault_of_server", call.is_fault_of_server},
          {"trace", call.trace}};
}

Json calls_json(const std::vector<Call>& calls, TimePoint time) {
  Json rows = Json::array();
  for (const Call& call : calls) rows.push_back(call_json(call, time));
  return rows;
}

std::string outcome_cell(const Json& call) {
  const Json& error = call.at("error");
  return cell_text(call.at("code")) + (error.text().empty() ? "" : ": " + cell_text(error));
}

std::string calls_text(const std::string& title, const Json& calls) {
  return table_text(calls,
                    title +
                        ": method, OBJECT: object, TOOK: took_seconds, QUEUE: queue_seconds, "
                        "RUN: run_seconds, AT: at, CALLER: caller, TRACE: trace, OUTCOME: code",
                    {{"code", outcome_cell}});
}

std::string slow_text(const Json& page) {
  return calls_text("SLOWEST", page.at("slowest")) + "\n" +
         calls_text("LAST ERRORS", page.at("errors"));
}

}  // namespace

Result<net::HttpResponse> slow_page(Node& node, const net::HttpRequest& request) {
  const auto minutes = minutes_of(request.query("minutes"));
  if (!minutes) {
    return bad_query(Error(Code::invalid_argument, "minutes is a number from 1 to " +
                                                       std::to_string(SlowCalls::minute_count) +
                                                       ", as in /slow?minutes=1"));
  }
  const TimePoint time = now();
  auto shards = from_each_shard(node, [time, minutes = *minutes](const Shard& shard) {
    const SlowCalls& calls = shard.telemetry().slow_calls();
    return Calls{.slowest = calls.slowest(time, std::chrono::minutes(minutes)),
                 .errors = calls.errors()};
  });
  if (!shards) return shards.error();
  Calls calls = added_up(std::move(shards->parts), add_calls);
  arrange(calls);
  Json page = {{"minutes", *minutes},
               {"slowest", calls_json(calls.slowest, time)},
               {"errors", calls_json(calls.errors, time)}};
  name_silent_shards(page, node, shards->silent);
  return in_format(request, page, slow_text);
}

}  // namespace corolane::framework::detail
