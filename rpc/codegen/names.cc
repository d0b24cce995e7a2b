// SPDX-License-Identifier: MIT
#include "rpc/codegen/names.h"

#include <google/protobuf/compiler/cpp/names.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>

namespace corolane::rpc::codegen {
namespace {

// [lex.key] and [lex.digraph] of the standard, sorted.
constexpr auto keywords = std::to_array<std::string_view>({
    "alignas",       "alignof",     "and",
    "and_eq",        "asm",         "auto",
    "bitand",        "bitor",       "bool",
    "break",         "case",        "catch",
    "char",          "char16_t",    "char32_t",
    "char8_t",       "class",       "co_await",
    "co_return",     "co_yield",    "compl",
    "concept",       "const",       "const_cast",
    "consteval",     "constexpr",   "constinit",
    "continue",      "decltype",    "default",
    "delete",        "do",          "double",
    "dynamic_cast",  "else",        "enum",
    "explicit",      "export",      "extern",
    "false",         "float",       "for",
    "friend",        "goto",        "if",
    "inline",        "int",         "long",
    "mutable",       "namespace",   "new",
    "noexcept",      "not",         "not_eq",
    "nullptr",       "operator",    "or",
    "or_eq",         "private",     "protected",
    "public",        "register",    "reinterpret_cast",
    "requires",      "return",      "short",
    "signed",        "sizeof",      "static",
    "static_assert", "static_cast", "struct",
    "switch",        "template",    "this",
    "thread_local",  "throw",       "true",
    "try",           "typedef",     "typeid",
    "typename",      "union",       "unsigned",
    "using",         "virtual",     "void",
    "volatile",      "wchar_t",     "while",
    "xor",           "xor_eq",
});
static_assert(std::ranges::is_sorted(keywords));

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

char to_lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// True when a new word starts at `at`: after a small letter or digit, or where the last of several
// capitals belongs to the next word.
bool starts_word(std::string_view name, std::size_t at) {
  if (at == 0 || !is_upper(name[at]) || name[at - 1] == '_') return false;
  return !is_upper(name[at - 1]) || (at + 1 < name.size() && is_lower(name[at + 1]));
}

}  // namespace

std::string snake_case(std::string_view name) {
  std::string result;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (starts_word(name, at)) result += '_';
    result += to_lower(name[at]);
  }
  return result;
}

bool is_keyword(std::string_view word) { return std::ranges::binary_search(keywords, word); }

std::string namespace_of(std::string_view package) {
  std::string result;
  for (const char c : package) result.append(c == '.' ? "::" : std::string_view(&c, 1));
  return result;
}

std::string stem_of(const std::string& proto_path) {
  return google::protobuf::compiler::cpp::StripProto(proto_path);
}

std::string full_name_of(const google::protobuf::MethodDescriptor& method) {
  return method.service()->full_name() + "/" + method.name();
}

}  // namespace corolane::rpc::codegen
