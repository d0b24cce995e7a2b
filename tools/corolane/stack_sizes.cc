// SPDX-License-Identifier: MIT
#include "tools/corolane/stack_sizes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "config/units.h"
#include "tools/corolane/admin_door.h"
#include "tools/corolane/on_network.h"

namespace corolane::tools::cli {
namespace {

using Lines = std::vector<std::string>;

// With fewer measurements a rare path that is deeper may not be among them: no smaller stack.
constexpr std::size_t measured_min = 100;

// --- The lines of a YAML file

Lines yaml_lines(std::string_view text) {
  Lines lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\n");
  return text;
}

std::size_t indent_of(std::string_view line) { return line.find_first_not_of(' '); }

// Whether it says nothing: a blank line or a comment.
bool is_silent(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  return begin == std::string_view::npos || line[begin] == '#';
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\"'";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

// The value behind "key:" on a line, without a comment; nothing when it is another key.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (!line.starts_with(key) || !line.substr(key.size()).starts_with(':')) return {};
  line.remove_prefix(key.size() + 1);
  if (const std::size_t comment = line.find(" #"); comment != std::string_view::npos) {
    line = line.substr(0, comment);
  }
  return trimmed(line);
}

// Whether the line has that key in a form that value_of() does not read: quoted, after a byte order
// mark, or with blanks before its colon.
bool has_key_in_disguise(std::string_view line, std::string_view key) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key;
}

// The lines of a key and of what belongs to it.
struct Block {
  std::size_t begin;  // The line of the key itself.
  std::size_t end;    // Behind its last line that says something.
  std::size_t indent;
};

// The end of what is deeper than `indent`, or a list at the same depth, from the line `begin` on.
std::size_t end_of_block(const Lines& lines, std::size_t begin, std::size_t limit,
                         std::size_t indent) {
  std::size_t end = begin;
  for (std::size_t i = begin; i < limit; ++i) {
    if (is_silent(lines[i])) continue;
    const std::size_t own = indent_of(lines[i]);
    if (own < indent || (own == indent && lines[i][own] != '-')) break;
    end = i + 1;
  }
  return end;
}

// The block of a key directly within the lines [begin, end); nothing when it is not there.
Result<std::optional<Block>> find_block(const Lines& lines, std::size_t begin, std::size_t end,
                                        std::string_view key) {
  std::optional<std::size_t> level;  // Of the first key there.
  for (std::size_t i = begin; i < end; ++i) {
    if (is_silent(lines[i])) continue;
    const std::size_t indent = indent_of(lines[i]);
    if (!level) level = indent;
    const auto value = indent == *level ? value_of(lines[i], key) : std::nullopt;
    if (!value && (lines[i][indent] == '{' || has_key_in_disguise(lines[i], key))) {
      return Error(Code::failed_precondition, "line " + std::to_string(i + 1) + ": write \"" +
                                                  std::string(key) +
                                                  ":\" without quotes, on a line of its own first");
    }
    if (!value) continue;
    if (!value->empty()) {
      return Error(Code::failed_precondition,
                   "line " + std::to_string(i + 1) + ": \"" + std::string(key) +
                       "\" has its value on the same line; put it on lines of its own first");
    }
    return Block{.begin = i, .end = end_of_block(lines, i + 1, end, indent), .indent = indent};
  }
  return std::optional<Block>();
}

// --- node.stacks.methods

// One element of the list: "- {method: X, size: Y}", or over two lines.
struct Listed {
  std::string method;
  std::string size;
};

void read_pairs(std::string_view line, Listed& listed) {
  const std::size_t begin = line.find_first_not_of(" -{");
  if (begin == std::string_view::npos) return;
  line.remove_prefix(begin);
  while (!line.empty()) {
    const std::string_view part = line.substr(0, line.find_first_of(",}"));
    line.remove_prefix(std::min(part.size() + 1, line.size()));
    if (const auto method = value_of(part, "method")) listed.method = *method;
    if (const auto size = value_of(part, "size")) listed.size = *size;
  }
}

Result<std::vector<Listed>> listed_methods(const Lines& lines, const Block& block) {
  std::vector<Listed> all;
  for (std::size_t i = block.begin + 1; i < block.end; ++i) {
    if (lines[i].contains('#')) {
      return Error(Code::failed_precondition,
                   "line " + std::to_string(i + 1) +
                       ": this comment would be lost; put it above node.stacks.methods first");
    }
    if (is_silent(lines[i])) continue;
    if (lines[i][indent_of(lines[i])] == '-') all.emplace_back();
    if (!all.empty()) read_pairs(lines[i], all.back());
  }
  for (const Listed& listed : all) {
    if (!listed.method.empty() && !listed.size.empty()) continue;
    return Error(Code::failed_precondition,
                 "line " + std::to_string(block.begin + 1) +
                     ": an element of node.stacks.methods is not {method: NAME, size: SIZE}");
  }
  return all;
}

Lines list_lines(const std::vector<Listed>& all, std::size_t indent) {
  Lines lines;
  for (const Listed& listed : all) {
    lines.push_back(std::string(indent, ' ') + "- {method: " + listed.method +
                    ", size: " + listed.size + "}");
  }
  return lines;
}

void replace(Lines& lines, std::size_t begin, std::size_t end, const Lines& by) {
  const auto at = lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                              lines.begin() + static_cast<std::ptrdiff_t>(end));
  lines.insert(at, by.begin(), by.end());
}

