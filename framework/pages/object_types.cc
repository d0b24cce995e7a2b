#include "framework/pages/object_types.h"

#include <set>

#include "coroutine/base/text.h"
#include "framework/cluster/cluster.h"
#include "framework/objects/detail/object_host.h"

namespace corolane::framework::detail {
namespace {

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

}  // namespace

std::vector<std::string> object_types(const Node& node) {
  std::set<std::string> names;
  if (const ObjectHost* const host = node.shard().host()) {
    for (const auto& type : host->types()) names.emplace(type->name());
  }
  if (node.cluster() != nullptr) {
    for (const Member& member : node.cluster()->view()->members()) {
      for (const auto& group : member.groups) names.insert(group.types.begin(), group.types.end());
    }
  }
  return {names.begin(), names.end()};
}

Result<std::string> find_object_type(const Node& node, std::string_view text) {
  const auto known = object_types(node);
  std::vector<std::string> matches;
  for (const std::string& name : known) {
    if (name == text) return name;
    if (name.ends_with("." + std::string(text))) matches.push_back(name);
  }
  if (matches.size() == 1) return matches.front();
  if (matches.empty()) {
    return Error(Code::not_found,
                 "object type " + quote(text) + " is unknown here; " +
                     (known.empty() ? "no types are known" : "known types: " + list_of(known)));
  }
  return Error(Code::invalid_argument,
               quote(text) + " may be " + list_of(matches) + ": give the full name");
}

}  // namespace corolane::framework::detail
