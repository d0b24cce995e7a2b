// SPDX-License-Identifier: MIT
// The Section that visits all keys, and the operations on them.
#include "config/keys.h"

#include <functional>
#include <utility>

#include "coroutine/base/check.h"

namespace corolane::config {
namespace detail {
namespace {

// Calls `look` with the path, the marks and the field of each key; the keys of a section take its
// place.
class KeyWalker final : public Section {
 public:
  using Look = std::function<void(const std::string& path, Marks marks, const Field& field)>;

  KeyWalker(const std::string& path, Marks marks, const Look& look)
      : path_(path), marks_(marks), look_(look) {}

  static void walk(Value& root, const Look& look) {
    root.visit_sections("", [&](const std::string& path, const auto& describe) {
      KeyWalker walker(path, {}, look);
      describe(walker);
    });
  }

 private:
  void visit(const Field& field) override {
    const std::string path = key_path(path_, field.key);
    const Marks marks = marks_ | field.marks;
    if (!field.value.is_section()) return look_(path, marks, field);
    field.value.visit_sections(path, [&](const std::string& inner_path, const auto& describe) {
      KeyWalker inner(inner_path, marks, look_);
      describe(inner);
    });
  }

  const std::string& path_;
  const Marks marks_;
  const Look& look_;
};

}  // namespace

std::vector<Key> keys_of(Value& root) {
  std::vector<Key> keys;
  KeyWalker::walk(root, [&](const std::string& path, Marks marks, const Field& field) {
    keys.push_back({.path = path,
                    .help = std::string(field.help),
                    .type = field.value.type(),
                    .allowed = field.value.allowed(),
                    .marks = marks,
                    .value = Printing(nullptr, Secrets::shown).value(path, marks, field.value),
                    .shown = Printing(nullptr, Secrets::hidden).value(path, marks, field.value)});
  });
  return keys;
}

LiveValues live_values(Value& root) {
  LiveValues values;
  KeyWalker::walk(root, [&](const std::string& path, Marks marks, const Field& field) {
    if (marks.is_live) values.emplace(path, field.value.copy());
  });
  return values;
}

void assign_live(Value& root, const LiveValues& values) {
  KeyWalker::walk(root, [&](const std::string& path, Marks, const Field& field) {
    if (const auto found = values.find(path); found != values.end()) {
      field.value.assign(found->second);
    }
  });
}

}  // namespace detail

std::vector<Change> changes(const std::vector<Key>& before, const std::vector<Key>& after) {
  check(before.size() == after.size(), "keys of one type are compared");
  std::vector<Change> found;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].value == after[i].value) continue;
    found.push_back({.path = before[i].path,
                     .before = before[i].shown,
                     .after = after[i].shown,
                     .is_live = after[i].marks.is_live});
  }
  return found;
}

}  // namespace corolane::config