std::string size_text(std::size_t size_bytes) {
  return config::format_bytes({.count = size_bytes});
}

// --- The command

Outcome read_configuration(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return failed("corolane: cannot read " + path);
  return std::move(text).str();
}

// Writes a file beside `target`, with its owner and its permissions, and replaces that by it.
std::error_code replace_file(const std::filesystem::path& target, const std::string& text) {
  const auto failure = [] { return std::error_code(errno, std::generic_category()); };
  struct stat known = {};
  if (::stat(target.c_str(), &known) != 0) return failure();
  std::string draft = target.string() + ".XXXXXX";
  const int file = ::mkostemp(draft.data(), O_CLOEXEC);
  if (file < 0) return failure();
  std::error_code failed;
  const bool is_another = known.st_uid != ::geteuid() || known.st_gid != ::getegid();
  if ((is_another && ::fchown(file, known.st_uid, known.st_gid) != 0) ||
      ::fchmod(file, known.st_mode & 07777) != 0) {
    failed = failure();
  }
  for (std::size_t written = 0; !failed && written < text.size();) {
    const auto size = ::write(file, text.data() + written, text.size() - written);
    if (size < 0) failed = failure();
    written += static_cast<std::size_t>(std::max<ssize_t>(size, 0));
  }
  if (::close(file) != 0 && !failed) failed = failure();
  if (!failed && ::rename(draft.c_str(), target.c_str()) != 0) failed = failure();
  if (failed) ::unlink(draft.c_str());
  return failed;
}

// Replaces the file as a whole, or leaves it as it is. A symbolic link stays one: its target is
// replaced.
Outcome write_configuration(const std::string& path, const std::string& text) {
  std::error_code failure;
  const auto target = std::filesystem::canonical(path, failure);
  if (!failure) failure = replace_file(target, text);
  if (!failure) return std::string();
  return failed("corolane: cannot write " + path + ": " + failure.message());
}

// Whether calls come this way, and too few of them were measured: a deeper one may be missing.
bool is_seldom(const nlohmann::json& method) {
  if (method.at("suggested_stack_bytes").is_null()) {
    const auto calls = method.find("calls");
    return calls != method.end() && calls->is_number() && calls->get<double>() > 0;
  }
  return method.at("measured_stacks").get<std::size_t>() < measured_min;
}

}  // namespace

Result<StackSizes> suggested_sizes(std::string_view methods_json) {
  const auto json = nlohmann::json::parse(methods_json, nullptr, /*allow_exceptions=*/false);
  // A method of objects has two rows: the call may come over the wire, or from a handler here.
  struct Measured {
    std::size_t present = 0;
    std::size_t suggested = 0;
    bool may_shrink = true;
  };
  std::map<std::string, Measured> all;
  StackSizes sizes;
  try {
    // A shard that does not answer may have had the deepest calls.
    const auto silent = json.find("silent_shards");
    const bool is_whole = silent == json.end() || silent->empty();
    for (const nlohmann::json& method : json.at("methods")) {
      if (method.at("stack_size_bytes").is_null()) continue;
      Measured& measured = all[method.at("method").get<std::string>()];
      measured.present =
          std::max(measured.present, method.at("stack_size_bytes").get<std::size_t>());
      const nlohmann::json& suggested = method.at("suggested_stack_bytes");
      if (!suggested.is_null()) {
        measured.suggested = std::max(measured.suggested, suggested.get<std::size_t>());
      }
      if (!is_whole || is_seldom(method)) measured.may_shrink = false;
    }
  } catch (const nlohmann::json::exception&) {
    return Error(Code::invalid_argument, "the answer is not that of /methods");
  }
  for (const auto& [method, measured] : all) {
    const bool is_smaller = measured.suggested < measured.present;
    if (measured.suggested == 0 || measured.suggested == measured.present) continue;
    if (!is_smaller || measured.may_shrink) sizes.emplace(method, measured.suggested);
  }
  return sizes;
}

