// SPDX-License-Identifier: MIT
#include "net/http/http.h"

#include <algorithm>

namespace corolane::net {

std::string_view HttpRequest::path() const {
  const std::string_view whole = target;
  const auto end = std::ranges::find_if(whole, [](char c) { return c == '?' || c == '#'; });
  return {whole.begin(), end};
}

std::string_view HttpRequest::query(std::string_view key) const {
  std::string_view rest = target;
  rest = rest.substr(0, rest.find('#'));
  for (std::size_t mark = rest.find('?'); mark != std::string_view::npos; mark = rest.find('&')) {
    rest.remove_prefix(mark + 1);
    const std::string_view pair = rest.substr(0, rest.find('&'));
    const std::size_t equals = pair.find('=');
    if (pair.substr(0, equals) != key) continue;
    return equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1);
  }
  return {};
}

std::string_view HttpRequest::header(std::string_view name) const { return headers.find(name); }

bool is_listed(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    std::string_view each = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), each.size() + 1));
    each = each.substr(0, each.find(';'));
    while (each.starts_with(' ')) each.remove_prefix(1);
    while (each.ends_with(' ')) each.remove_suffix(1);
    if (is_same_name(each, word)) return true;
  }
  return false;
}

}  // namespace corolane::net
