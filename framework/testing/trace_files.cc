// SPDX-License-Identifier: MIT
// Formats events as text and as JSON.
#include "framework/testing/trace_files.h"

#include <chrono>
#include <nlohmann/json.hpp>

namespace corolane::sim {
namespace {

using nlohmann::json;

std::string text_of(const json& event) {
  return event.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

TraceFiles::TraceFiles(const std::string& path)
    : text_(std::fopen(path.c_str(), "we")), events_(std::fopen((path + ".json").c_str(), "we")) {
  // Complete lines, even if the run crashes.
  for (std::FILE* const file : {text_, events_}) {
    if (file != nullptr) std::setvbuf(file, nullptr, _IOLBF, BUFSIZ);
  }
  if (events_ != nullptr) std::fputs("[", events_);
}

TraceFiles::~TraceFiles() {
  if (events_ != nullptr) std::fputs("\n]\n", events_);
  for (std::FILE* const file : {text_, events_}) {
    if (file != nullptr) static_cast<void>(std::fclose(file));
  }
}

void TraceFiles::add(const Trace::Event& event, Duration at) {
  std::fprintf(text_, "%12.6f %-12.*s %.*s %s\n", std::chrono::duration<double>(at).count(),
               static_cast<int>(event.host.size()), event.host.data(),
               static_cast<int>(event.what.size()), event.what.data(), event.detail.c_str());
  const auto [thread, is_new] = threads_.emplace(event.host, threads_.size() + 1);
  if (is_new) {
    write(text_of({{"ph", "M"},
                   {"name", "thread_name"},
                   {"pid", 1},
                   {"tid", thread->second},
                   {"args", {{"name", event.host.empty() ? "checks" : std::string(event.host)}}}}));
  }
  write(text_of({{"ph", "i"},
                 {"s", "t"},
                 {"name", std::string(event.what)},
                 {"pid", 1},
                 {"tid", thread->second},
                 {"ts", static_cast<double>(at.count()) / 1e3},
                 {"args", {{"detail", event.detail}}}}));
}

void TraceFiles::write(const std::string& event) {
  std::fputs(is_first_ ? "\n" : ",\n", events_);
  is_first_ = false;
  std::fputs(event.c_str(), events_);
}

}  // namespace corolane::sim
