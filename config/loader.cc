// SPDX-License-Identifier: MIT
// The steps of a load: from bytes to a value or a list of problems.
#include "config/loader.h"

#include <cerrno>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "config/detail/document.h"
#include "config/detail/rules.h"
#include "coroutine/base/text.h"

namespace corolane::config::detail {
namespace {

// Joins all problems; those of the file are in the order of its lines.
Error to_error(const std::vector<Problem>& problems) {
  std::multimap<int, std::string> messages;
  for (const Problem& problem : problems) {
    const int line = problem.place.line == 0 ? std::numeric_limits<int>::max() : problem.place.line;
    messages.emplace(line, problem.place.to_string() + ": " + problem.message);
  }
  std::string all;
  for (const auto& [line, message] : messages) {
    if (!all.empty()) all += '\n';
    all += message;
  }
  return Error(Code::invalid_argument, std::move(all));
}

Error unreadable(const std::string& path, int error_number) {
  return Error(Code::invalid_argument, escaped(path) + ": cannot be read: " +
                                           std::generic_category().message(error_number));
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"), close);
  if (!file) return unreadable(path, errno);
  // Reads one byte more than allowed to detect a file that is too large.
  std::string text(document_size_bytes_max + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable(path, errno);
  return text;
}

Result<Origins> load(std::string_view text, std::string_view name, const Overrides& overrides,
                     Value& root) {
  std::vector<Problem> problems;
  Reading reading(problems);
  auto document = parse_document(text, {.source = escaped(name), .line = 1}, problems);
  if (document) {
    apply(overrides, *document, problems);
    root.read(&*document, "", reading);
  }
  if (!problems.empty()) return to_error(problems);
  Origins origins = reading.take_origins();
  if (auto held = check_rules(root, origins); !held) return held.error();
  return origins;
}

std::string print_root(Value& root, const Origins& origins, Secrets secrets) {
  const std::string text = root.print("", Printing(&origins, secrets));
  return text.substr(text.starts_with('\n') ? 1 : 0) + "\n";
}

}  // namespace corolane::config::detail
