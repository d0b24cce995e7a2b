// SPDX-License-Identifier: MIT
#include "tools/corolane/method_search.h"

#include <algorithm>
#include <vector>

#include "coroutine/base/text.h"

namespace corolane::tools::cli {
namespace {

// True when `name` ends with `wanted`, and `wanted` begins at the start of a part.
bool ends_with_parts(std::string_view name, std::string_view wanted) {
  if (wanted.empty() || !name.ends_with(wanted)) return false;
  const std::size_t before = name.size() - wanted.size();
  return before == 0 || name[before - 1] == '.' || name[before - 1] == '/';
}

// True when a part of `name` begins with `wanted`.
bool has_part_from(std::string_view name, std::string_view wanted) {
  for (std::size_t begin = 0; begin <= name.size();) {
    if (name.substr(begin).starts_with(wanted)) return true;
    const std::size_t dot = name.find('.', begin);
    if (dot == name.npos) return false;
    begin = dot + 1;
  }
  return false;
}

// "Ch/Mo" is a prefix of both sides of the slash; without a slash, "Mo" is a prefix of either.
bool begins_parts(std::string_view full_name, std::string_view wanted) {
  if (wanted.empty()) return false;
  const std::size_t slash = full_name.find('/');
  const std::string_view service = full_name.substr(0, slash);
  const std::string_view method = full_name.substr(slash + 1);
  const std::size_t wanted_slash = wanted.find('/');
  if (wanted_slash == wanted.npos) {
    return method.starts_with(wanted) || has_part_from(service, wanted);
  }
  return has_part_from(service, wanted.substr(0, wanted_slash)) &&
         method.starts_with(wanted.substr(wanted_slash + 1));
}

std::vector<std::size_t> all_that_fit(std::span<const std::string> full_names,
                                      std::string_view wanted,
                                      bool (*fits)(std::string_view, std::string_view)) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < full_names.size(); ++i) {
    if (full_names[i] == wanted) return {i};
    if (fits(full_names[i], wanted)) fitting.push_back(i);
  }
  return fitting;
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
  auto fitting = all_that_fit(full_names, wanted, ends_with_parts);
  if (fitting.empty()) fitting = all_that_fit(full_names, wanted, begins_parts);
  if (fitting.size() == 1) return fitting.front();

  if (fitting.size() > 1) {
    std::vector<std::string> names;
    names.reserve(fitting.size());
    for (const std::size_t index : fitting) names.push_back(full_names[index]);
    return Error(Code::invalid_argument,
                 quote(wanted) + " is ambiguous; write more of the name:" + lines_of(names));
  }
  std::string message = "the node has no method " + quote(wanted);
  std::vector<std::string> ends;
  for (const std::string& name : full_names) ends.emplace_back(comparable(name, wanted));
  if (const auto near = nearest(wanted, ends)) {
    message.append("; did you mean ").append(full_names[*near]).append("?");
  }
  return Error(Code::not_found, message + "\nIt has:" + lines_of(full_names) +
                                    "\nMethods that are not public are hidden from clients: is "
                                    "yours public?");
}

std::string short_name(std::span<const std::string> full_names, const std::string& name) {
  // Tries "Service/Method" first, then adds one part of the package at a time.
  for (std::size_t end = name.find('/'); end != name.npos && end > 0;) {
    end = name.rfind('.', end - 1);
    if (end == name.npos) break;
    const std::string tail = name.substr(end + 1);
    if (all_that_fit(full_names, tail, ends_with_parts).size() == 1) return tail;
  }
  return name;
}

}  // namespace corolane::tools::cli
