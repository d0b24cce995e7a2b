// SPDX-License-Identifier: MIT
#include "rpc/codegen/fragments.h"

namespace corolane::rpc::codegen {
namespace {

// Ends a comment line so that the next line does not become part of it, as after a backslash or the
// trigraph for one.
std::string ended(const std::string& line) {
  return line.ends_with('\\') || line.ends_with("?\?/") ? line + '.' : line;
}

// Cuts off the first line, with its newline.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end == text.npos ? text.size() : end + 1);
  text.remove_prefix(line.size());
  return line;
}

std::string escaped_for_literal(std::string_view text) {
  std::string result;
  char before = ' ';
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
    } else {
      // Compilers warn about two question marks: they began a trigraph.
      if (c == '"' || c == '\\' || (c == '?' && before == '?')) result += '\\';
      result += c;
    }
    before = c;
  }
  return result;
}

}  // namespace

std::string joined(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (const std::string& item : items) {
    if (&item != &items.front()) text += separator;
    text += item;
  }
  return text;
}

std::string signature(std::size_t indent, const std::string& type, const std::string& name,
                      const std::vector<std::string>& parameters, const std::string& tail) {
  const std::string margin(indent, ' ');
  const std::string below = "\n" + margin + "    ";
  return margin + type + " " + name + "(" + below + joined(parameters, "," + below) + ")" + tail +
         "\n";
}

std::string comment_text(std::size_t indent, const CommentLines& lines,
                         const Sentences& sentences) {
  const std::string begin = std::string(indent, ' ') + "//";
  std::string text;
  for (const std::string& line : lines) text += begin + ended(line) + "\n";
  if (!lines.empty() && !sentences.empty()) text += begin + "\n";
  for (const std::string& sentence : sentences)
    text.append(begin).append(" ").append(sentence).append("\n");
  return text;
}

std::string literal(std::size_t indent, std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) lines.push_back('"' + escaped_for_literal(take_line(text)) + '"');
  return joined(lines, "\n" + std::string(indent, ' '));
}

void print_opening(Printer& printer, const FileModel& file) {
  printer.PrintRaw("// Generated from " + file.proto_path +
                   " by protoc-gen-corolane: edit that file instead.\n");
}

void print_namespace_begin(Printer& printer, const FileModel& file) {
  if (file.cpp_namespace.empty()) return;
  printer.Print("\nnamespace $namespace$ {\n", "namespace", file.cpp_namespace);
}

void print_namespace_end(Printer& printer, const FileModel& file) {
  if (file.cpp_namespace.empty()) return;
  printer.Print("\n}  // namespace $namespace$\n", "namespace", file.cpp_namespace);
}

}  // namespace corolane::rpc::codegen
