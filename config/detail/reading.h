// What a load has found so far, and the steps of reading that do not depend on a type.
//
// Wrong input never ends a load: it is reported, and reading goes on with the next value, so that
// one load finds all there is to find.
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
  // Adds what it finds to `problems`, which has to outlive it.
  explicit Reading(std::vector<Problem>& problems) : problems_(problems) {}

  // Says what is wrong with the value of `node`, found at `path`.
  void report(const SourceNode& node, std::string_view path, std::string message);

  // True for a node that empties an optional.
  static bool is_null(const SourceNode& node);

  // The text of a scalar; null, with a report, for any other node.
  const std::string* text(const SourceNode& node, std::string_view path, std::string_view expected);

  // Makes the children of `node` the elements of a list; false, with a report, if it is none.
  bool open_list(SourceNode& node, std::string_view path);

  // Runs `describe` with a section that reads from `node`, or leaves all defaults if that is null,
  // and reports keys that it did not ask for.
  void section(SourceNode* node, const std::string& path,
               const std::function<void(Section&)>& describe);

  // Reads the secret that `node` may be: what is wrong with it is told without what it is.
  void secret(const SourceNode* node, const std::string& path, const std::function<void()>& read);

  void set_origin(const std::string& path, const Place& place);
  Origins take_origins() { return std::move(origins_); }

 private:
  std::vector<Problem>& problems_;
  Origins origins_;
};

}  // namespace detail
}  // namespace corolane::config
