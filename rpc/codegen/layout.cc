#include "rpc/codegen/layout.h"

#include <algorithm>

namespace corolane::rpc::codegen {
namespace {

constexpr std::size_t columns_max = 100;

std::string joined(const std::vector<std::string>& pieces, const std::string& separator) {
  std::string text;
  for (const std::string& piece : pieces) {
    if (&piece != &pieces.front()) text += separator;
    text += piece;
  }
  return text;
}

}  // namespace

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

void print_opening(Printer& printer, const FileModel& file) {
  printer.Print("// Made from $proto$ by protoc-gen-corolane: change that file instead.\n", "proto",
                file.proto_path);
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
