// SPDX-License-Identifier: MIT
#include "coroutine/base/check.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "coroutine/base/text.h"

namespace corolane {
namespace {

std::atomic<detail::TaskNamer> task_namer = nullptr;
constinit thread_local const detail::FailedCheck* failed = nullptr;

}  // namespace

void detail::set_task_namer(TaskNamer namer) { task_namer.store(namer); }

const detail::FailedCheck* detail::failed_check() { return failed; }

void detail::check_failed(std::string_view claim, std::source_location place) {
  const FailedCheck this_one{.claim = claim, .place = place};
  failed = &this_one;
  const TaskNamer namer = task_namer.load();
  const std::string task = namer != nullptr ? escaped(namer()) : std::string();
  std::fprintf(stderr, "check failed: %.*s\n  at %s:%u in %s\n  in task %s\n",
               static_cast<int>(claim.size()), claim.data(), place.file_name(),
               static_cast<unsigned>(place.line()), place.function_name(),
               task.empty() ? "(none)" : task.c_str());
  std::abort();
}

}  // namespace corolane
