// SPDX-License-Identifier: MIT
// Builds nodes from the events of yaml-cpp's parser. Unlike its own tree, the events show duplicate
// keys and anchors, and the nesting as it grows.
#include "config/detail/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "config/detail/text.h"
#include "config/units.h"
#include "coroutine/base/text.h"

namespace corolane::config::detail {
namespace {

constexpr const char* sharing_problem =
    "anchors (&) and aliases (*) are not supported; write the value out";

class Builder final : public YAML::EventHandler {
 public:
  // Here lines count from zero, as in yaml-cpp.
  Builder(const Place& start, int last_line, std::vector<Problem>& problems)
      : start_(start), last_line_(last_line), problems_(problems) {}

  SourceNode take_root() { return std::move(root_); }
  bool has_second_document() const { return document_count_ > 1; }
  // The line of the last event.
  int line() const { return line_; }

  void report(int line, std::string message) {
    problems_.push_back({place_of(line), std::move(message)});
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    see(mark);
    if (++document_count_ != 2) return;
    report(line_, "not part of the document above: a wrong indentation, or a second \"---\"");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    see(mark, anchor);
    add({.kind = SourceNode::Kind::nothing, .place = place_of(line_)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    see(mark, anchor);
    add({.kind = SourceNode::Kind::broken, .place = place_of(line_)});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    see(mark, anchor, tag);
    add({.kind = SourceNode::Kind::text, .place = place_of(line_), .text = text});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    see(mark, anchor, tag);
    open(mark, SourceNode::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    see(mark, anchor, tag);
    open(mark, SourceNode::Kind::section);
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or section that is still being read.
  struct Frame {
    SourceNode node;
    bool has_key = false;  // The next value belongs to `key`.
    SourceNode key = {};
    std::map<std::string, int> key_lines = {};
  };

  // yaml-cpp places missing nodes at the end of a text beyond that end.
  Place place_of(int line) const {
    return {start_.source, start_.line == 0 ? 0 : start_.line + std::clamp(line, 0, last_line_)};
  }

  void see(const YAML::Mark& mark, YAML::anchor_t anchor = 0, const std::string& tag = "") {
    line_ = mark.line;
    if (anchor != 0) report(line_, sharing_problem);
    // yaml-cpp tags plain scalars with "?" and quoted ones with "!".
    if (!tag.empty() && tag != "?" && tag != "!") {
      report(line_, "tags are not supported, read " + excerpt(tag) + "; leave it out");
    }
  }

  void open(const YAML::Mark& mark, SourceNode::Kind kind) {
    // Only an exception stops yaml-cpp's parser, which would otherwise continue to a depth of 500
    // and need 200 KiB of stack. It is caught at the end of this file, like the parser's own.
    if (frames_.size() == nesting_max) {
      throw YAML::ParserException(mark,
                                  "nested deeper than " + std::to_string(nesting_max) + " levels");
    }
    frames_.push_back({.node = {.kind = kind, .place = place_of(line_)}});
  }

  void close() {
    SourceNode node = std::move(frames_.back().node);
    frames_.pop_back();
    add(std::move(node));
  }

  void add(SourceNode node) {
    if (frames_.empty()) {
      if (document_count_ == 1) root_ = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.node.kind == SourceNode::Kind::list) {
      frame.node.children.push_back(std::move(node));
    } else if (!std::exchange(frame.has_key, !frame.has_key)) {
      add_key(frame, std::move(node));
    } else if (frame.key.kind == SourceNode::Kind::text) {
      node.key = std::move(frame.key.text);
      node.place = std::move(frame.key.place);
      frame.node.children.push_back(std::move(node));
    }
  }

  // Keeps `key` for the next value, which is dropped if the key is broken.
  void add_key(Frame& frame, SourceNode key) {
    frame.key = std::move(key);
    SourceNode& added = frame.key;
    if (added.kind == SourceNode::Kind::broken) return;
    if (added.kind != SourceNode::Kind::text) {
      problems_.push_back({added.place, "a key has to be text, such as rooms_max"});
      added.kind = SourceNode::Kind::broken;
      return;
    }
    const auto [first, is_new] = frame.key_lines.emplace(added.text, added.place.line);
    if (is_new) return;
    const std::string where =
        first->second == 0 ? "" : ", first in line " + std::to_string(first->second);
    problems_.push_back({added.place, "key " + excerpt(added.text) + " is given twice" + where});
    added.kind = SourceNode::Kind::broken;
  }

  const Place start_;
  const int last_line_;
  std::vector<Problem>& problems_;
  std::vector<Frame> frames_;
  SourceNode root_;
  int document_count_ = 0;
  int line_ = 0;
};

// The problem of a line even before it is parsed as YAML; empty when there is none.
std::string problem_in_line(std::string_view line) {
  if (line.substr(0, line.find_first_not_of(" \t")).contains('\t')) {
    return "a tab in the indentation; YAML wants spaces";
  }
  if (utf8_length(line) != line.size()) return "this line is not UTF-8";
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7f) {
      // The line is not quoted: it may hold a secret.
      return "a control character; write it as an escape in double quotes";
    }
  }
  return {};
}

// Checks for input that yaml-cpp would accept silently: it replaces invalid bytes, and takes the
// byte 4 for the end of the text.
bool is_plain_text(std::string_view text, Builder& builder) {
  if (text.size() > document_size_bytes_max) {
    builder.report(0, "larger than " + format_bytes({document_size_bytes_max}) +
                          ", the maximum size of a configuration");
    return false;
  }
  for (int number = 0; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (const std::string problem = problem_in_line(line); !problem.empty()) {
      builder.report(number, problem);
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<SourceNode> parse_document(std::string_view text, const Place& start,
                                         std::vector<Problem>& problems) {
  const bool ends_line = text.ends_with('\n');
  const auto last_line = static_cast<int>(std::ranges::count(text, '\n')) - (ends_line ? 1 : 0);
  Builder builder(start, last_line, problems);
  if (!is_plain_text(text, builder)) return {};

  // With a marker for the end of a document, yaml-cpp notices a quote that is never closed.
  std::istringstream stream(std::string(text) + (text.empty() || ends_line ? "..." : "\n..."));
  try {
    YAML::Parser parser(stream);
    while (!builder.has_second_document() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    if (error.msg == YAML::ErrorMsg::DOC_IN_SCALAR) {
      builder.report(builder.line(), "a quoted text that begins here or below is never closed");
    } else if (error.msg.starts_with(YAML::ErrorMsg::UNKNOWN_ANCHOR)) {
      // yaml-cpp 0.8 adds the name, which may be a secret: a password can begin with "*".
      builder.report(error.mark.line, sharing_problem);
    } else {
      builder.report(error.mark.line, "cannot be parsed: " + error.msg);
    }
    return {};
  }
  if (builder.has_second_document()) return {};
  return builder.take_root();
}

}  // namespace corolane::config::detail
