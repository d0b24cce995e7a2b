#include "tools/cli/method_search.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace corolane::tools::cli {
namespace {

bool fits(std::string_view full_name, std::string_view wanted) {
  if (!full_name.ends_with(wanted)) return false;
  const std::size_t before = full_name.size() - wanted.size();
  return before == 0 || full_name[before - 1] == '.';
}

// How many characters to insert, delete or replace (the distance of Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
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

// Empty when none is near.
std::string_view nearest(std::span<const std::string> full_names, std::string_view wanted) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& full_name : full_names) {
    const std::string_view name = comparable(full_name, wanted);
    const std::size_t distance = edit_distance(name, wanted);
    if (distance < best_distance) {
      best = full_name;
      best_distance = distance;
    }
  }
  return best;
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
  if (const std::string_view near = nearest(full_names, wanted); !near.empty()) {
    message.append("; did you mean ").append(near).append("?");
  }
  return Error(Code::not_found, message + "\nIt has:" + lines_of(full_names));
}

}  // namespace corolane::tools::cli
