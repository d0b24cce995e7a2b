// SPDX-License-Identifier: MIT
#include "tools/corolane/page_row.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <system_error>
#include <utility>

#include "config/units.h"
#include "tools/corolane/on_network.h"

namespace corolane::tools::cli {
namespace {

using std::chrono_literals::operator""s;

constexpr std::string_view output_option = "--output";
constexpr std::string_view seconds_option = "--seconds";

bool is_plain(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || std::string_view("-._~/:").contains(character);
}

// Percent-encodes a part of a URL, RFC 3986.
std::string with_percents(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char character : text) {
    if (is_plain(character)) {
      encoded += character;
      continue;
    }
    const auto byte = static_cast<unsigned char>(character);
    encoded.append({'%', digits[byte >> 4], digits[byte & 15]});
  }
  return encoded;
}

// Turns "--waiting-for" into "waiting_for".
std::string key_of(std::string_view option) {
  std::string key(option.substr(2));
  std::ranges::replace(key, '-', '_');
  return key;
}

void add_to_query(std::string& target, std::string_view key, std::string_view value) {
  target.append(target.contains('?') ? "&" : "?")
      .append(key)
      .append("=")
      .append(with_percents(value));
}

std::string join(std::string_view choices) {
  std::string text(choices);
  for (std::size_t at = text.find(' '); at != text.npos; at = text.find(' ', at + 2)) {
    text.replace(at, 1, ", ");
  }
  return text;
}

// Whether `value` is one of `choices`.
bool is_among(std::string_view choices, std::string_view value) {
  return (" " + std::string(choices) + " ").contains(" " + std::string(value) + " ");
}

// The number of seconds; 0 when `text` is not a number above 0.
double seconds_of(std::string_view text) {
  double seconds = 0;
  const auto read = std::from_chars(text.begin(), text.end(), seconds, std::chars_format::fixed);
  const bool is_number = read.ec == std::errc() && read.ptr == text.end();
  return is_number && seconds > 0 ? seconds : 0;
}

std::expected<void, Failure> check_option(const PageRow& row, const OptionRule& rule,
                                          std::string_view value) {
  const std::string_view command = row.command.name;
  const std::string name(rule.name);
  if (rule.name == seconds_option) {
    const double seconds = seconds_of(value);
    if (seconds == 0 || seconds > row.seconds_max) {
      return wrong_usage(command, "--seconds is a number above 0, at most " +
                                      std::to_string(row.seconds_max) + ", such as 0.5");
    }
  }
  if (rule.name == "--age") {
    const auto duration = config::parse_duration(value);
    if (!duration) return wrong_usage(command, name + ": " + duration.error().message());
  }
  return {};
}

// The same for one part of a path, which may contain slashes.
std::string part_with_percents(std::string_view text) {
  std::string part = with_percents(text);
  for (std::size_t at = 0; (at = part.find('/', at)) != part.npos;) part.replace(at, 1, "%2F");
  return part;
}

// Encodes a word for the target of a request.
Outcome encoded_word(const PageRow& row, std::string_view word) {
  const std::string_view choices = row.command.word_choices;
  const std::string name(row.word);
  if (!choices.empty() && !is_among(choices, word)) {
    return wrong_usage(row.command.name, name + " is one of " + join(choices));
  }
  if (row.is_one_part) return part_with_percents(word);
  if (row.command.word != WordKind::object || !row.needs_word) return with_percents(word);
  const std::size_t slash = word.find('/');
  if (slash == 0 || slash == word.npos || slash + 1 == word.size()) {
    return wrong_usage(row.command.name, "\"" + std::string(word) + "\" is not of the form " +
                                             name + ", such as chess.Game/one");
  }
  return with_percents(word.substr(0, slash + 1)) + part_with_percents(word.substr(slash + 1));
}

// How long to wait for the page.
std::chrono::seconds patience_for(const Arguments& arguments) {
  const auto seconds = arguments.options.find(seconds_option);
  if (seconds == arguments.options.end()) return admin_patience + 10s;
  const std::chrono::duration<double> asked(seconds_of(seconds->second));
  return admin_patience + 10s + std::chrono::ceil<std::chrono::seconds>(asked);
}

Outcome write_output(const std::string& path, const std::string& body) {
  std::ofstream file(path, std::ios::binary);
  file << body << std::flush;
  if (!file) return failed("corolane: cannot write " + path);
  return "Wrote " + path + ", " + std::to_string(body.size()) + " bytes\n";
}

}  // namespace

std::expected<PageRequest, Failure> page_request(const PageRow& row, const Arguments& arguments,
                                                 const std::vector<std::string>& words) {
  const std::string_view name = row.command.name;
  if (words.empty() && row.needs_word) return wrong_usage(name, "needs " + std::string(row.word));
  const std::size_t count_max = row.word.empty() ? 0 : 1;
  if (words.size() > count_max) {
    return wrong_usage(name, "stray argument \"" + words[count_max] + "\"");
  }
  const bool has_flag = !row.flag.empty() && arguments.has(row.flag);
  const PageRow::Target& chosen =
      has_flag ? row.with_flag : (words.empty() ? row.plain : row.with_word);
  PageRequest request{.method = chosen.method, .target = std::string(chosen.beginning)};
  if (!words.empty()) {
    const auto part = encoded_word(row, words.front());
    if (!part) return std::unexpected(part.error());
    request.target += *part;
  }
  for (const OptionRule& rule : row.command.options) {
    const auto option = arguments.options.find(rule.name);
    if (option == arguments.options.end() || rule.name == row.flag || rule.name == output_option) {
      continue;
    }
    if (rule.name == "--json") {
      add_to_query(request.target, "format", "json");
      continue;
    }
    if (words.empty() && is_among(row.word_options, rule.name)) {
      return wrong_usage(name, std::string(rule.name) + " needs " + std::string(row.word));
    }
    if (auto fits = check_option(row, rule, option->second); !fits) {
      return std::unexpected(fits.error());
    }
    add_to_query(request.target, key_of(rule.name), option->second);
  }
  return request;
}

Outcome run_page_row(const PageRow& row, const Arguments& arguments) {
  if (row.run_other != nullptr && arguments.has(row.other_option)) {
    return row.run_other(arguments);
  }
  std::vector<std::string> words;
  const auto door = find_admin_door(row.command.name, arguments, words);
  if (!door) return std::unexpected(door.error());
  const auto request = page_request(row, arguments, words);
  if (!request) return std::unexpected(request.error());

  const auto body = run_on_network(arguments, [&](net::Network& network) {
    return ask_page(network, *door, *request, Deadline::after(patience_for(arguments)));
  });
  if (!body) return body;
  if (const auto path = arguments.options.find(output_option); path != arguments.options.end()) {
    return write_output(path->second, *body);
  }
  if (row.render == nullptr || arguments.has("--json")) return body;
  const auto text = row.render(*body);
  if (!text) return failed("corolane: " + text.error().message());
  return *text;
}

}  // namespace corolane::tools::cli
