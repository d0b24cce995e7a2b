// SPDX-License-Identifier: MIT
#include "framework/pages/detail/task_filter.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "config/units.h"
#include "framework/pages/detail/page.h"
#include "net/http/percents.h"

namespace corolane::framework::detail {
namespace {

using coroutine::TaskState;

// The value of that key in the query; empty when it is absent.
Result<std::string> text_of(const net::HttpRequest& request, std::string_view key) {
  std::string text;
  if (net::read_percents(request.query(key), ' ', text)) return text;
  return Error(Code::invalid_argument, std::string(key) + " is percent-encoded, with %25 for a %");
}

Result<TaskState> state_of(std::string_view text) {
  for (const TaskState state :
       {TaskState::ready, TaskState::running, TaskState::suspended, TaskState::ended}) {
    if (to_string(state) == text) return state;
  }
  return Error(Code::invalid_argument, "state is ready, running, suspended or ended");
}

Result<std::size_t> number_of(std::string_view text) {
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size()) return number;
  return Error(Code::invalid_argument, "shard is a number, from 0 on");
}

}  // namespace

bool TaskFilter::is_any() const {
  return !state && name.empty() && waiting_for.empty() && site.empty() && !shard &&
         age_min == Duration::zero();
}

bool TaskFilter::matches(const coroutine::TaskInfo& task) const {
  return (!state || task.state == *state) && task.name.contains(name) &&
         task.waiting_for.contains(waiting_for) && (!shard || task.scheduler == *shard) &&
         task.age >= age_min && (site.empty() || site_text(task.site).contains(site));
}

Result<TaskFilter> task_filter_of(const net::HttpRequest& request) {
  TaskFilter filter;
  for (const auto& [key, wanted] : {std::pair("name", &filter.name),
                                    {"waiting_for", &filter.waiting_for},
                                    {"site", &filter.site}}) {
    auto text = text_of(request, key);
    if (!text) return text.error();
    *wanted = *std::move(text);
  }
  if (const auto text = request.query("state"); !text.empty()) {
    auto state = state_of(text);
    if (!state) return state.error();
    filter.state = *state;
  }
  if (const auto text = request.query("shard"); !text.empty()) {
    auto shard = number_of(text);
    if (!shard) return shard.error();
    filter.shard = *shard;
  }
  if (const auto text = request.query("age"); !text.empty()) {
    auto age = config::parse_duration(text);
    if (!age) return std::move(age.error()).with_context("age");
    filter.age_min = *age;
  }
  return filter;
}

}  // namespace corolane::framework::detail
