#include "tools/cli/method_search.h"

#include <algorithm>
#include <vector>

#include "coroutine/base/text.h"

namespace corolane::tools::cli {
namespace {

bool fits(std::string_view full_name, std::string_view wanted) {
  if (!full_name.ends_with(wanted)) return false;
  const std::size_t before = full_name.size() - wanted.size();
  return before == 0 || full_name[before - 1] == '.';
}

// The end of the full name that has as many parts as `wanted`.
std::string_view comparable(std::string_view full_name, std::string_view wanted) {
  if (!wanted.contains('/')) return full_name.substr(full_name.rfind('/') + 1);
  std::size_t begin = full_name.size();
  for (auto dots = std::ranges::count(wanted, '.'); dots >= 0; --dots) {
    if (begin == 0) return full_name;
    begin = full_name.rfind('.', begin - 1);
    if (begin == std::string_view::npos) return full_name;
  }
  return full_name.substr(begin + 1);
}

std::string lines_of(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) text.append("\n  ").append(name);
  return text;
}

}  // namespace

Result<std::size_t> find_method(std::span<const std::string> full_names, std::string_view wanted) {
  std::vector<std::string> fitting;
  std::size_t found = 0;
  for (std::size_t i = 0; i < full_names.size(); ++i) {
    if (full_names[i] == wanted) return i;
    if (!fits(full_names[i], wanted)) continue;
    fitting.push_back(full_names[i]);
    found = i;
  }
  if (fitting.size() == 1) return found;

  const std::string quoted = "\"" + std::string(wanted) + "\"";
  if (fitting.size() > 1) {
    return Error(Code::invalid_argument,
                 quoted + " may be any of these; write more of the name:" + lines_of(fitting));
  }
  std::string message = "the node has no method " + quoted;
  std::vector<std::string> ends;
  for (const std::string& name : full_names) ends.emplace_back(comparable(name, wanted));
  if (const auto near = nearest(wanted, ends)) {
    message.append("; did you mean ").append(full_names[*near]).append("?");
  }
  return Error(Code::not_found, message + "\nIt has:" + lines_of(full_names));
}

}  // namespace corolane::tools::cli
