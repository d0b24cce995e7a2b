// SPDX-License-Identifier: MIT
#include "rpc/codegen/comments.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include "coroutine/base/text.h"

namespace corolane::rpc::codegen {
namespace {

namespace pb = google::protobuf;

bool is_control(char c) { return (c >= '\0' && c < ' ' && c != '\t') || c == '\x7f'; }

CommentLines lines_of(std::string_view text) {
  CommentLines lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
    std::erase_if(line, is_control);
    // Strings on the wire must be UTF-8, and compilers warn about other bytes.
    line = to_utf8(line, "?");
    line.erase(line.find_last_not_of(" \t") + 1);
    lines.push_back(std::move(line));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

CommentLines comment_at(const pb::SourceLocation& location) {
  CommentLines lines = lines_of(location.leading_comments);
  const CommentLines behind = lines_of(location.trailing_comments);
  if (!lines.empty() && !behind.empty()) lines.emplace_back();
  lines.insert(lines.end(), behind.begin(), behind.end());
  return lines;
}

template <typename Descriptor>
CommentLines comment_in_source(const Descriptor& descriptor) {
  pb::SourceLocation location;
  if (!descriptor.GetSourceLocation(&location)) return {};
  return comment_at(location);
}

// The text without the blank that usually follows the slashes.
std::string plain_text(const CommentLines& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (&line != &lines.front()) text += '\n';
    text += std::string_view(line).substr(line.starts_with(' ') ? 1 : 0);
  }
  return text;
}

// Walks from services to their methods, and on through the types of messages.
class SymbolWalk {
 public:
  std::vector<SymbolComment> collect(const pb::FileDescriptor& file) {
    for (int i = 0; i < file.service_count(); ++i) {
      const pb::ServiceDescriptor& service = *file.service(i);
      add(service);
      for (int j = 0; j < service.method_count(); ++j) add(*service.method(j));
    }
    for (int i = 0; i < file.service_count(); ++i) {
      const pb::ServiceDescriptor& service = *file.service(i);
      for (int j = 0; j < service.method_count(); ++j) {
        visit(*service.method(j)->input_type());
        visit(*service.method(j)->output_type());
      }
    }
    return std::move(comments_);
  }

 private:
  template <typename Descriptor>
  void add(const Descriptor& descriptor) {
    std::string text = plain_text(comment_in_source(descriptor));
    if (!text.empty()) comments_.emplace_back(descriptor.full_name(), std::move(text));
  }

  bool is_first_visit(const std::string& name, const pb::FileDescriptor& file) {
    return file.package() != "google.protobuf" && seen_.insert(name).second;
  }

  void visit(const pb::Descriptor& type) {
    if (!is_first_visit(type.full_name(), *type.file())) return;
    add(type);
    for (int i = 0; i < type.field_count(); ++i) add(*type.field(i));
    for (int i = 0; i < type.field_count(); ++i) {
      const pb::FieldDescriptor& field = *type.field(i);
      if (field.message_type() != nullptr) visit(*field.message_type());
      if (field.enum_type() != nullptr) visit(*field.enum_type());
    }
  }

  void visit(const pb::EnumDescriptor& type) {
    if (!is_first_visit(type.full_name(), *type.file())) return;
    add(type);
    for (int i = 0; i < type.value_count(); ++i) add(*type.value(i));
  }

  std::set<std::string> seen_;  // Types may refer to each other.
  std::vector<SymbolComment> comments_;
};

}  // namespace

CommentLines comment_of(const pb::ServiceDescriptor& service) { return comment_in_source(service); }
CommentLines comment_of(const pb::MethodDescriptor& method) { return comment_in_source(method); }

CommentLines comment_of(const pb::FileDescriptor& file) {
  pb::SourceLocation location;
  if (!file.GetSourceLocation({pb::FileDescriptorProto::kSyntaxFieldNumber}, &location)) return {};
  CommentLines lines = comment_at(location);
  // The licence is that of the .proto.
  std::erase_if(lines, [](std::string_view line) { return line.contains("SPDX-"); });
  const auto first = std::ranges::find_if(lines, [](const auto& line) { return !line.empty(); });
  lines.erase(lines.begin(), first);
  return lines;
}

std::vector<SymbolComment> symbol_comments(const pb::FileDescriptor& file) {
  return SymbolWalk().collect(file);
}

}  // namespace corolane::rpc::codegen
