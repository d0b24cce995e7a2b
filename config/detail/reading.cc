// SPDX-License-Identifier: MIT
// The Section that loads, and its checks of the structure.
#include "config/detail/reading.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/detail/document.h"
#include "config/detail/text.h"
#include "config/section.h"
#include "coroutine/base/check.h"
#include "coroutine/base/text.h"

namespace corolane::config::detail {
namespace {

bool is_scalar(const SourceNode& node) {
  return node.kind == SourceNode::Kind::text || node.kind == SourceNode::Kind::raw_text;
}

// "read "5"" or, for a node without text, "read a list".
std::string describe_node(const SourceNode& node) {
  switch (node.kind) {
    case SourceNode::Kind::nothing:
      return "read no value";
    case SourceNode::Kind::text:
    case SourceNode::Kind::raw_text:
      return "read " + excerpt(node.text);
    case SourceNode::Kind::list:
      return "read a list";
    case SourceNode::Kind::section:
      return "read a section";
    case SourceNode::Kind::broken:
      break;
  }
  return "read something else";
}

std::string unknown_key(std::string_view key, const std::string& path,
                        const std::vector<std::string>& known_keys) {
  std::string message = "unknown key " + excerpt(key);
  message += path.empty() ? " at the top level" : " in section " + quote(path);
  const auto meant = nearest(key, known_keys);
  if (!meant) return message + "; known keys: " + join(known_keys);
  return message + "; did you mean " + quote(known_keys[*meant]) + "?";
}

std::string moved_key(const std::string& path, std::string_view to) {
  return path + " has moved: set " + std::string(to);
}

// Lower-case words, so that the name of an environment variable can be mapped to a key.
bool is_key(std::string_view key) {
  const auto is_key_character = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !key.empty() && std::ranges::all_of(key, is_key_character) && !key.starts_with('_') &&
         !key.ends_with('_') && !key.contains("__");
}

class SectionReader final : public Section {
 public:
  // `node` is a section or null.
  SectionReader(SourceNode* node, const std::string& path, Reading& reading)
      : node_(node), path_(path), reading_(reading) {}

  bool knows(std::string_view key) const { return std::ranges::find(keys_, key) != keys_.end(); }
  const std::vector<std::string>& keys() const { return keys_; }
  // Null for a key that has no successor.
  const std::string* successor_of(std::string_view key) const {
    const auto found = moved_.find(key);
    return found == moved_.end() ? nullptr : &found->second;
  }

 private:
  void visit(const Field& field) override {
    check(is_key(field.key), "a key is lower_case words");
    check(!knows(field.key), "a key is described once");
    check(field.help.find('\n') == field.help.npos, "help is one line");
    keys_.emplace_back(field.key);

    const std::string path = key_path(path_, field.key);
    SourceNode* const node = node_ == nullptr ? nullptr : node_->find(field.key);
    if (node != nullptr) reading_.set_origin(path, node->place);
    if (const std::string* const to = successor_of(field.key);
        to != nullptr && node != nullptr && is_scalar(*node)) {
      reading_.report(*node, "", moved_key(path, *to));
    } else if (field.marks.is_secret) {
      reading_.secret(node, path, [&] { field.value.read(node, path, reading_); });
    } else {
      field.value.read(node, path, reading_);
    }
  }

  void visit_moved(std::string_view from, std::string_view to) override {
    check(is_key(from), "a key is lower_case words");
    check(!knows(from), "a moved key is named before the section that has taken it over");
    moved_.emplace(from, to);
  }

  SourceNode* const node_;
  const std::string& path_;
  Reading& reading_;
  std::vector<std::string> keys_;
  std::map<std::string, std::string, std::less<>> moved_;
};

}  // namespace

void Reading::report(const SourceNode& node, std::string_view path, std::string message) {
  // The label of an override contains its path.
  const bool is_labelled = path.empty() || node.kind == SourceNode::Kind::raw_text;
  problems_.push_back(
      {node.place, is_labelled ? std::move(message) : std::string(path) + ": " + message});
}

bool Reading::is_null(const SourceNode& node) {
  return node.kind == SourceNode::Kind::nothing ||
         (node.kind == SourceNode::Kind::raw_text && node.text == "null");
}

const std::string* Reading::text(const SourceNode& node, std::string_view path,
                                 std::string_view expected) {
  if (is_scalar(node)) return &node.text;
  if (node.kind != SourceNode::Kind::broken) {
    report(node, path, describe_node(node) + "; expected " + std::string(expected));
  }
  return nullptr;
}

bool Reading::open_list(SourceNode& node, std::string_view path) {
  if (node.kind == SourceNode::Kind::raw_text) {
    auto parsed = parse_document(node.text, node.place, problems_);
    if (!parsed) return false;
    if (parsed->kind == SourceNode::Kind::list) {
      node.kind = SourceNode::Kind::list;
      node.children = std::move(parsed->children);
    }
  }
  if (node.kind == SourceNode::Kind::list) return true;
  if (node.kind != SourceNode::Kind::broken) {
    report(node, path, describe_node(node) + "; expected a list, such as [a, b], or [] for none");
  }
  return false;
}

void Reading::section(SourceNode* node, const std::string& path,
                      const std::function<void(Section&)>& describe) {
  if (node != nullptr && node->kind == SourceNode::Kind::broken) return;
  if (node != nullptr && node->kind != SourceNode::Kind::section &&
      node->kind != SourceNode::Kind::nothing) {
    report(*node, path, describe_node(*node) + "; expected a section, which has keys of its own");
    return;
  }
  SectionReader section(node, path, *this);
  describe(section);
  if (node == nullptr) return;
  for (const SourceNode& child : node->children) {
    if (child.kind == SourceNode::Kind::broken || section.knows(child.key)) continue;
    if (const std::string* const to = section.successor_of(child.key)) {
      problems_.push_back({child.place, moved_key(key_path(path, child.key), *to)});
      continue;
    }
    problems_.push_back({child.place, unknown_key(child.key, path, section.keys())});
  }
}

void Reading::secret(const SourceNode* node, const std::string& path,
                     const std::function<void()>& read) {
  const std::size_t before = problems_.size();
  read();
  if (problems_.size() == before) return;
  problems_.resize(before);
  report(*node, path, "read something that is not allowed here; it is a secret");
}

void Reading::set_origin(const std::string& path, const Place& place) {
  origins_[path] = place.to_string();
}

}  // namespace corolane::config::detail
