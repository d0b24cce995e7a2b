// SPDX-License-Identifier: MIT
#include "rpc/headers.h"

#include <algorithm>
#include <utility>

namespace corolane::rpc {
namespace {

// HTTP carries such a text as the value of a field; frames carry no more than HTTP does.
bool is_sendable_text(std::string_view value) {
  const bool has_space_around = value.starts_with(' ') || value.ends_with(' ');
  return !has_space_around &&
         std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

bool Headers::contains(std::string_view name) const {
  return std::ranges::any_of(fields_, [&](const auto& field) { return field.first == name; });
}

void Headers::remove(std::string_view name) {
  if (!contains(name)) return;
  net::HttpHeaders others;
  for (const auto& [other, value] : fields_) {
    if (other != name) others.add(other, value);
  }
  fields_ = std::move(others);
}

Result<void> Headers::check() const {
  std::size_t bytes = 0;
  for (const auto& [name, value] : fields_) {
    bytes += name.size() + value.size();
    if (!detail::is_header_name(name)) {
      return Error(Code::invalid_argument, "\"" + std::string(name) +
                                               "\" is no name of a header: it has a-z, 0-9, '-', "
                                               "'_' and '.'");
    }
    if (!detail::is_binary(name) && !is_sendable_text(value)) {
      return Error(Code::invalid_argument,
                   "the header " + std::string(name) +
                       " is not printable ASCII: a name that ends in -bin may have any bytes");
    }
  }
  if (bytes <= bytes_max) return {};
  return Error(Code::resource_exhausted, "headers of " + std::to_string(bytes) +
                                             " bytes are above the limit of " +
                                             std::to_string(bytes_max));
}

}  // namespace corolane::rpc
