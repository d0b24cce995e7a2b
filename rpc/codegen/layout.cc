#include "rpc/codegen/layout.h"

#include <algorithm>

namespace corolane::rpc::codegen {
namespace {

std::string joined(const std::vector<std::string>& pieces, const std::string& separator) {
  std::string text;
  for (const std::string& piece : pieces) {
    if (&piece != &pieces.front()) text += separator;
    text += piece;
  }
  return text;
}

// The arguments from column `margin` on, as many per line as fit.
std::string filled(std::size_t margin, const std::vector<std::string>& arguments) {
  std::string text;
  std::size_t column = margin;
  for (const std::string& argument : arguments) {
    const bool fits = column + 1 + argument.size() <= columns_max;
    if (!text.empty()) text += fits ? " " : "\n" + std::string(margin, ' ');
    column = (text.empty() || !fits ? margin : column + 1) + argument.size();
    text += argument;
  }
  return text;
}

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

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return words;
}

}  // namespace

std::size_t lines_in(const std::string& text) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::string signature(std::size_t indent, const std::string& type, const std::string& name,
                      std::vector<std::string> arguments, const std::string& tail) {
  const std::string margin(indent, ' ');
  const bool is_broken_at_name = margin.size() + type.size() + name.size() + 2 > columns_max;
  const std::string begin = margin + type + (is_broken_at_name ? "\n" + margin : " ") + name + "(";
  const std::size_t begin_width = begin.size() - (begin.rfind('\n') + 1);  // npos + 1 is 0.

  for (std::string& argument : arguments) {
    argument += &argument == &arguments.back() ? ")" + tail : ",";
  }
  const auto fits_at = [](std::size_t column) {
    return [=](const std::string& text) { return column + text.size() <= columns_max; };
  };
  const std::string in_one_line = joined(arguments, " ");
  if (fits_at(begin_width)(in_one_line)) return begin + in_one_line + "\n";
  if (std::ranges::all_of(arguments, fits_at(begin_width))) {
    return begin + joined(arguments, "\n" + std::string(begin_width, ' ')) + "\n";
  }
  const std::string new_line = "\n" + std::string(indent + 4, ' ');
  return begin + new_line +
         (fits_at(indent + 4)(in_one_line) ? in_one_line : joined(arguments, new_line)) + "\n";
}

std::string packed(std::size_t indent, const std::string& begin, std::vector<std::string> arguments,
                   const std::string& end) {
  for (std::string& argument : arguments) {
    argument += &argument == &arguments.back() ? end : ",";
  }
  const std::string opening = std::string(indent, ' ') + begin;
  const std::string beside = opening + filled(opening.size(), arguments);
  const std::string below =
      opening + "\n" + std::string(indent + 4, ' ') + filled(indent + 4, arguments);
  const bool is_too_long = std::ranges::any_of(arguments, [&](const std::string& argument) {
    return opening.size() + argument.size() > columns_max;
  });
  return (is_too_long || lines_in(below) < lines_in(beside) ? below : beside) + "\n";
}

std::string comment_text(std::size_t indent, const CommentLines& lines,
                         const std::string& sentences) {
  const std::string begin = std::string(indent, ' ') + "//";
  std::string text;
  for (const std::string& line : lines) text += begin + ended(line) + "\n";
  if (sentences.empty()) return text;
  if (!lines.empty()) text += begin + "\n";

  std::string line = begin;
  for (const std::string& word : words_of(sentences)) {
    if (line.size() + 1 + word.size() > columns_max) {
      text += line + "\n";
      line = begin;
    }
    line += " " + word;
  }
  return text + line + "\n";
}

std::string literal(std::size_t indent, std::string_view text) {
  const std::size_t size_max = columns_max - indent - 2;
  std::string result;
  do {
    std::string rest = escaped_for_literal(take_line(text));
    while (!rest.empty() || result.empty()) {
      if (!result.empty()) result += "\n" + std::string(indent, ' ');
      const std::size_t blank = rest.size() > size_max ? rest.rfind(' ', size_max - 1) : rest.npos;
      const std::size_t size = blank == rest.npos ? rest.size() : blank + 1;
      result += '"' + rest.substr(0, size) + '"';
      rest.erase(0, size);
    }
  } while (!text.empty());
  return result;
}

void print_opening(Printer& printer, const FileModel& file) {
  printer.PrintRaw(comment_text(
      0, {},
      "Generated from " + file.proto_path + " by protoc-gen-corolane: edit that file instead."));
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
