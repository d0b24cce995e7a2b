// SPDX-License-Identifier: MIT
#include "framework/diagnostics/crash_report.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "coroutine/base/encoding.h"
#include "coroutine/crash/crash_names.h"
#include "framework/diagnostics/detail/crash_handler.h"
#include "framework/telemetry/build_id.h"
#include "framework/telemetry/version.h"
#include "framework/wire/detail/call_chain.h"

namespace corolane::framework {
namespace {

constexpr std::string_view first_line = "corolane crash report\n";
constexpr std::string_view suffix = ".crash";

std::string build_id() { return to_hex(own_build_id()); }

std::string build_line() { return "build     " + build_id() + "\n"; }

// Runs in the handler, for the running task.
void add_object(coroutine::ReportText& text) {
  const detail::CallChain* const chain = detail::CallChain::peek();
  if (chain == nullptr) return;
  if (const auto* const frame = chain->frame()) {
    std::array<char, 512> name;
    text.add("object    ").add({name.data(), frame->write_name(name)}).add("\n").flush();
  } else if (const auto link = chain->link()) {
    text.add("object    none; on behalf of ").add(link->method).add("(").add_name(link->id);
    text.add(")\n").flush();
  }
}

// Whether `end` is the rest of a report's path: time, process and suffix. It is not for a node
// whose name merely begins with ours.
bool is_end_of_path(std::string_view end) {
  if (!end.ends_with(suffix)) return false;
  end.remove_suffix(suffix.size());
  return end.size() > 17 && end[8] == 'T' && end[15] == 'Z' && end[16] == '-' &&
         std::ranges::all_of(end.substr(17), [](char c) { return c >= '0' && c <= '9'; });
}

// Leaves room for one more report.
void remove_oldest(const std::filesystem::path& folder, const std::string& name_begin,
                   std::size_t count_max) {
  std::error_code failure;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(name_begin) &&
        is_end_of_path(std::string_view(name).substr(name_begin.size()))) {
      names.push_back(name);
    }
  }
  std::ranges::sort(names, std::greater{});
  for (std::size_t i = count_max - 1; i < names.size(); ++i) {
    std::filesystem::remove(folder / names[i], failure);
  }
}

}  // namespace

Result<void> report_crashes(const CrashConfig& config, const std::string& node_name,
                            const std::string& program_name) {
  if (config.folder.empty()) return {};
  detail::CrashHandlerOptions options{.program_name = program_name,
                                      .facts = "program   " + program_name + ", corolane " +
                                               std::string(version()) + "\n" + build_line() +
                                               "node      \"" + node_name + "\"\n",
                                      .path_begin = {},
                                      .add_work = &add_object};
  std::error_code failure;
  const auto folder = std::filesystem::absolute(config.folder, failure);
  const std::string name_begin = program_name + "-" + node_name + "-";
  if (!failure && ::access(folder.c_str(), W_OK | X_OK) != 0) {
    failure.assign(errno, std::generic_category());
  }
  if (!failure) {
    remove_oldest(folder, name_begin, config.reports_max);
    options.path_begin = (folder / name_begin).lexically_normal().string();
  }
  detail::install_crash_handler(std::move(options));
  if (!failure) return {};
  return Error(Code::unavailable, config.folder + ": " + failure.message());
}

Result<std::string> explain_crash(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error(Code::not_found, path + ": cannot be read");
  std::ostringstream read;
  read << file.rdbuf();
  const std::string text = std::move(read).str();
  if (!text.starts_with(first_line)) {
    return Error(Code::failed_precondition, path + ": is not a crash report");
  }
  if (!text.contains("\n" + build_line())) {
    return Error(Code::failed_precondition, path +
                                                ": comes from another build of this program, which "
                                                "alone knows the names of its functions");
  }
  return coroutine::name_stacks(text);
}

}  // namespace corolane::framework
