// SPDX-License-Identifier: MIT
// The findings of a load so far, and the steps of reading that do not depend on a type.
//
// Wrong input does not end a load: it is reported, and reading continues with the next value, so
// that one load reports all problems.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/detail/source_node.h"
#include "config/origins.h"

namespace corolane::config {

class Section;

namespace detail {

class Reading {
 public:
  // Adds its findings to `problems`, which must outlive it.
  explicit Reading(std::vector<Problem>& problems) : problems_(problems) {}

  // Reports a problem with the value of `node`, found at `path`.
  void report(const SourceNode& node, std::string_view path, std::string message);

  // True for a node that empties an optional.
  static bool is_null(const SourceNode& node);

  // The text of a scalar; null, with a report, for any other node.
  const std::string* text(const SourceNode& node, std::string_view path, std::string_view expected);

  // Makes the children of `node` the elements of a list; false, with a report, if it is not a list.
  bool open_list(SourceNode& node, std::string_view path);

  // Runs `describe` with a section that reads from `node`, or keeps all defaults if that is null,
  // and reports the keys of `node` that `describe` does not name.
  void section(SourceNode* node, const std::string& path,
               const std::function<void(Section&)>& describe);

  // Reads the secret that `node` may hold: reports its problems without its value.
  void secret(const SourceNode* node, const std::string& path, const std::function<void()>& read);

  void set_origin(const std::string& path, const Place& place);
  Origins take_origins() { return std::move(origins_); }

 private:
  std::vector<Problem>& problems_;
  Origins origins_;
};

}  // namespace detail
}  // namespace corolane::config
