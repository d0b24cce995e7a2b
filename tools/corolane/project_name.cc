// SPDX-License-Identifier: MIT
#include "tools/corolane/project_name.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string>

namespace corolane::tools::cli {
namespace {

constexpr std::size_t length_max = 40;

// Keywords of C++, and names that its headers define. Sorted, like the next table.
constexpr auto words_of_cxx = std::to_array<std::string_view>(
    {"alignas",   "alignof",   "and",       "and_eq",   "asm",      "assert",    "auto",
     "bitand",    "bitor",     "bool",      "break",    "case",     "catch",     "char",
     "class",     "co_await",  "co_return", "co_yield", "compl",    "concept",   "const",
     "consteval", "constexpr", "constinit", "continue", "decltype", "default",   "delete",
     "do",        "double",    "else",      "enum",     "errno",    "explicit",  "export",
     "extern",    "false",     "final",     "float",    "for",      "friend",    "goto",
     "if",        "import",    "inline",    "int",      "long",     "main",      "module",
     "mutable",   "namespace", "new",       "noexcept", "not",      "not_eq",    "nullptr",
     "operator",  "or",        "or_eq",     "override", "private",  "protected", "public",
     "register",  "requires",  "return",    "short",    "signed",   "sizeof",    "static",
     "std",       "struct",    "switch",    "template", "this",     "throw",     "timespec",
     "timeval",   "tm",        "true",      "try",      "typedef",  "typeid",    "typename",
     "union",     "unsigned",  "using",     "virtual",  "void",     "volatile",  "while",
     "xor",       "xor_eq"});

// Names of modules, namespaces and a configuration section of corolane, which a project would
// share.
constexpr auto words_of_corolane =
    std::to_array<std::string_view>({"base", "config", "corolane", "coroutine", "framework",
                                     "google", "net", "node", "rpc", "sim", "testing"});

bool is_letter(char c) { return 'a' <= c && c <= 'z'; }
bool is_digit(char c) { return '0' <= c && c <= '9'; }

bool is_spelled_well(std::string_view name) {
  return !name.empty() && name.size() <= length_max && is_letter(name.front()) &&
         name.back() != '_' && name.find("__") == std::string_view::npos &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

// The other meaning of a name; empty when it has none.
std::string_view who_else_has(const std::string& name) {
  if (std::ranges::binary_search(words_of_cxx, name)) return "a word of C++";
  if (std::ranges::binary_search(words_of_corolane, name)) return "a name of corolane itself";
  if (name.ends_with("_t")) return "reserved for types of C";
  if (name.ends_with("_protos")) return "reserved for code from .proto files";
  if (dlsym(RTLD_DEFAULT, name.c_str()) != nullptr) return "a function of C";
  return "";
}

// The nearest valid name.
std::string propose(std::string_view name) {
  std::string proposal;
  for (const char c : name) {
    const char lower = 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool is_known = is_letter(lower) || is_digit(lower);
    if (is_known && (!proposal.empty() || is_letter(lower))) proposal += lower;
    if (!is_known && !proposal.empty() && proposal.back() != '_') proposal += '_';
  }
  proposal.resize(std::min(proposal.size(), length_max - std::string_view("_game").size()));
  while (proposal.ends_with('_')) proposal.pop_back();
  if (proposal.empty()) return "my_game";
  return who_else_has(proposal).empty() ? proposal : proposal + "_game";
}

Error refuse(std::string_view name, std::string_view why) {
  return Error(Code::invalid_argument, '"' + std::string(name) + "\" is " + std::string(why) +
                                           "; try: corolane new " + propose(name));
}

}  // namespace

Result<void> check_project_name(std::string_view name) {
  if (!is_spelled_well(name)) {
    return refuse(name,
                  "not a valid name: expected at most 40 lower-case letters, digits and single "
                  "'_', a letter first, since it is also a namespace");
  }
  if (const auto who = who_else_has(std::string(name)); !who.empty()) return refuse(name, who);
  return {};
}

}  // namespace corolane::tools::cli
