// SPDX-License-Identifier: MIT
// The Section that checks the rules of a struct and of all structs in it.
#include "config/detail/rules.h"

#include <string>

#include "config/section.h"

namespace corolane::config::detail {
namespace {

class RuleChecker final : public Section {
 public:
  RuleChecker(const std::string& path, const Origins& origins, std::string& problems)
      : path_(path), origins_(origins), problems_(problems) {}

 private:
  void visit(const Field& field) override {
    field.value.visit_sections(key_path(path_, field.key),
                               [this](const std::string& path, const auto& describe) {
                                 RuleChecker inner(path, origins_, problems_);
                                 describe(inner);
                               });
  }

  void visit_rule(Keys keys, const Rule& holds) override {
    const auto held = holds();
    if (held) return;
    if (!problems_.empty()) problems_ += '\n';
    problems_ += place_of(keys) + ": " + held.error().message();
  }

  // "node.yaml:3: node.store.kind"; only the label for an override, since it contains the path.
  std::string place_of(Keys keys) const {
    for (const std::string_view key : keys) {
      const std::string path = key_path(path_, key);
      const auto origin = origins_.find(path);
      if (origin == origins_.end()) continue;
      return origin->second.contains(':') ? origin->second + ": " + path : origin->second;
    }
    return key_path(path_, *keys.begin());
  }

  const std::string& path_;
  const Origins& origins_;
  std::string& problems_;
};

}  // namespace

Result<void> check_rules(Value& root, const Origins& origins) {
  std::string problems;
  root.visit_sections("", [&](const std::string& path, const auto& describe) {
    RuleChecker checker(path, origins, problems);
    describe(checker);
  });
  if (problems.empty()) return {};
  return Error(Code::invalid_argument, std::move(problems));
}

}  // namespace corolane::config::detail