Result<std::string> with_stack_sizes(std::string_view yaml, const StackSizes& sizes) {
  Lines lines = yaml_lines(yaml);
  const auto node = find_block(lines, 0, lines.size(), "node");
  if (!node) return node.error();
  std::vector<Listed> all;
  for (const auto& [method, size] : sizes) all.push_back({method, size_text(size)});
  if (!*node) {
    Lines added = {"node:", "  stacks:", "    methods:"};
    std::ranges::copy(list_lines(all, 6), std::back_inserter(added));
    replace(lines, lines.size(), lines.size(), added);
    return joined(lines);
  }
  const auto stacks = find_block(lines, (*node)->begin + 1, (*node)->end, "stacks");
  if (!stacks) return stacks.error();
  if (!*stacks) {
    Lines added = {"  stacks:", "    methods:"};
    std::ranges::copy(list_lines(all, 6), std::back_inserter(added));
    // As deep as the other keys of the section.
    std::size_t first = (*node)->begin + 1;
    while (first < (*node)->end && is_silent(lines[first])) ++first;
    const std::size_t depth = first < (*node)->end ? indent_of(lines[first]) : 2;
    for (std::string& line : added) line = std::string(depth, ' ') + line.substr(2);
    replace(lines, (*node)->begin + 1, (*node)->begin + 1, added);
    return joined(lines);
  }
  const auto methods = find_block(lines, (*stacks)->begin + 1, (*stacks)->end, "methods");
  if (!methods) return methods.error();
  const std::size_t depth = (*stacks)->indent + 2;
  if (!*methods) {
    Lines added = {std::string(depth, ' ') + "methods:"};
    std::ranges::copy(list_lines(all, depth + 2), std::back_inserter(added));
    replace(lines, (*stacks)->begin + 1, (*stacks)->begin + 1, added);
    return joined(lines);
  }
  auto listed = listed_methods(lines, **methods);
  if (!listed) return listed.error();
  for (const Listed& other : *listed) {
    if (!sizes.contains(other.method)) all.push_back(other);
  }
  std::ranges::sort(all, {}, &Listed::method);
  replace(lines, (*methods)->begin + 1, (*methods)->end, list_lines(all, (*methods)->indent + 2));
  return joined(lines);
}

Outcome apply_stack_sizes(const Arguments& arguments) {
  std::vector<std::string> words;
  const auto door = find_admin_door("stacks", arguments, words);
  if (!door) return std::unexpected(door.error());
  if (!words.empty()) return wrong_usage("stacks", "stray argument \"" + words[0] + "\"");
  const std::string path = arguments.options.find("--apply")->second;
  const auto before = read_configuration(path);
  if (!before) return before;
  const auto answer = run_on_network(arguments, [&](net::Network& network) {
    return ask_page(network, *door, {.method = "GET", .target = "/methods?format=json"},
                    Deadline::after(admin_patience));
  });
  if (!answer) return answer;
  const auto sizes = suggested_sizes(*answer);
  if (!sizes) return failed("corolane: " + sizes.error().message());
  if (sizes->empty()) return "Every measured method has the stack that it needs.\n";
  const auto after = with_stack_sizes(*before, *sizes);
  if (!after) return failed("corolane: " + path + ": " + after.error().message());
  if (auto written = write_configuration(path, *after); !written) return written;
  std::string told;
  for (const auto& [method, size] : *sizes) {
    told.append(method).append(": ").append(size_text(size)).append("\n");
  }
  return told + "Wrote these sizes to " + path + "; they take effect at the next start.\n";
}

}  // namespace corolane::tools::cli
